package oracle_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/oracle"
)

// newModel returns a new key's model for an algorithm of a trace.
func newModel(t *testing.T, algorithm string, l oracle.TraceLimit) oracle.Model {
	t.Helper()
	window := time.Duration(l.WindowNanos)
	switch algorithm {
	case oracle.AlgorithmTokenBucket, oracle.AlgorithmGCRA:
		return oracle.NewTokenBucket(l.Limit, window, l.Burst)
	case oracle.AlgorithmFixedWindow:
		return oracle.NewFixedWindow(l.Limit, window)
	case oracle.AlgorithmSlidingLog:
		return oracle.NewSlidingLog(l.Limit, window)
	case oracle.AlgorithmSlidingCounter:
		return oracle.NewSlidingWindow(l.Limit, window)
	}
	require.FailNow(t, "unknown algorithm", algorithm)
	return nil
}

func traces(t *testing.T) []oracle.Trace {
	t.Helper()
	all, err := oracle.Traces()
	require.NoError(t, err)
	require.Len(t, all, 34)
	return all
}

// TestTraces: every call of every trace, for every algorithm it holds for.
func TestTraces(t *testing.T) {
	for _, trace := range traces(t) {
		for _, algorithm := range trace.Algorithms() {
			t.Run(trace.ID+"/"+algorithm, func(t *testing.T) {
				keyed := oracle.NewKeyed[string](func() oracle.Model { return newModel(t, algorithm, trace.Limit) })
				require.NoError(t, trace.Check(keyed.Take))
			})
		}
	}
}

// TestTracesRetryAfterIsTheTruth: after each denied call the same call passes
// retry-after later and is denied 1 ns earlier.
func TestTracesRetryAfterIsTheTruth(t *testing.T) {
	for _, trace := range traces(t) {
		keyed := oracle.NewKeyed[string](func() oracle.Model { return newModel(t, trace.Algorithm, trace.Limit) })
		latest := int64(math.MinInt64)
		for i, c := range trace.Calls {
			allowed, retry := keyed.Take(c.Key, c.AtNanos, c.N)
			latest = max(latest, c.AtNanos)
			if allowed || retry == oracle.Never {
				continue
			}
			allowed, _ = keyed.Peek(c.Key, latest+retry, c.N)
			assert.True(t, allowed, "%s call %d: at retry-after", trace.ID, i)
			allowed, _ = keyed.Peek(c.Key, latest+retry-1, c.N)
			assert.False(t, allowed, "%s call %d: 1 ns before retry-after", trace.ID, i)
		}
	}
}

// TestTracesKeepTheBound: the wanted answers themselves obey the law of the
// bucket.
func TestTracesKeepTheBound(t *testing.T) {
	for _, trace := range traces(t) {
		if trace.Algorithm != oracle.AlgorithmTokenBucket && trace.Algorithm != oracle.AlgorithmGCRA {
			continue
		}
		perKey := map[string][]oracle.Admission{}
		latest := int64(math.MinInt64)
		for _, c := range trace.Calls {
			latest = max(latest, c.AtNanos)
			if c.WantAllow {
				perKey[c.Key] = append(perKey[c.Key], oracle.Admission{At: latest, N: c.N})
			}
		}
		for _, log := range perKey {
			err := oracle.Bound(trace.Limit.Limit, time.Duration(trace.Limit.WindowNanos), trace.Limit.Burst, log)
			assert.NoError(t, err, trace.ID)
		}
	}
}

// TestTraceCheckSeesWrongAnswers: Check itself must be able to fail.
func TestTraceCheckSeesWrongAnswers(t *testing.T) {
	wait := int64(5)
	trace := oracle.Trace{
		ID:        "own",
		Algorithm: oracle.AlgorithmTokenBucket,
		Limit:     oracle.TraceLimit{Limit: 1, WindowNanos: 10, Burst: 1},
		Calls: []oracle.TraceCall{
			{AtNanos: 0, Key: "a", N: 1, WantAllow: true},
			{AtNanos: 5, Key: "a", N: 1, WantRetryAfterNanos: &wait},
			{AtNanos: 5, Key: "a", N: 1},
		},
	}
	type answer struct {
		allowed bool
		retry   int64
	}
	right := []answer{{true, 0}, {false, 5}, {false, 10}}
	cases := map[string]struct {
		call  int
		given answer
		err   string
	}{
		"right":           {0, answer{true, 0}, ""},
		"denied":          {0, answer{false, 1}, "allowed is false, want true"},
		"wait on allowed": {0, answer{true, 1}, "retry-after of an allowed call"},
		"allowed":         {1, answer{true, 0}, "allowed is true, want false"},
		"wrong wait":      {1, answer{false, 4}, "retry-after is 4 ns, want 5"},
		"no wait":         {2, answer{false, 0}, "want from 1 to 10"},
		"never":           {2, answer{false, oracle.Never}, "want from 1 to 10"},
		"too long":        {2, answer{false, 11}, "want from 1 to 10"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			i := -1
			err := trace.Check(func(string, int64, int64) (bool, int64) {
				i++
				a := right[i]
				if i == c.call {
					a = c.given
				}
				return a.allowed, a.retry
			})
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.err)
		})
	}
}

// TestTraceCheckOfAnUnsettledWait: where a trace does not say how long, a wait
// may be from 1 ns to the time that earns the permits from nothing.
func TestTraceCheckOfAnUnsettledWait(t *testing.T) {
	longest := map[string]int64{
		oracle.AlgorithmTokenBucket:    7, // 2 permits at 3 in 10 ns: 6.67
		oracle.AlgorithmGCRA:           7,
		oracle.AlgorithmFixedWindow:    10,
		oracle.AlgorithmSlidingLog:     10,
		oracle.AlgorithmSlidingCounter: 20,
	}
	for algorithm, want := range longest {
		trace := oracle.Trace{
			Algorithm: algorithm,
			Limit:     oracle.TraceLimit{Limit: 3, WindowNanos: 10, Burst: 3},
			Calls:     []oracle.TraceCall{{N: 2}},
		}
		for wait, ok := range map[int64]bool{0: false, 1: true, want: true, want + 1: false} {
			err := trace.Check(func(string, int64, int64) (bool, int64) { return false, wait })
			assert.Equal(t, ok, err == nil, "%s: %d ns: %v", algorithm, wait, err)
		}
	}
}
