package replay

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/accesslog"
	"github.com/penstock-go/penstock/cmd/internal/input"
	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/oracle"
)

// FuzzReplay replays any bytes, plain, as gzip, or as whatever they happen to
// be, and compares with the simplest way to count: read it all, sort it, ask
// the model.
func FuzzReplay(f *testing.F) {
	line := logLine("192.0.2.1", 3)
	f.Add([]byte(line+logLine("2001:db8::1", 1)+logLine("2001:db8::2", 1)+"\n\x00\n"+line+line), false, uint8(2))
	f.Add([]byte(line+line[:30]), true, uint8(0))
	f.Add([]byte("\x1f\x8b\x08\x00"), false, uint8(1))
	f.Add(gzipped([]byte(line))[:40], false, uint8(1))
	f.Add(gzipped([]byte(line+line)), true, uint8(1))
	f.Fuzz(func(t *testing.T, log []byte, zip bool, burst uint8) {
		if zip {
			log = gzipped(log)
		}
		capacity := int64(burst) + 1
		o := options(t, "", func(o *Options) {
			o.Limits[0].Engine = engine.TokenBucket(engine.Every(7*time.Second), capacity)
			o.Stdin = bytes.NewReader(log)
			o.ReorderWindow = 1<<63 - 1
		})
		o.ReorderLines = len(log) + 1
		rep, err := Run(o)
		require.NoError(t, err)
		want := naive(log, capacity)
		require.Equal(t, want.Lines, rep.Lines)
		require.Equal(t, want.Requests, rep.Requests)
		require.Equal(t, want.Denied, rep.Denied)
		require.Equal(t, want.Top(1<<30), rep.Top(1<<30))
		require.Equal(t, want.Keys(), rep.Keys())
		require.Zero(t, rep.Late)
		requireTableAndJSON(t, rep)

		// With a narrow window nothing is lost either.
		o.Stdin, o.ReorderWindow, o.ReorderLines = bytes.NewReader(log), 2*time.Second, 3
		narrow, err := Run(o)
		require.NoError(t, err)
		require.Equal(t, want.Requests, narrow.Requests)
		require.Equal(t, want.Keys(), narrow.Keys())
		require.Equal(t, narrow.Requests, narrow.Allowed+narrow.Denied)
	})
}

func requireTableAndJSON(t *testing.T, rep *Report) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, rep.WriteTable(&b, 5))
	require.NoError(t, rep.WriteJSON(&b, 5))
	require.False(t, bytes.ContainsAny(b.Bytes(), "\x00\x1b\x7f"), "control characters in %q", b.Bytes())
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// naive counts the requests in log that a bucket of one token each 7 s denies.
func naive(log []byte, burst int64) *Report {
	type request struct {
		unix int64
		key  string
	}
	rep := &Report{}
	src, err := input.Open(input.Stdin, bytes.NewReader(log), nil)
	if err != nil {
		return rep
	}
	plain, _ := io.ReadAll(src)
	var requests []request
	lines := input.NewLines(io.MultiReader(bytes.NewReader(plain), errorOf(src)), MaxLine)
	for {
		line, tooLong, err := lines.Next()
		if err != nil {
			break
		}
		rep.Lines++
		var p accesslog.Parser
		var e accesslog.Entry
		if !tooLong && p.Parse(line, &e) == nil {
			requests = append(requests, request{e.UnixTime, printable(accesslog.ClientKey(e.Host, 64))})
		}
	}
	slices.SortStableFunc(requests, func(a, b request) int { return int(a.unix - b.unix) })
	numbers, models := map[string]uint32{}, map[string]*oracle.TokenBucket{}
	for _, r := range requests {
		if models[r.key] == nil {
			numbers[r.key], models[r.key] = uint32(len(rep.names)), oracle.NewTokenBucket(1, 7*time.Second, burst)
			rep.names = append(rep.names, r.key)
		}
		allowed, _ := models[r.key].Take(r.unix*1e9, 1)
		rep.Requests++
		if !allowed {
			rep.Denied++
		}
		rep.Tallies.count(numbers[r.key], allowed)
	}
	return rep
}

// errorOf returns a reader that ends as src has ended: with EOF or an error.
func errorOf(src io.Reader) io.Reader {
	_, err := src.Read(make([]byte, 1))
	if err == nil || errors.Is(err, io.EOF) {
		return bytes.NewReader(nil)
	}
	return failing{err}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestReplayOfARandomLog is the comparison of FuzzReplay over logs that mostly
// parse, which a fuzzer seldom finds.
func TestReplayOfARandomLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	hosts := []string{"192.0.2.1", "192.0.2.1:80", "::ffff:192.0.2.1", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "name.example.net"}
	for range 50 {
		var log []byte
		for i := range 300 {
			log = append(log, logLine(hosts[rng.IntN(len(hosts))], i/2+rng.IntN(30))...)
			if rng.IntN(20) == 0 {
				log = append(log, "bad\n"...)
			}
		}
		capacity := 1 + rng.Int64N(4)
		rep := run(t, options(t, string(log), func(o *Options) {
			o.Limits[0].Engine = engine.TokenBucket(engine.Every(7*time.Second), capacity)
		}))
		want := naive(log, capacity)
		require.Equal(t, want.Top(99), rep.Top(99))
		require.Equal(t, want.Denied, rep.Denied)
		require.Positive(t, rep.Denied)
		require.Positive(t, rep.Reordered)
	}
}
