package sharded

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLogSweepDropsOnlyWhatEqualsNew(t *testing.T) {
	g := newFixedLogs[string](2, 10)
	g.Take("old", 1, logAt(0))
	g.Take("young", 1, logAt(5))
	assert.Zero(t, g.Sweep(9, nil))
	assert.Equal(t, 1, g.Sweep(10, nil))
	assert.Equal(t, 1, g.Len())
	assert.Equal(t, 1, g.Sweep(15, nil))
	assert.Zero(t, g.Len())
	assert.Zero(t, g.rings.Size())
}

// TestLogSweepInThePast: a sweep whose clock stepped back drops nothing that a
// later clock made, and what it leaves is untouched.
func TestLogSweepInThePast(t *testing.T) {
	g := newFixedLogs[string](1, 10)
	g.Take("key", 1, logAt(100))
	for _, now := range []int64{99, 0, -1000, math.MinInt64} {
		assert.Zero(t, g.Sweep(now, nil))
	}
	assert.False(t, g.Take("key", 1, logAt(100)).Allowed)

	g.Take("key", 1, logAt(500)) // at 0..499 everything had expired at 110
	assert.False(t, g.Take("key", 1, logAt(509)).Allowed)
	assert.Zero(t, g.Sweep(509, nil))
	assert.False(t, g.Take("key", 1, logAt(509)).Allowed)
}

// TestLogSweepLeavesALogThatSawALaterTime: its entries have expired at the
// sweep's time, but to forget the later time would let time move back.
func TestLogSweepLeavesALogThatSawALaterTime(t *testing.T) {
	g := newFixedLogs[string](2, 10)
	g.Take("key", 2, logAt(0))
	g.Take("key", 1, logAt(12)) // entries of 0 have expired
	g.Take("key", 2, logAt(21)) // denied; 21 was seen
	r, _ := g.rings.Load("key")
	require.EqualValues(t, 21, r.latestNanos)
	assert.Zero(t, g.Sweep(21, nil))
	r.latestNanos = 30
	assert.Zero(t, g.Sweep(25, nil))
	assert.Equal(t, 1, g.Sweep(30, nil))
}

// TestLogTimeNeverMovesBackOverASweep: a key forgotten at 100 starts again at
// 100, whatever its caller's clock says; else the entries of 0 would not have
// expired yet when it takes at 5.
func TestLogTimeNeverMovesBackOverASweep(t *testing.T) {
	g := newFixedLogs[string](1, 10)
	g.Take("key", 1, logAt(0))
	require.Equal(t, 1, g.Sweep(100, nil))
	assert.True(t, g.Take("key", 1, logAt(5)).Allowed)
	assert.False(t, g.Take("key", 1, logAt(109)).Allowed, "charged at 100, not at 5")
	assert.True(t, g.Take("key", 1, logAt(110)).Allowed)
}

func TestLogSweepBudgetGoesOnWhereItEnded(t *testing.T) {
	const keys, perSweep = 1000, 70
	g := newFixedLogs[int](1, 10)
	for key := range keys {
		g.Take(key, 1, logAt(0))
	}
	sweep := func(now int64) (asked, dropped int) {
		dropped = g.Sweep(now, func() bool { asked++; return asked <= perSweep })
		return asked, dropped
	}
	// At 5 nothing is due: the sweep must move on all the same.
	sweeps := 0
	for {
		sweeps++
		require.LessOrEqual(t, sweeps, keys, "the sweeps never reach the end")
		asked, dropped := sweep(5)
		require.Zero(t, dropped)
		if asked <= perSweep {
			break
		}
	}
	assert.Equal(t, keys/perSweep+1, sweeps)
	for range keys / perSweep {
		_, dropped := sweep(10)
		require.Equal(t, perSweep, dropped, "what was dropped is not to be skipped over")
	}
	_, dropped := sweep(10)
	assert.Equal(t, keys%perSweep, dropped)
	assert.Zero(t, g.Len())
}

