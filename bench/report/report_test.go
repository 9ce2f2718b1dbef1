package main

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

// TestDocumentsShowTheResults: the tables and charts are those that the results
// of this tree make, byte for byte, and there is no chart beside them.
func TestDocumentsShowTheResults(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(root)
	require.NoError(t, err)
	drawn := 0
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(root, f.name))
		require.NoError(t, err)
		require.Equal(t, string(f.text), string(got), "%s: write it anew: make docs-performance", f.name)
		if strings.HasSuffix(f.name, ".svg") {
			drawn++
		}
	}
	there, err := filepath.Glob(filepath.Join(root, chartFolder, "*"))
	require.NoError(t, err)
	require.Len(t, there, drawn, "files that nothing draws")
}

// TestEveryBlockIsShown: what can be generated has its place in a document.
func TestEveryBlockIsShown(t *testing.T) {
	root := filepath.Join("..", "..")
	var all strings.Builder
	for _, name := range documents {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		all.Write(text)
	}
	r := &results{}
	for name := range r.blocks(nil) {
		require.Contains(t, all.String(), "<!-- begin: "+name+" -->")
	}
}

// resultsOf reads results made of named texts.
func resultsOf(t *testing.T, targets string, files map[string]string) *results {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	file := filepath.Join(t.TempDir(), "targets.txt")
	require.NoError(t, os.WriteFile(file, []byte(targets), 0o600))
	r, err := readResults(folder, file)
	require.NoError(t, err)
	return r
}

func rows(line string) string { return strings.Repeat(line+"\n", 6) }

// TestLatestRowStands: of two files the one measured last, by its header, also for the
// floor and the targets; and the mark is on what is missed, not on what is met.
func TestLatestRowStands(t *testing.T) {
	r := resultsOf(t, "Allow/limiter=penstock ns/op <= 1.1 x limiter=floor\nGC/limiter=penstock gc-ns <= 5\n", map[string]string{
		"a.txt": "# date: 2026-12-02T00:00:00Z\n" + rows("BenchmarkAllow/limiter=floor/keys=1k/clock=exact 1 50 ns/op") +
			rows("BenchmarkAllow/limiter=penstock/keys=1k/clock=exact 1 60 ns/op"),
		"b.txt": "date: 2026-12-01T00:00:00Z\n" + rows("BenchmarkAllow/limiter=penstock/keys=1k/clock=exact 1 900 ns/op") +
			rows("BenchmarkAllow/limiter=rival/keys=1k/clock=exact 1 70 ns/op") + rows("BenchmarkGC/limiter=penstock/keys=4M-2 1 4 gc-ns"),
	})
	text := tables()["allow-1"].markdown(r)
	require.Contains(t, text, "| **penstock** | 60.00 (1.20x) † |")
	require.Contains(t, text, "| rival | 70.00 |")
	require.NotContains(t, text, "900")
	require.Contains(t, tables()["gc"].markdown(r), "| **penstock** | 4.000 |")
	require.Contains(t, r.missedList(), "2 judgements: 1 met, 1 missed")
	require.Contains(t, r.missedList(), "| Allow/limiter=penstock/keys=1k/clock=exact ns/op | 1 | 1.200 [1.200, 1.200] | <= 1.1 x floor |")
	require.Equal(t, notMeasured, tables()["hot-1"].markdown(r))
	require.Equal(t, notMeasured, r.partTable())
	require.Contains(t, r.fileTable(), "2026-12-02T00:00:00Z")
}

// TestHeaderThatCannotBeRead is an error by itself, not a header that ends early.
func TestHeaderThatCannotBeRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "long.txt")
	text := "# command: " + strings.Repeat("x", bufio.MaxScanTokenSize) + "\n# date: 2026-12-02T00:00:00Z\n"
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	_, err := readHeader(name)
	require.ErrorIs(t, err, bufio.ErrTooLong)
	_, err = readFile(name)
	require.ErrorContains(t, err, name)
}

func TestFill(t *testing.T) {
	blocks := map[string]string{"a": "new\n", "b": ""}
	got, err := fill("x\n<!-- begin: a -->\nold\nolder\n<!-- end: a -->\ny\n<!-- begin: b -->\nold\n<!-- end: b -->\n", blocks)
	require.NoError(t, err)
	require.Equal(t, "x\n<!-- begin: a -->\nnew\n<!-- end: a -->\ny\n<!-- begin: b -->\n<!-- end: b -->\n", got)
	again, err := fill(got, blocks)
	require.NoError(t, err)
	require.Equal(t, got, again)
	for fault, text := range map[string]string{
		`marker "c"`:        "<!-- begin: c -->\n<!-- end: c -->",
		`marker "a" to "b"`: "<!-- begin: a -->\n<!-- end: b -->",
		"no marker":         "text",
	} {
		_, err := fill(text, blocks)
		require.ErrorContains(t, err, fault)
	}
}

// TestChartsStandAlone: well-formed, with a title and a description, nothing that is
// loaded or run, and every point inside the plot.
func TestChartsStandAlone(t *testing.T) {
	loads := regexp.MustCompile(`<script|<image|@import|url\(|href=|on[a-z]+=`)
	for _, chart := range [][]byte{
		lineChart("a < b", "keys", "ns", []series{{"penstock", []point{{1_000, 60}, {1, 50}}}, {"x & y", []point{{1, 1}}}}),
		barChart("c", "ms", []bar{{"penstock", 0.5}, {"rival", 700}}),
	} {
		require.Empty(t, loads.FindString(string(chart)))
		texts := map[string]string{}
		for decoder, element := xml.NewDecoder(bytes.NewReader(chart)), ""; ; {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			switch part := token.(type) {
			case xml.StartElement:
				element = part.Name.Local
			case xml.CharData:
				texts[element] += string(part)
			}
		}
		require.NotEmpty(t, texts["title"])
		require.Contains(t, texts["desc"], "penstock: ")
	}
}

func TestAxis(t *testing.T) {
	x := newAxis([]float64{1, 1_000}, 100, 300)
	require.Equal(t, "100", x.at(1).String())
	require.Equal(t, "200", x.at(10).String())
	require.Equal(t, "400", x.at(1_000).String())
	require.Equal(t, []float64{1, 10, 100, 1_000}, x.ticks())
	up := newAxis([]float64{20, 90}, 400, -300)
	require.Equal(t, "400", up.at(10).String())
	require.Equal(t, "100", up.at(100).String())
}

func TestCountsAreInOrder(t *testing.T) {
	require.Equal(t, []string{"1", "1k", "100k", "4M"}, sortCounts([]string{"4M", "1", "100k", "1k"}))
	require.Equal(t, []string{"b", "a"}, sortCounts([]string{"b", "a"}))
}

func TestLabel(t *testing.T) {
	for clock, want := range map[string]string{
		"exact": "floor", "none": "floor, no clock", "coarse": "floor, coarse clock", "ordered": "floor, clock after load",
	} {
		require.Equal(t, want, label(&samples.Row{Pairs: []samples.Pair{{Key: "limiter", Value: "floor"}, {Key: "clock", Value: clock}}}))
	}
}

func TestBadUsage(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"-root", t.TempDir()}} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitError, run(args, &stdout, &stderr))
		require.NotEmpty(t, stderr.String())
	}
}
