package oracle_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/oracle"
)

const (
	first = int64(math.MinInt64)
	last  = int64(math.MaxInt64)
	never = oracle.Never
)

// call is one Take and its whole answer; remaining and reset are asked after it.
type call struct {
	now, n    int64
	allowed   bool
	retry     int64
	remaining int64
	reset     int64
}

// table is a named sequence of calls on a new model.
type table struct {
	name  string
	model func() oracle.Model
	calls []call
}

func bucket(tokens int64, per time.Duration, burst int64) func() oracle.Model {
	return func() oracle.Model { return oracle.NewTokenBucket(tokens, per, burst) }
}

func slidingLog(limit int64, window time.Duration) func() oracle.Model {
	return func() oracle.Model { return oracle.NewSlidingLog(limit, window) }
}

func fixed(limit int64, window time.Duration) func() oracle.Model {
	return func() oracle.Model { return oracle.NewFixedWindow(limit, window) }
}

func counter(limit int64, window time.Duration) func() oracle.Model {
	return func() oracle.Model { return oracle.NewSlidingWindow(limit, window) }
}

var tables = []table{
	{"bucket: burst, fraction kept, exact due time", bucket(2, 3, 2), []call{
		{0, 2, true, 0, 0, 3},
		{1, 1, false, 1, 0, 2}, // 2/3 of a token: 1/3 more takes half a ns
		{2, 1, true, 0, 0, 3},  // 4/3 - 1 = 1/3: 5/3 missing = 2.5 ns
		{3, 1, true, 0, 0, 3},  // 1/3 + 2/3 - 1 = 0
		{6, 0, true, 0, 2, 0},
		{6, 3, false, never, 2, 0},
	}},
	{"bucket: denied calls cost nothing", bucket(1, 10, 1), []call{
		{0, 1, true, 0, 0, 10},
		{4, 1, false, 6, 0, 6},
		{5, 1, false, 5, 0, 5},
		{5, -1, false, never, 0, 5},
		{10, 1, true, 0, 0, 10},
	}},
	{"bucket: rate 0 never refills", bucket(0, time.Second, 2), []call{
		{0, 1, true, 0, 1, never},
		{last, 2, false, never, 1, never},
		{last, 1, true, 0, 0, never},
		{last, 1, false, never, 0, never},
	}},
	{"bucket: burst 0", bucket(1, 1, 0), []call{{0, 1, false, never, 0, 0}, {9, 0, true, 0, 0, 0}}},
	{"bucket: burst below 0 counts as 0", bucket(1, 1, -7), []call{{0, 1, false, never, 0, 0}}},
	{"bucket: time steps back", bucket(1, 10, 3), []call{
		{100, 3, true, 0, 0, 30},
		{0, 1, false, 10, 0, 30},
		{110, 2, false, 10, 1, 20}, // seen, though denied
		{105, 1, true, 0, 0, 30},   // at 110
		{110, 1, false, 10, 0, 30},
	}},
	{"bucket: a call that can never pass does not move time", bucket(1, 10, 1), []call{
		{0, 1, true, 0, 0, 10},
		{100, 2, false, never, 1, 0},
		{1, 1, false, 9, 0, 9},
	}},
	{"bucket: from the first to the last instant", bucket(1, math.MaxInt64, 3), []call{
		{first, 3, true, 0, 0, last}, // 3 * (2^63-1) ns, more than an int64 holds
		{-1, 1, true, 0, 0, last},    // 2^63-1 ns later
		{last, 1, true, 0, 0, last},  // 2^63 ns later: one token and a little
		{last, 1, false, last - 1, 0, last},
	}},
	{"log: an entry stops counting at its time + window", slidingLog(2, 10), []call{
		{0, 1, true, 0, 1, 10},
		{3, 1, true, 0, 0, 10},
		{9, 1, false, 1, 0, 4},
		{10, 1, true, 0, 0, 10},
		{10, 1, false, 3, 0, 10},
		{30, 0, true, 0, 2, 0},
	}},
	{"log: all or nothing; waits for as many as needed", slidingLog(5, 10), []call{
		{0, 2, true, 0, 3, 10},
		{1, 2, true, 0, 1, 10},
		{2, 2, false, 8, 1, 9},
		{2, 3, false, 8, 1, 9},
		{2, 4, false, 9, 1, 9},
		{2, 5, false, 9, 1, 9},
		{2, 6, false, never, 1, 9},
		{2, -1, false, never, 1, 9},
		{2, 1, true, 0, 0, 10},
		{10, 2, true, 0, 0, 10},
	}},
	{"log: time steps back", slidingLog(2, 10), []call{
		{100, 1, true, 0, 1, 10},
		{0, 1, true, 0, 0, 10},
		{109, 1, false, 1, 0, 1},
		{110, 2, true, 0, 0, 10},
		{115, 1, false, 5, 0, 5},
		{101, 1, false, 5, 0, 5},
	}},
	{"log: from the first to the last instant", slidingLog(2, math.MaxInt64), []call{
		{first, 1, true, 0, 1, last},
		{-2, 2, false, 1, 1, 1},
		{-1, 1, true, 0, 1, last},
		{last - 1, 2, true, 0, 0, last},
		{last, 1, false, last - 1, 0, last - 1},
	}},
	{"log: limit 0 and window 0", slidingLog(0, 0), []call{{0, 1, false, never, 0, 0}, {0, 0, true, 0, 0, 0}}},
	{"fixed: aligned at 0", fixed(2, 10), []call{
		{9, 2, true, 0, 0, 1},
		{9, 1, false, 1, 0, 1},
		{10, 1, true, 0, 1, 10},
		{13, 2, false, 7, 1, 7},
		{13, 3, false, never, 1, 7},
		{9, 1, true, 0, 0, 7}, // at 13
		{20, 0, true, 0, 2, 0},
	}},
	{"fixed: before 0", fixed(1, 10), []call{
		{-11, 1, true, 0, 0, 1},
		{-10, 1, true, 0, 0, 10},
		{-1, 1, false, 1, 0, 1},
		{0, 1, true, 0, 0, 10},
	}},
	{"fixed: first and last instant", fixed(1, math.MaxInt64), []call{
		{first, 1, true, 0, 0, 1}, // -2^63 is the last ns of window -2
		{last, 1, true, 0, 0, last},
	}},
	{"counter: the weight is exact", counter(4, 10), []call{
		{0, 4, true, 0, 0, 20},
		{9, 1, false, 4, 0, 11}, // 4*(10-e)/10 + 1 <= 4 from e = 2.5: 13
		{12, 1, false, 1, 0, 8},
		{13, 1, true, 0, 0, 17}, // 2.8 + 1
		{13, 1, false, 2, 0, 17},
		{15, 1, true, 0, 0, 15}, // 2 + 2
		{15, 4, false, 15, 0, 15},
		{20, 0, true, 0, 2, 10},
		{30, 0, true, 0, 4, 0},
	}},
	{"counter: before 0", counter(2, 10), []call{
		{-5, 2, true, 0, 0, 15},
		{4, 1, false, 1, 0, 6},
		{5, 1, true, 0, 0, 15},
	}},
	{"counter: first and last instant", counter(1, math.MaxInt64), []call{
		{first, 1, true, 0, 0, last},
		{first, 1, false, last, 0, last}, // used up to the very end of the next window: more than an int64
		{last, 1, true, 0, 0, last},
	}},
}

