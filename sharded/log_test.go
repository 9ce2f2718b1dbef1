package sharded

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/oracle"
)

// logAt is a clock that stands.
func logAt(now int64) func() int64 { return func() int64 { return now } }

// allowedAs, deniedAs make the answers of the tables short.
func allowedAs(remaining, reset int64) LogDecision {
	return LogDecision{Allowed: true, Remaining: remaining, ResetAfterNanos: reset}
}

func deniedAs(remaining, retry, reset int64) LogDecision {
	return LogDecision{Remaining: remaining, RetryAfterNanos: retry, ResetAfterNanos: reset}
}

// fixedLogs is a table of which all keys are always under one limit. Its answers
// are without what a refund asks for, so that those of all keys compare.
type fixedLogs[K comparable] struct {
	*Logs[K]
	rule LogLimit
}

func newFixedLogs[K comparable](limit, windowNanos int64) *fixedLogs[K] {
	return &fixedLogs[K]{NewLogs[K](), LogLimit{limit, windowNanos}}
}

func withoutCharge(d LogDecision) LogDecision {
	d.AtNanos, d.Generation = 0, 0
	return d
}

func (g *fixedLogs[K]) Take(key K, n int64, now func() int64) LogDecision {
	return withoutCharge(g.Logs.Take(key, g.rule, n, now))
}

func (g *fixedLogs[K]) Peek(key K, n, now int64) LogDecision {
	return g.Logs.Peek(key, g.rule, n, now)
}

func takeFixedBytes(g *fixedLogs[string], key []byte, n int64, now func() int64) LogDecision {
	return withoutCharge(TakeLogBytes(g.Logs, key, g.rule, n, now))
}

const (
	firstNano = int64(math.MinInt64)
	lastNano  = int64(math.MaxInt64)
	manyLimit = int64(1) << 40
)

func TestLogTable(t *testing.T) {
	type call struct {
		now, n int64
		want   LogDecision
	}
	cases := []struct {
		name          string
		limit, window int64
		calls         []call
		keys          int // that have a log in the end
	}{
		{"an entry stops counting at its time + window", 2, 10, []call{
			{0, 1, allowedAs(1, 10)},
			{3, 1, allowedAs(0, 10)},
			{9, 1, deniedAs(0, 1, 4)},
			{10, 1, allowedAs(0, 10)},
			{10, 1, deniedAs(0, 3, 10)},
			{13, 1, allowedAs(0, 10)},
		}, 1},
		{"all or nothing; waits for as many as needed", 5, 10, []call{
			{0, 2, allowedAs(3, 10)},
			{1, 2, allowedAs(1, 10)},
			{2, 2, deniedAs(1, 8, 9)},
			{2, 3, deniedAs(1, 8, 9)},
			{2, 4, deniedAs(1, 9, 9)},
			{2, 5, deniedAs(1, 9, 9)},
			{2, 6, deniedAs(1, LogNever, 9)},
			{2, 1, allowedAs(0, 10)},
			{10, 2, allowedAs(0, 10)},
			{11, 3, deniedAs(2, 1, 9)},
		}, 1},
		{"n below 1", 2, 10, []call{
			{0, 0, allowedAs(2, 0)},
			{0, -1, deniedAs(2, LogNever, 0)},
			{0, firstNano, deniedAs(2, LogNever, 0)},
		}, 0},
		{"a new key that asks for too much leaves no log", 2, 10, []call{
			{0, 3, deniedAs(2, LogNever, 0)},
			{0, lastNano, deniedAs(2, LogNever, 0)},
		}, 0},
		{"limit 0", 0, 10, []call{{0, 1, deniedAs(0, LogNever, 0)}, {0, 0, allowedAs(0, 0)}}, 0},
		{"limit and window below their least", -3, -5, []call{{0, 1, deniedAs(0, LogNever, 0)}}, 0},
		{"window of 1 ns", 1, 0, []call{
			{0, 1, allowedAs(0, 1)},
			{0, 1, deniedAs(0, 1, 1)},
			{1, 1, allowedAs(0, 1)},
		}, 1},
		{"time steps back", 2, 10, []call{
			{100, 1, allowedAs(1, 10)},
			{0, 1, allowedAs(0, 10)}, // at 100
			{109, 1, deniedAs(0, 1, 1)},
			{110, 2, allowedAs(0, 10)},
			{115, 1, deniedAs(0, 5, 5)},
			{101, 1, deniedAs(0, 5, 5)}, // at 115: seen, though denied
			{101, 3, deniedAs(0, LogNever, 5)},
		}, 1},
		{"from the first to the last instant", 2, lastNano, []call{
			{firstNano, 1, allowedAs(1, lastNano)},
			{-2, 2, deniedAs(1, 1, 1)},
			{-1, 1, allowedAs(1, lastNano)},
			{lastNano - 1, 2, allowedAs(0, lastNano)},
			{lastNano, 1, deniedAs(0, lastNano-1, lastNano-1)},
		}, 1},
		{"an age of more than an int64 holds", 1, 10, []call{
			{firstNano, 1, allowedAs(0, 10)},
			{firstNano + 9, 1, deniedAs(0, 1, 1)},
			{lastNano, 1, allowedAs(0, 10)},
			{lastNano, 1, deniedAs(0, 10, 10)},
		}, 1},
		{"an entry next to the end of time does not expire early", 1, 1 << 62, []call{
			{lastNano - 1, 1, allowedAs(0, 1<<62)},
			{lastNano, 1, deniedAs(0, 1<<62-1, 1<<62-1)},
		}, 1},
		{"a million at once and a huge limit", manyLimit, 10, []call{
			{0, 1e6, allowedAs(manyLimit-1e6, 10)},
			{1, manyLimit - 1e6, allowedAs(0, 10)},
			{9, 1e6 + 1, deniedAs(0, 2, 2)},
			{9, 1e6, deniedAs(0, 1, 2)},
			{11, manyLimit, allowedAs(0, 10)},
		}, 1},
		{"the largest limit", lastNano, 10, []call{
			{0, lastNano, allowedAs(0, 10)},
			{1, lastNano, deniedAs(0, 9, 9)},
			{10, lastNano - 1, allowedAs(1, 10)},
			{11, 2, deniedAs(1, 9, 9)},
			{20, lastNano, allowedAs(0, 10)},
			{30, lastNano, allowedAs(0, 10)},
		}, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newFixedLogs[string](c.limit, c.window)
			for i, call := range c.calls {
				checkLogCall(t, g, i, call.now, call.n, call.want)
			}
			assert.Equal(t, c.keys, g.Len())
		})
	}
}

