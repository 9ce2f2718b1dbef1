package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
)

// logLine is a line of host at a second after 12:00.
func logLine(host string, second int) string {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(second) * time.Second)
	return fmt.Sprintf("%s - - [%s] \"GET / HTTP/1.1\" 200 1\n", host, at.Format("02/Jan/2006:15:04:05 -0700"))
}

// options replays stdin against one request a second.
func options(t *testing.T, stdin string, change ...func(*Options)) Options {
	t.Helper()
	key, err := ParseKey("client_ip", 64)
	require.NoError(t, err)
	o := Options{
		Limits: []Limit{{Name: OnlyLimit, Engine: engine.TokenBucket(engine.PerSecond(1), 1), Key: key}}, Files: []string{"-"},
		Stdin: strings.NewReader(stdin), ReorderWindow: time.Hour, ReorderLines: 1000,
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

func run(t *testing.T, o Options) *Report {
	t.Helper()
	rep, err := Run(o)
	require.NoError(t, err)
	require.Equal(t, rep.Requests, rep.Allowed+rep.Denied)
	return rep
}

func TestRequestsOfOneSecondShareItsTime(t *testing.T) {
	log := logLine("192.0.2.1", 0) + logLine("192.0.2.1", 0) + logLine("192.0.2.2", 0) + logLine("192.0.2.1", 1)
	rep := run(t, options(t, log))
	assert.Equal(t, 4, rep.Requests)
	assert.Equal(t, 1, rep.Denied)
	assert.Equal(t, []KeyTally{{"192.0.2.1", 3, 1}}, rep.Top(10))
	assert.Equal(t, 2, rep.Keys())
	assert.Equal(t, 1, rep.KeysDenied())
}

// The replay of a log in disorder: put in order, or in the log's own order
// with the time held, it never lets the limit be passed.
func TestBackwardLines(t *testing.T) {
	log := logLine("192.0.2.1", 61) + logLine("192.0.2.1", 0) + logLine("192.0.2.1", 59)
	minute := func(o *Options) { o.Limits[0].Engine = engine.SlidingLog(1, time.Minute) }
	sorted := run(t, options(t, log, minute))
	assert.Equal(t, 1, sorted.Denied, "0 allowed, 59 denied, 61 allowed")
	assert.Equal(t, 2, sorted.Reordered)
	assert.Equal(t, 0, sorted.Late)

	held := run(t, options(t, log, minute, func(o *Options) { o.ReorderWindow = 0 }))
	assert.Equal(t, 2, held.Denied, "61 allowed, then two more at 61")
	assert.Equal(t, 0, held.Reordered)
	assert.Equal(t, 2, held.Late)
	for _, rep := range []*Report{sorted, held} {
		assert.Equal(t, 3, rep.Requests)
		first, last, ok := rep.Span()
		assert.True(t, ok)
		assert.Equal(t, 61*time.Second, last.Sub(first), "as the log says, not as it was replayed")
	}
}

func TestScenarioL02WholeFile(t *testing.T) {
	head := `203.0.113.9 - - [10/Oct/2023:13:55:36 +0000] "`
	log := strings.Join([]string{
		head + `" 400 0`, head + `-" 400 0`, head + `\x16\x03\x01" 400 0`, head + `HELLO" 400 0`, head + `GET /a b HTTP/1.1" 200 5`,
		`203.0.113.9 - - [10/Oct/2023:13:5`,
		``,
		head + strings.Repeat("a", 1<<20-len(head)),
		head + `GET / HTTP/1.1" 200 5` + "\r",
		head + `GET / HTTP/1.1" 200 5`,
	}, "\n")
	rep := run(t, options(t, log))
	assert.Equal(t, 10, rep.Lines)
	assert.Equal(t, 7, rep.Requests)
	assert.Equal(t, 3, rep.SkippedLines())
	assert.Equal(t, []Skipped{
		{"stdin", 6, "the line is cut in the middle of the time"},
		{"stdin", 7, "empty line"},
		{"stdin", 8, "the line is 1 MiB or longer"},
	}, rep.Skipped)
	assert.Equal(t, []KeyTally{{"203.0.113.9", 7, 6}}, rep.Top(10))
}

func TestFilesAreMergedByTime(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, lines ...string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
		return path
	}
	// One request a client in any 60 s. In the order of time all of the first
	// client's but the one at 0 are denied. If one file were read after the
	// other, theirs would count at 100, and one would pass.
	a := write("a.log", logLine("192.0.2.1", 0), logLine("192.0.2.2", 100))
	b := write("b.log", logLine("192.0.2.1", 50), logLine("192.0.2.1", 40), logLine("192.0.2.3", 70))
	empty := write("empty.log")
	for _, files := range [][]string{{a, b, empty}, {empty, b, a}} {
		rep := run(t, options(t, "", func(o *Options) {
			o.Limits[0].Engine = engine.SlidingLog(1, time.Minute)
			o.Files = files
		}))
		assert.Equal(t, 5, rep.Requests)
		assert.Equal(t, []KeyTally{{"192.0.2.1", 3, 2}}, rep.Top(9), "%v", files)
		assert.Equal(t, 1, rep.Reordered, "40 after 50, in its own file")
		assert.Zero(t, rep.Late)
	}
}

// At the same second the file named first comes first: here it decides who is
// denied.
func TestFilesKeepTheirOrderWithinASecond(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		line := strings.Replace(logLine("192.0.2.1", 0), "GET /", "GET /"+name, 1)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(line), 0o600))
	}
	var order []string
	for _, files := range [][]string{{"a", "b"}, {"b", "a"}} {
		o := options(t, "", func(o *Options) {
			o.Files = []string{filepath.Join(dir, files[0]), filepath.Join(dir, files[1])}
			o.Limits[0].Key, _ = ParseKey("path", 64)
		})
		rep, keys := &Report{}, newKeyrings(o.Limits)
		merge(open(o, rep, 1), keys, rep, func(s *second) {
			for _, k := range s.keys {
				order = append(order, keys.rings[0].names[k])
			}
		})
		require.Empty(t, rep.Problems)
	}
	assert.Equal(t, []string{"/a", "/b", "/b", "/a"}, order)
}

func TestAFileThatFailsDoesNotStopTheRun(t *testing.T) {
	rep := run(t, options(t, logLine("192.0.2.1", 0), func(o *Options) {
		o.Files = []string{t.TempDir(), "-", filepath.Join(t.TempDir(), "missing.log")}
	}))
	assert.Equal(t, 1, rep.Requests)
	assert.Len(t, rep.Problems, 2)
}

func TestALimitThatTheEngineRefuses(t *testing.T) {
	_, err := Run(options(t, "", func(o *Options) { o.Limits[0].Engine = engine.TokenBucket(engine.PerSecond(0), -1) }))
	require.Error(t, err)
	_, err = Run(options(t, "", func(o *Options) { o.Limits = nil }))
	require.ErrorContains(t, err, "give at least one")
}

func TestTop(t *testing.T) {
	rep := &Tallies{
		names:   []string{"b", "a", "never", "most"},
		tallies: []tally{{5, 2}, {2, 2}, {9, 0}, {7, 7}},
	}
	assert.Equal(t, []KeyTally{{"most", 7, 7}, {"a", 2, 2}, {"b", 5, 2}}, rep.Top(10))
	assert.Equal(t, []KeyTally{{"most", 7, 7}}, rep.Top(1))
	assert.Equal(t, []KeyTally{}, rep.Top(0))
	assert.Equal(t, []KeyTally{}, (&Tallies{}).Top(5))
}
