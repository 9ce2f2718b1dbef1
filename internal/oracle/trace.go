package oracle

import (
	"bufio"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
)

//go:embed testdata/traces/*.jsonl
var traceFiles embed.FS

// Names of the algorithms in the traces.
const (
	AlgorithmTokenBucket    = "token_bucket"
	AlgorithmGCRA           = "gcra"
	AlgorithmFixedWindow    = "fixed_window"
	AlgorithmSlidingLog     = "sliding_log"
	AlgorithmSlidingCounter = "sliding_counter"
)

// Trace is a sequence of calls whose answers are known. Each comes from a
// public report about some rate limiter.
type Trace struct {
	ID             string      `json:"id"`
	Source         string      `json:"source"`
	Algorithm      string      `json:"algorithm"`
	AlsoAlgorithms []string    `json:"also_algorithms"` // the same answers hold for these
	Limit          TraceLimit  `json:"limit"`
	Calls          []TraceCall `json:"calls"`
	Note           string      `json:"note"`
}

// TraceLimit is Limit permits per WindowNanos as an exact fraction; Burst is
// the bucket size, 0 for the window algorithms.
type TraceLimit struct {
	Limit       int64 `json:"limit"`
	WindowNanos int64 `json:"window_ns"`
	Burst       int64 `json:"burst"`
}

// TraceCall asks for N permits of Key at time AtNanos. WantRetryAfterNanos is
// nil where the report does not settle it.
type TraceCall struct {
	AtNanos             int64  `json:"t_ns"`
	Key                 string `json:"key"`
	N                   int64  `json:"n"`
	WantAllow           bool   `json:"want_allow"`
	WantRetryAfterNanos *int64 `json:"want_retry_after_ns"`
}

// Traces returns all traces, in the order of the file names and lines.
func Traces() ([]Trace, error) {
	names, err := fs.Glob(traceFiles, "testdata/traces/*.jsonl")
	if err != nil {
		return nil, err
	}
	var all []Trace
	for _, name := range names {
		traces, err := readTraces(name)
		if err != nil {
			return nil, fmt.Errorf("oracle: %s: %w", name, err)
		}
		all = append(all, traces...)
	}
	return all, nil
}

// readTraces reads one file of traces, one a line.
func readTraces(name string) ([]Trace, error) {
	f, err := traceFiles.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var traces []Trace
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var t Trace
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(traces)+1, err)
		}
		traces = append(traces, t)
	}
	return traces, lines.Err()
}

// Algorithms returns every algorithm that the trace holds for.
func (t Trace) Algorithms() []string {
	return append([]string{t.Algorithm}, t.AlsoAlgorithms...)
}

// Check makes the calls of the trace, in order, and returns an error for each
// wrong answer (joined), nil if there is none.
func (t Trace) Check(take func(key string, now, n int64) (allowed bool, retryAfterNanos int64)) error {
	var errs []error
	for i, c := range t.Calls {
		allowed, retry := take(c.Key, c.AtNanos, c.N)
		if err := t.judge(c, allowed, retry); err != nil {
			errs = append(errs, fmt.Errorf("trace %s, call %d (%d of %q at %d ns): %w", t.ID, i, c.N, c.Key, c.AtNanos, err))
		}
	}
	return errors.Join(errs...)
}

// judge compares one answer with what the trace wants.
func (t Trace) judge(c TraceCall, allowed bool, retryAfterNanos int64) error {
	switch {
	case allowed != c.WantAllow:
		return fmt.Errorf("allowed is %t, want %t", allowed, c.WantAllow)
	case allowed && retryAfterNanos != 0:
		return fmt.Errorf("retry-after of an allowed call is %d ns, want 0", retryAfterNanos)
	case c.WantRetryAfterNanos != nil && retryAfterNanos != *c.WantRetryAfterNanos:
		return fmt.Errorf("retry-after is %d ns, want %d", retryAfterNanos, *c.WantRetryAfterNanos)
	case !allowed && c.WantRetryAfterNanos == nil && (retryAfterNanos < 1 || retryAfterNanos > t.longestWait(c.N)):
		return fmt.Errorf("retry-after is %d ns, want from 1 to %d", retryAfterNanos, t.longestWait(c.N))
	}
	return nil
}

// longestWait returns the time to earn n permits from nothing.
func (t Trace) longestWait(n int64) int64 {
	switch t.Algorithm {
	case AlgorithmFixedWindow, AlgorithmSlidingLog:
		return t.Limit.WindowNanos
	case AlgorithmSlidingCounter:
		return 2 * t.Limit.WindowNanos
	}
	if t.Limit.Limit < 1 {
		return math.MaxInt64
	}
	wait := new(big.Rat).SetFrac(big.NewInt(t.Limit.WindowNanos), big.NewInt(t.Limit.Limit))
	return clampInt64(ceil(wait.Mul(wait, new(big.Rat).SetInt64(n))))
}
