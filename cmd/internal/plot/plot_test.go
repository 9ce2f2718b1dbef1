package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
)

// TestDocumentsShowWhatTheEngineDoes: the pictures in the documents are those that the engine
// of this tree makes, byte for byte.
func TestDocumentsShowWhatTheEngineDoes(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "docs", "img")
	for _, name := range Algorithms() {
		want, err := SVG(name)
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(folder, name+".svg"))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "draw it anew: go run ./cmd/penstock plot --out docs/img")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	require.NoError(t, err)
	require.Len(t, files, len(Algorithms()), "pictures that nothing draws")
}

func TestSVGOfNothing(t *testing.T) {
	_, err := SVG("unlimited")
	require.ErrorContains(t, err, `"unlimited"`)
}

// TestPicturesStandAlone: well-formed XML with a title and a description, and nothing that is
// loaded or run.
func TestPicturesStandAlone(t *testing.T) {
	loads := regexp.MustCompile(`<script|<image|@import|url\([^#]|href="[^#]|on[a-z]+=`)
	for _, name := range Algorithms() {
		picture, err := SVG(name)
		require.NoError(t, err)
		require.Empty(t, loads.FindString(string(picture)), name)
		texts := map[string]string{}
		for decoder, element := xml.NewDecoder(bytes.NewReader(picture)), ""; ; {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			switch part := token.(type) {
			case xml.StartElement:
				element = part.Name.Local
			case xml.CharData:
				texts[element] += string(part)
			}
		}
		require.Contains(t, texts["title"], name)
		require.Contains(t, texts["desc"], "admitted")
	}
}

// TestLoad: the load covers the axis without a gap and lies on the grain, or requests would be
// lost from the pictures.
func TestLoad(t *testing.T) {
	end, requests := time.Duration(0), 0
	for _, p := range load() {
		require.Equal(t, end, p.from, p.name)
		end = p.to
		for _, a := range p.arrivals {
			require.Zero(t, a.at%grain)
			require.True(t, p.from <= a.at && a.at < p.to)
			requests += a.requests
		}
	}
	require.Equal(t, span, end)
	for _, k := range kinds() {
		r, err := drive(k.limit, load())
		require.NoError(t, err)
		admitted, denied := r.totals()
		require.Equal(t, requests, admitted+denied)
	}
}

// TestPicturesShowTheDifference: what the documents say of the pictures.
func TestPicturesShowTheDifference(t *testing.T) {
	for _, c := range []struct {
		limit    engine.Limit
		admitted int
		burst    int   // of the burst of 10 after the trickle
		edge     []int // of 6 before the edge, 6 after it, 6 later
		most     int64 // in any window
		queue    bool
	}{
		{engine.TokenBucket(engine.Rate{Tokens: permits, Per: window}, permits), 43, 6, []int{6, 0, 5}, 11, false},
		{engine.GCRA(engine.Rate{Tokens: permits, Per: window}, permits), 43, 6, []int{6, 0, 5}, 11, false},
		{engine.LeakyBucket(engine.Rate{Tokens: permits, Per: window}, permits), 43, 6, []int{6, 0, 5}, 11, false},
		{engine.LeakyQueue(engine.Rate{Tokens: permits, Per: window}, permits), 43, 6, []int{6, 0, 5}, 6, true},
		{engine.FixedWindow(permits, window), 39, 6, []int{6, 6, 0}, 12, false},
		{engine.SlidingWindow(permits, window), 35, 4, []int{6, 0, 5}, 11, false},
		{engine.SlidingLog(permits, window), 31, 4, []int{6, 0, 0}, 6, false},
	} {
		name := c.limit.Algorithm()
		r, err := drive(c.limit, load())
		require.NoError(t, err)
		admitted, _ := r.totals()
		require.Equal(t, c.admitted, admitted, name)
		at := map[time.Duration]int{}
		for _, call := range r.calls {
			at[call.at] = call.admitted
		}
		require.Equal(t, c.burst, at[4*time.Second], name)
		edge := []int{at[11900*time.Millisecond], at[12100*time.Millisecond], at[14500*time.Millisecond]}
		require.Equal(t, c.edge, edge, name)
		var most int64
		for _, l := range r.inWindow() {
			most = max(most, l.value)
		}
		require.Equal(t, c.most, most, name)
		requireEvenly(t, r, c.queue)
	}
}

// requireEvenly: only a queue delays, and what it delays leaves one by one at the rate.
func requireEvenly(t *testing.T, r *record, queue bool) {
	t.Helper()
	delayed := 0
	for i, p := range r.passed {
		if !p.delayed {
			continue
		}
		delayed++
		require.Equal(t, 1, p.requests)
		require.Equal(t, window/permits, p.at-r.passed[i-1].at)
	}
	require.Equal(t, queue, delayed > 0)
}

// TestTenths: positions are exact, whole tenths of a pixel.
func TestTenths(t *testing.T) {
	require.Equal(t, "64", x(0).String())
	require.Equal(t, "64.3", x(grain).String())
	require.Equal(t, "964", x(span).String())
	require.Equal(t, x(span), x(span+window), "nothing is drawn beyond the axis")
}

// TestSteps: a value holds until the next one, and to the end of the axis.
func TestSteps(t *testing.T) {
	l := newLane("", 0, 100, 10, 0, 10)
	levels := []level{{0, 1}, {time.Second, 3}, {span + 1, 9}}
	require.Equal(t, "M64 90H94V70H964", l.steps(levels, false))
	require.Equal(t, "M64 90H94V70H964V100H64Z", l.steps(levels, true))
}