// checkLogCall peeks and takes at now and compares both with the answer wanted.
func checkLogCall(t *testing.T, g *fixedLogs[string], i int, now, n int64, want LogDecision) {
	t.Helper()
	before := g.Peek("key", n, now)
	got := g.Take("key", n, logAt(now))
	assert.Equal(t, want, got, "call %d", i)
	assert.Equal(t, got.Allowed, before.Allowed, "call %d: peek", i)
	assert.Equal(t, got.RetryAfterNanos, before.RetryAfterNanos, "call %d: peek", i)
}

// TestLogTraces: the call-by-call cases of public reports.
func TestLogTraces(t *testing.T) {
	traces, err := oracle.Traces()
	require.NoError(t, err)
	met := 0
	for _, trace := range traces {
		if trace.Algorithm != oracle.AlgorithmSlidingLog {
			continue
		}
		met++
		g := newFixedLogs[string](trace.Limit.Limit, trace.Limit.WindowNanos)
		require.NoError(t, trace.Check(func(key string, now, n int64) (bool, int64) {
			d := g.Take(key, n, logAt(now))
			return d.Allowed, d.RetryAfterNanos
		}))
	}
	assert.Equal(t, 6, met)
}

// logMix is a random sequence of calls: which keys, steps of time and counts.
type logMix struct {
	limit, window    int64
	keys             int
	step, most, back int64
}

// TestLogEqualsOracle compares random sequences with the oracle's list of
// stamps, key by key and field by field, with time that steps back, peeks,
// resets and sweeps.
func TestLogEqualsOracle(t *testing.T) {
	mixes := map[string]logMix{
		"single permits":      {limit: 7, window: 50, keys: 3, step: 4, most: 1, back: 20},
		"several permits":     {limit: 20, window: 100, keys: 3, step: 9, most: 22, back: 30},
		"many at one instant": {limit: 40, window: 30, keys: 2, step: 1, most: 3, back: 3},
		"long rings":          {limit: 700, window: 900, keys: 2, step: 2, most: 2, back: 5},
		"limit of one":        {limit: 1, window: 3, keys: 5, step: 3, most: 2, back: 4},
	}
	for name, mix := range mixes {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(9, uint64(mix.limit)))
			compareWithOracle(t, mix, 100_000, rng)
		})
	}
}