// TestLogSweepWithoutBudgetLooksAtAll: also at what a sweep with a budget would
// skip.
func TestLogSweepWithoutBudgetLooksAtAll(t *testing.T) {
	g := newFixedLogs[int](1, 10)
	for key := range 100 {
		g.Take(key, 1, logAt(0))
	}
	budget := 50
	require.Zero(t, g.Sweep(5, func() bool { budget--; return budget >= 0 }))
	assert.Equal(t, 100, g.Sweep(10, nil))
}

// TestLogDeadRing: every call copes with a ring that somebody killed and, being
// interrupted, has not yet taken out of the table.
func TestLogDeadRing(t *testing.T) {
	calls := map[string]func(t *testing.T, g *fixedLogs[string]){
		"take": func(t *testing.T, g *fixedLogs[string]) {
			t.Helper()
			assert.Equal(t, allowedAs(0, 10), g.Take("key", 2, logAt(0)))
			assert.Equal(t, 1, g.Len())
		},
		"peek": func(t *testing.T, g *fixedLogs[string]) {
			t.Helper()
			assert.Equal(t, allowedAs(2, 0), g.Peek("key", 2, 0))
		},
		"reset": func(t *testing.T, g *fixedLogs[string]) {
			t.Helper()
			g.Reset("key")
		},
		"sweep": func(t *testing.T, g *fixedLogs[string]) {
			t.Helper()
			assert.Zero(t, g.Sweep(10, nil))
		},
		"has": func(t *testing.T, g *fixedLogs[string]) {
			t.Helper()
			assert.False(t, g.Has("key"))
		},
		"existing": func(t *testing.T, g *fixedLogs[string]) {
			t.Helper()
			_, found := g.TakeExisting("key", g.rule, 1, logAt(0))
			assert.False(t, found)
		},
		"refund": func(t *testing.T, g *fixedLogs[string]) {
			t.Helper()
			assert.False(t, g.Refund("key", 1, 0, 1, 0))
			assert.False(t, g.Refund("key", 0, 0, 1, 0))
		},
		"evacuate": func(t *testing.T, g *fixedLogs[string]) {
			t.Helper()
			used, found := g.Evacuate("key", 0)
			assert.False(t, found)
			assert.Zero(t, used)
		},
		"settle": func(t *testing.T, g *fixedLogs[string]) {
			t.Helper()
			assert.Equal(t, allowedAs(0, 10), withoutCharge(g.Settle("key", g.rule, 1, 1, 0)))
		},
		"other": func(t *testing.T, g *fixedLogs[string]) {
			t.Helper()
			assert.True(t, g.Take("other", 1, logAt(0)).Allowed, "its place is free")
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			g := newFixedLogs[string](2, 10)
			g.SetMaxKeys(1)
			g.Take("key", 2, logAt(0))
			r, _ := g.rings.Load("key")
			r.mu.Lock()
			g.kill(r)
			r.mu.Unlock()
			require.Zero(t, g.Len())
			call(t, g)
			assert.GreaterOrEqual(t, g.Len(), 0)
			assert.LessOrEqual(t, g.Len(), 1)
			assert.EqualValues(t, 2, r.taken(), "nothing is charged to the dead")
		})
	}
}

func TestLogSweepGivesBackMemory(t *testing.T) {
	const limit, window = 10_000, 1_000_000
	g := newFixedLogs[string](limit, window)
	for i := range int64(limit) {
		g.Take("key", 1, logAt(i))
	}
	r, _ := g.rings.Load("key")
	require.Len(t, r.stamps, limit, "all of them count")
	g.Take("key", 1, logAt(window+limit-4)) // all but 3 have expired
	require.Zero(t, g.Sweep(window+limit-4, nil))
	assert.Len(t, r.stamps, logRingKeepEntries/2)
	assert.Equal(t, deniedAs(limit-4, 1, window), g.Peek("key", limit-3, window+limit-4))

	g.Take("key", 5, logAt(window+limit-4))
	require.NotNil(t, r.ends)
	g.Sweep(window+limit-4, nil)
	assert.Equal(t, deniedAs(limit-9, 1, window), g.Peek("key", limit-8, window+limit-4))
}

