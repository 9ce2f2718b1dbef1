package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/stretchr/testify/require"
)

// few is a load that keeps every key busy.
func few(calls string) []string {
	return []string{"-duration", "10m", "-calls", calls, "-workers", "4", "-waiters", "2", "-keys", "300", "-progress", "1m"}
}

func TestSoak(t *testing.T) {
	stem := filepath.Join(t.TempDir(), "soak")
	var out, errs bytes.Buffer
	code := run(t.Context(), append(few("20000"), "-report", stem, "-note", "Beside the tests"), honest, &out, &errs)
	require.Zero(t, code, "%s%s", out.String(), errs.String())
	require.Contains(t, out.String(), "No violation")

	text, err := os.ReadFile(stem + ".json")
	require.NoError(t, err)
	var r report
	require.NoError(t, json.Unmarshal(text, &r))
	require.GreaterOrEqual(t, r.Calls, uint64(80_000))
	require.NotEmpty(t, r.Samples)
	require.Len(t, r.Lanes, 6)
	for _, l := range r.Lanes {
		require.NotZero(t, l.Allowed, l.Name)
		for _, law := range l.Laws {
			require.True(t, law.Sharp > 0 || l.Name == "fast", l.Name) // a permit of the fast one is earned in a microsecond
			require.LessOrEqual(t, law.Worst, 1.0, l.Name)
		}
	}
	text, err = os.ReadFile(stem + ".md")
	require.NoError(t, err)
	require.Contains(t, string(text), "![Throughput, latency and memory over the run](soak.svg)")
	require.Contains(t, string(text), "Beside the tests.")
	text, err = os.ReadFile(stem + ".svg")
	require.NoError(t, err)
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for err == nil {
		_, err = decoder.Token()
	}
	require.ErrorIs(t, err, io.EOF)
}

// forgetful gives back one charge in so many behind everyone's back.
func forgetful(every int64) take {
	var charges atomic.Int64
	return func(l *engine.Limiter[uint64], key uint64, n int64) (engine.Decision, *engine.Receipt[uint64]) {
		d, receipt := honest(l, key, n)
		if d.Allowed && charges.Add(1)%every == 0 {
			receipt.Refund(n)
		}
		return d, receipt
	}
}

// TestLostChargeIsFound: a run must be able to fail.
func TestLostChargeIsFound(t *testing.T) {
	var out bytes.Buffer
	require.Equal(t, exitViolated, run(t.Context(), few("200000"), forgetful(10_000), &out, io.Discard))
	require.Contains(t, out.String(), "are lawful (1 token")
	require.NotContains(t, out.String(), "No violation")
}

// onLine calls a function at every write.
type onLine func()

func (f onLine) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

func TestInterruptEndsWithAReport(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	stem := filepath.Join(t.TempDir(), "soak")
	args := []string{"-duration", "10h", "-progress", "100ms", "-keys", "1000", "-report", stem}
	require.Zero(t, run(ctx, args, honest, onLine(interrupt), io.Discard))
	require.FileExists(t, stem+".md")
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-keys", "1"}, {"-workers", "0"}, {"-duration", "0s"}, {"more"}, {"-unknown"}} {
		require.Equal(t, exitUsage, run(t.Context(), args, honest, io.Discard, io.Discard), "%v", args)
	}
	require.Equal(t, exitViolated,
		run(t.Context(), append(few("1000"), "-report", filepath.Join(t.TempDir(), "none", "soak")), honest, io.Discard, io.Discard))
}

// TestNothingAdmittedIsNoProof: a run that is over before it began has shown nothing.
func TestNothingAdmittedIsNoProof(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	var out bytes.Buffer
	require.Equal(t, exitViolated, run(ctx, few("1000"), honest, &out, io.Discard))
	require.Contains(t, out.String(), "nothing was tested")
}

// TestCapIsChecked: the sampler finds a limiter that holds more keys than its cap.
func TestCapIsChecked(t *testing.T) {
	c := newClock()
	l := newLane("capped", c, engine.TokenBucket(engine.PerSecond(1), 2), nil)
	l.maxKeys = 1
	s := &sampler{began: time.Now(), last: time.Now(), lanes: []*lane{l}}
	l.limiter.Allow(1)
	require.Zero(t, s.look().Violations)
	l.limiter.Allow(2)
	require.Equal(t, 1, s.look().Violations)
	require.Contains(t, s.end(c)[0], "2 keys held, at most 1")
}