func compareWithOracle(t *testing.T, mix logMix, calls int, rng *rand.Rand) {
	t.Helper()
	g := newFixedLogs[int](mix.limit, mix.window)
	k := oracle.NewKeyed[int](func() oracle.Model { return oracle.NewSlidingLog(mix.limit, time.Duration(mix.window)) })
	now, dropped := int64(-1000), 0
	for i := range calls {
		now += rng.Int64N(mix.step*int64(mix.keys) + 1)
		if rng.IntN(1000) == 0 { // everything expires
			now += mix.window + mix.back
			dropped += g.Sweep(now, nil)
		}
		key, n, when := rng.IntN(mix.keys), rng.Int64N(mix.most+2), now
		if rng.IntN(4) == 0 {
			when -= rng.Int64N(mix.back + 1)
		}
		switch rng.IntN(200) {
		case 0:
			// The sweep's time is the latest of all, so a dropped key may have seen
			// an older one; it starts again at the sweep's.
			dropped += g.Sweep(now, nil)
			continue
		case 1:
			g.Reset(key)
			k.Reset(key)
			continue
		case 2:
			n = -1
		}
		if _, found := g.rings.Load(key); !found {
			when = max(when, g.floorNanos.Load())
		}
		requireSameAnswer(t, g, k, key, n, when, i)
		if i%50 == 0 {
			requireSound(t, g, key)
		}
	}
	require.Positive(t, dropped, "no sweep dropped anything")
	require.GreaterOrEqual(t, g.Len(), k.Len(now))
	g.Sweep(now, nil)
	require.Equal(t, k.Len(now), g.Len())
}

func requireSameAnswer(t *testing.T, g *fixedLogs[int], k *oracle.Keyed[int], key int, n, when int64, call int) {
	t.Helper()
	allowed, retry := k.Peek(key, when, n)
	want := LogDecision{Allowed: allowed, Remaining: k.Remaining(key, when), RetryAfterNanos: retry, ResetAfterNanos: k.ResetAfter(key, when)}
	if got := g.Peek(key, n, when); got != want {
		require.Equal(t, want, got, "call %d: peek of %d of key %d at %d", call, n, key, when)
	}
	allowed, retry = k.Take(key, when, n)
	want = LogDecision{Allowed: allowed, Remaining: k.Remaining(key, when), RetryAfterNanos: retry, ResetAfterNanos: k.ResetAfter(key, when)}
	if got := g.Take(key, n, logAt(when)); got != want {
		require.Equal(t, want, got, "call %d: take of %d of key %d at %d", call, n, key, when)
	}
}

// requireSound checks what must hold of a ring between calls.
func requireSound(t *testing.T, g *fixedLogs[int], key int) {
	t.Helper()
	r, found := g.rings.Load(key)
	if !found {
		return
	}
	require.LessOrEqual(t, int64(len(r.stamps)), g.rule.Limit, "never more room than the limit")
	require.Positive(t, r.size, "no ring without an entry, unless it was given back")
	requireOrdered(t, r)
}

// requireOrdered checks that entries are in order and none is empty.
func requireOrdered(t *testing.T, r *logRing) {
	t.Helper()
	for i := 1; i < r.size; i++ {
		if r.stamp(i-1) >= r.stamp(i) || r.end(i-1) >= r.end(i) {
			require.FailNow(t, "entries out of order", "%d of %d", i, r.size)
		}
	}
	if r.ends != nil {
		require.Len(t, r.ends, len(r.stamps))
	}
}

// TestLogRetryAfterIsTheTruth: allowed exactly then, denied 1 ns earlier, for
// every n, on a key with a random history.
func TestLogRetryAfterIsTheTruth(t *testing.T) {
	const limit, window = 12, 100
	rng := rand.New(rand.NewPCG(11, 12))
	g, now, waits := newFixedLogs[string](limit, window), int64(0), 0
	for range 3000 {
		now += rng.Int64N(20)
		g.Take("key", 1+rng.Int64N(4), logAt(now))
		for n := int64(1); n <= limit; n++ {
			d := g.Peek("key", n, now)
			if d.Allowed {
				require.LessOrEqual(t, n, d.Remaining)
				continue
			}
			waits++
			require.Greater(t, n, d.Remaining)
			require.GreaterOrEqual(t, d.RetryAfterNanos, int64(1))
			require.True(t, g.Peek("key", n, now+d.RetryAfterNanos).Allowed)
			require.False(t, g.Peek("key", n, now+d.RetryAfterNanos-1).Allowed)
		}
		reset := g.Peek("key", 0, now).ResetAfterNanos
		require.Equal(t, LogDecision{Allowed: true, Remaining: limit}, g.Peek("key", 0, now+reset))
		require.EqualValues(t, 1, g.Peek("key", 0, now+reset-1).ResetAfterNanos)
	}
	require.Positive(t, waits)
}