// TestLogTrimLeavesRoom: a trimmed ring holds as much again without growing.
func TestLogTrimLeavesRoom(t *testing.T) {
	const limit, window, live = 1000, 1000, 100
	g := newFixedLogs[string](limit, window)
	for i := range int64(limit) {
		g.Take("key", 1, logAt(i))
	}
	now := int64(window + limit - live - 1) // live entries count
	require.False(t, g.Take("key", limit, logAt(now)).Allowed)
	r, _ := g.rings.Load("key")
	require.Equal(t, limit, r.size, "a denied take removes nothing")
	g.Sweep(now, nil)
	assert.Equal(t, live, r.size)
	assert.Len(t, r.stamps, 2*live)
	assert.Equal(t, deniedAs(limit-live, 1, live), g.Peek("key", limit-live+1, now))
	assert.Equal(t, deniedAs(limit-live, live, live), g.Peek("key", limit, now))
}

// TestLogTrimUsesTheTimeOfTheLog: a sweep ahead of the callers' clock must not
// trim away what still counts for them.
func TestLogTrimUsesTheTimeOfTheLog(t *testing.T) {
	const limit, window = 1000, 1000
	g := newFixedLogs[string](limit, window)
	for i := range int64(limit) {
		g.Take("key", 1, logAt(i))
	}
	g.Sweep(2*window-2, nil) // only the entry of 999 counts at that time
	assert.Equal(t, deniedAs(0, 1, window), g.Take("key", 1, logAt(999)))
}

func TestLogReset(t *testing.T) {
	g := newFixedLogs[string](1, 10)
	g.Reset("unknown")
	g.Take("key", 1, logAt(100))
	g.Take("other", 1, logAt(100))
	g.Reset("key")
	assert.Equal(t, 1, g.Len())
	assert.True(t, g.Take("key", 1, logAt(0)).Allowed, "time seen is forgotten as well")
	assert.False(t, g.Take("key", 1, logAt(9)).Allowed)
	assert.False(t, g.Take("other", 1, logAt(101)).Allowed)
}

func TestLogCap(t *testing.T) {
	g := newFixedLogs[string](2, 10)
	g.SetMaxKeys(2)
	full := LogDecision{Full: true}
	assert.True(t, g.Take("", 1, logAt(0)).Allowed, "the empty key is a key")
	assert.Equal(t, LogDecision{Remaining: 2, RetryAfterNanos: LogNever}, g.Take("never", 3, logAt(0)))
	assert.True(t, g.Take("one", 1, logAt(5)).Allowed)
	assert.Equal(t, full, g.Take("two", 1, logAt(5)))
	assert.Equal(t, full, g.Peek("two", 1, 5))
	assert.Equal(t, LogDecision{Allowed: true, Remaining: 2}, g.Take("two", 0, logAt(5)))
	assert.Equal(t, deniedAs(2, LogNever, 0), g.Take("two", 3, logAt(5)), "never comes before full")
	assert.True(t, g.Take("", 1, logAt(5)).Allowed, "a key with a log keeps it")
	assert.True(t, g.Peek("one", 1, 5).Allowed)
	assert.Equal(t, 2, g.Len())

	assert.Zero(t, g.Sweep(10, nil))
	assert.Equal(t, full, g.Take("two", 1, logAt(10)), "the flood resets nobody")
	assert.Equal(t, 2, g.Sweep(15, nil))
	assert.True(t, g.Take("two", 1, logAt(15)).Allowed)
	g.Reset("two")
	assert.True(t, g.Take("three", 1, logAt(15)).Allowed)
	assert.True(t, g.Take("four", 1, logAt(15)).Allowed)

	g.SetMaxKeys(1)
	assert.True(t, g.Take("four", 1, logAt(15)).Allowed, "a lower cap drops nobody")
	assert.Equal(t, full, g.Take("five", 1, logAt(15)))
	g.SetMaxKeys(-1)
	assert.True(t, g.Take("five", 1, logAt(15)).Allowed, "no cap")
}