func TestTables(t *testing.T) {
	for _, table := range tables {
		t.Run(table.name, func(t *testing.T) {
			m := table.model()
			for i, c := range table.calls {
				peeked, peekedRetry := m.Peek(c.now, c.n)
				allowed, retry := m.Take(c.now, c.n)
				assert.Equal(t, allowed, peeked, "call %d: peek", i)
				assert.Equal(t, retry, peekedRetry, "call %d: peek's retry-after", i)
				assert.Equal(t, c.allowed, allowed, "call %d: allowed", i)
				assert.Equal(t, c.retry, retry, "call %d: retry-after", i)
				assert.Equal(t, c.remaining, m.Remaining(c.now), "call %d: remaining", i)
				assert.Equal(t, c.reset, m.ResetAfter(c.now), "call %d: reset-after", i)
			}
		})
	}
}

// randomModels are small enough that limits are met all the time.
var randomModels = map[string]func() oracle.Model{
	"bucket":  bucket(3, 7, 5),
	"log":     slidingLog(5, 11),
	"fixed":   fixed(5, 11),
	"counter": counter(5, 11),
}

// TestRandomProperties checks what must hold for every model after every call:
// retry-after and reset-after are the truth, remaining is the largest n that
// passes, and a denial changes nothing.
func TestRandomProperties(t *testing.T) {
	for name, fresh := range randomModels {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			m, now := fresh(), int64(-100)
			for range 5000 {
				now += rng.Int64N(6)
				n := rng.Int64N(7)
				before := []int64{m.Remaining(now), m.ResetAfter(now)}
				allowed, retry := m.Take(now, n)
				if !allowed {
					after := []int64{m.Remaining(now), m.ResetAfter(now)}
					require.Equal(t, before, after, "a denial changes nothing")
				}
				if !allowed && retry != never {
					requirePasses(t, m, now+retry, n, true)
					requirePasses(t, m, now+retry-1, n, false)
				}
				remaining := m.Remaining(now)
				requirePasses(t, m, now, remaining, true)
				requirePasses(t, m, now, remaining+1, false)
				requireReset(t, m, now)
			}
		})
	}
}

func requirePasses(t *testing.T, m oracle.Model, now, n int64, want bool) {
	t.Helper()
	allowed, _ := m.Peek(now, n)
	require.Equal(t, want, allowed, "peek of %d at %d", n, now)
}

// requireReset: at reset-after the model is as new, and not 1 ns earlier.
func requireReset(t *testing.T, m oracle.Model, now int64) {
	t.Helper()
	reset := m.ResetAfter(now)
	require.GreaterOrEqual(t, reset, int64(0))
	require.Zero(t, m.ResetAfter(now+reset))
	require.Equal(t, int64(5), m.Remaining(now+reset))
	if reset > 0 {
		require.Equal(t, int64(1), m.ResetAfter(now+reset-1))
	}
}

// TestSlidingLogNeverExceedsLimitInAnyWindow restates the definition of the log
// over all pairs of admissions.
func TestSlidingLogNeverExceedsLimitInAnyWindow(t *testing.T) {
	const limit, window = 5, 11
	rng := rand.New(rand.NewPCG(3, 4))
	m, now := oracle.NewSlidingLog(limit, window), int64(0)
	var admitted []oracle.Admission
	for range 2000 {
		now += rng.Int64N(4)
		n := 1 + rng.Int64N(3)
		if allowed, _ := m.Take(now, n); allowed {
			admitted = append(admitted, oracle.Admission{At: now, N: n})
		}
	}
	for i := range admitted {
		var sum int64
		for j := i; j < len(admitted) && admitted[j].At < admitted[i].At+window; j++ {
			sum += admitted[j].N
		}
		require.LessOrEqual(t, sum, int64(limit), "from %d ns", admitted[i].At)
	}
}