// TestLogKeyThatDoesNotEqualItself: such keys must not fill the table.
func TestLogKeyThatDoesNotEqualItself(t *testing.T) {
	g := newFixedLogs[float64](1, 10)
	for range 3 {
		assert.Equal(t, allowedAs(0, 10), g.Take(math.NaN(), 1, logAt(0)))
	}
	assert.Zero(t, g.Len())
	g.SetMaxKeys(1)
	g.Take(1, 1, logAt(0))
	assert.Equal(t, 1, g.Len())
	assert.True(t, g.Take(math.NaN(), 1, logAt(0)).Allowed, "needs no room")
	assert.True(t, g.Peek(math.NaN(), 1, 0).Allowed)
}

func TestLogBytesStoresACopy(t *testing.T) {
	g := newFixedLogs[string](1, 10)
	key := []byte("key")
	require.True(t, takeFixedBytes(g, key, 1, logAt(0)).Allowed)
	require.False(t, takeFixedBytes(g, key, 1, logAt(0)).Allowed)
	copy(key, "yek")
	assert.False(t, g.Take("key", 1, logAt(0)).Allowed)
	assert.True(t, takeFixedBytes(g, key, 1, logAt(0)).Allowed)
	assert.True(t, takeFixedBytes(g, nil, 1, logAt(0)).Allowed)
	assert.False(t, g.Take("", 1, logAt(0)).Allowed)
}

// TestLogAllocations: nothing for keys that have a log with room, whatever the
// answer; nothing for a flood of new keys at the cap.
func TestLogAllocations(t *testing.T) {
	const limit, window = 100, 1000
	g, now := newFixedLogs[string](limit, window), int64(0)
	for range 4 * limit { // a ring with its full room and ends
		now += 7
		g.Take("key", 1, logAt(now))
		g.Take("key", 2, logAt(now))
	}
	g.SetMaxKeys(1)
	key, flood := []byte("key"), []byte(strings.Repeat("new", 50))
	clock := func() int64 { return now }
	cases := map[string]func(){
		"take":      func() { now += 5; g.Take("key", 1, clock) },
		"take at":   func() { now += 5; g.Take("key", 1, logAt(now)) },
		"several":   func() { now += 5; g.Take("key", 3, clock) },
		"denied":    func() { g.Take("key", limit, clock) },
		"never":     func() { g.Take("key", limit+1, clock) },
		"never new": func() { g.Take("new", limit+1, clock) },
		"peek":      func() { g.Peek("key", 5, now) },
		"peek new":  func() { g.Peek("new", 5, now) },
		"bytes":     func() { now += 5; takeFixedBytes(g, key, 1, clock) },
		"flood":     func() { takeFixedBytes(g, flood, 1, clock) },
	}
	for name, f := range cases {
		assert.Zero(t, testing.AllocsPerRun(300, f), name)
	}
	require.True(t, takeFixedBytes(g, flood, 1, clock).Full)
}

// TestLogMakeRoomLooksAtSome, and at no more of a large table than of a small one.
func TestLogMakeRoomLooksAtSome(t *testing.T) {
	g := newFixedLogs[int](1, 10)
	for key := range 1000 {
		g.Take(key, 1, logAt(0))
	}
	assert.False(t, g.MakeRoom(9, 100), "all of them count")
	assert.Equal(t, 1000, g.Len())
	for left := 900; left >= 0; left -= 100 {
		assert.True(t, g.MakeRoom(10, 100))
		assert.Equal(t, left, g.Len())
	}
	assert.False(t, g.MakeRoom(10, 100))
}
