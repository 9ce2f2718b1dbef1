package sharded

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLogLimitChanges is the life of one key under changing limits.
func TestLogLimitChanges(t *testing.T) {
	small, large := LogLimit{Limit: 2, WindowNanos: 10}, LogLimit{Limit: 5, WindowNanos: 10}
	long := LogLimit{Limit: 5, WindowNanos: 100}
	type call struct {
		limit  LogLimit
		now, n int64
		want   LogDecision
	}
	cases := map[string][]call{
		"usage beyond a smaller limit stays": {
			{large, 0, 3, allowedAs(2, 10)},
			{large, 2, 2, allowedAs(0, 10)},
			{small, 4, 1, deniedAs(0, 8, 8)}, // 4 of the 5 must expire, those of 2 as well
			{small, 10, 2, deniedAs(0, 2, 2)},
			{small, 12, 2, allowedAs(0, 10)},
		},
		"forth and back mints nothing": {
			{large, 0, 5, allowedAs(0, 10)},
			{small, 0, 1, deniedAs(0, 10, 10)},
			{large, 0, 1, deniedAs(0, 10, 10)},
			{small, 9, 1, deniedAs(0, 1, 1)},
			{large, 9, 1, deniedAs(0, 1, 1)},
			{small, 10, 2, allowedAs(0, 10)},
			{large, 10, 3, allowedAs(0, 10)},
			{small, 10, 1, deniedAs(0, 10, 10)},
		},
		"a shorter window expires sooner": {
			{long, 0, 3, allowedAs(2, 100)},
			{large, 8, 3, deniedAs(2, 2, 2)},
			{large, 10, 5, allowedAs(0, 10)},
		},
		"a longer one later": {
			{large, 0, 5, allowedAs(0, 10)},
			{long, 9, 1, deniedAs(0, 91, 91)},
			{long, 99, 1, deniedAs(0, 1, 1)},
			{long, 100, 1, allowedAs(4, 100)},
		},
		"what had expired by the change stays so": {
			{large, 0, 2, allowedAs(3, 10)},
			{large, 5, 2, allowedAs(1, 10)},
			{long, 10, 4, deniedAs(3, 95, 95)}, // those of 0 are gone, though denied
			{large, 10, 4, deniedAs(3, 5, 5)},
			{long, 14, 3, allowedAs(0, 100)},
			{small, 15, 1, deniedAs(0, 9, 9)},
		},
		"a call that can never pass changes no limit": {
			{large, 0, 5, allowedAs(0, 10)},
			{LogLimit{Limit: 0, WindowNanos: 1}, 5, 1, deniedAs(0, LogNever, 0)},
			{LogLimit{Limit: 3, WindowNanos: 1}, 5, 4, deniedAs(3, LogNever, 0)},
			{large, 5, 1, deniedAs(0, 5, 5)},
		},
	}
	for name, calls := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewLogs[string]()
			for i, c := range calls {
				before := g.Peek("key", c.limit, c.n, c.now)
				got := withoutCharge(g.Take("key", c.limit, c.n, logAt(c.now)))
				require.Equal(t, c.want, got, "call %d", i)
				require.Equal(t, got.Allowed, before.Allowed, "call %d: peek", i)
				require.Equal(t, got.RetryAfterNanos, before.RetryAfterNanos, "call %d: peek", i)
			}
		})
	}
}

// TestLogSweepJudgesEachByItsOwnLimit: that of its last take.
func TestLogSweepJudgesEachByItsOwnLimit(t *testing.T) {
	short, long := LogLimit{Limit: 1, WindowNanos: 10}, LogLimit{Limit: 1, WindowNanos: 100}
	g := NewLogs[string]()
	g.Take("short", short, 1, logAt(0))
	g.Take("long", long, 1, logAt(0))
	g.Take("now long", short, 1, logAt(0))
	g.Take("now long", long, 1, logAt(1))
	g.Peek("short", long, 1, 1)
	assert.Equal(t, 1, g.Sweep(10, nil))
	assert.False(t, g.Has("short"))
	assert.Zero(t, g.Sweep(99, nil))
	assert.Equal(t, 2, g.Sweep(100, nil))
}

func TestLogEvacuateAndSettle(t *testing.T) {
	small, large := LogLimit{Limit: 2, WindowNanos: 10}, LogLimit{Limit: 5, WindowNanos: 10}
	g := NewLogs[string]()
	used, ok := g.Evacuate("key", 0)
	assert.Equal(t, []any{int64(0), false}, []any{used, ok})

	g.Take("key", large, 2, logAt(0))
	g.Take("key", large, 3, logAt(5))
	used, ok = g.Evacuate("key", 10)
	assert.Equal(t, []any{int64(3), true}, []any{used, ok}, "those of 0 have expired")
	assert.Zero(t, g.Len())
	assert.False(t, g.Has("key"))
	_, ok = g.TakeExisting("key", large, 1, func() int64 { panic("the clock of a key without a log") })
	assert.False(t, ok)

	assert.Equal(t, deniedAs(0, 10, 10), g.Settle("key", small, 3, 1, 0), "starts when it was evacuated")
	assert.True(t, g.Has("key"), "denied, but it owes")
	assert.EqualValues(t, 1, g.Peek("key", small, 1, 19).RetryAfterNanos)
	d, ok := g.TakeExisting("key", large, 2, logAt(12))
	assert.Equal(t, []any{allowedAs(0, 10), true}, []any{withoutCharge(d), ok})
	assert.Equal(t, deniedAs(0, 10, 10), g.Settle("key", large, 4, 1, 12), "it owes the more if it has a log")
	used, _ = g.Evacuate("key", 0)
	assert.EqualValues(t, 9, used)

	assert.Equal(t, int64(12), g.Settle("new", small, 0, 1, 3).AtNanos, "without usage it is a take")
	for _, n := range []int64{-1, 0, 3} {
		g.Settle("nothing", small, 0, n, 3)
		g.Settle("nothing", small, -5, n, 3)
	}
	assert.False(t, g.Has("nothing"))
	for _, n := range []int64{-1, 0, 3} {
		d := g.Settle("owes", small, 1, n, 20)
		assert.Equal(t, n == 0, d.Allowed)
		assert.Zero(t, d.Generation)
	}
	assert.Equal(t, deniedAs(0, 10, 10), g.Peek("owes", small, 2, 20))
}

// TestLogSettleExtremes: usage as large as an int64, and more; no limit at all.
func TestLogSettleExtremes(t *testing.T) {
	none, most := LogLimit{WindowNanos: 10}, LogLimit{Limit: math.MaxInt64, WindowNanos: 10}
	g := NewLogs[string]()
	assert.Equal(t, deniedAs(0, LogNever, 10), g.Settle("key", none, math.MaxInt64, 1, 0))
	assert.Equal(t, deniedAs(0, 10, 10), g.Settle("key", most, math.MaxInt64, 1, 0))
	assert.Equal(t, deniedAs(0, 8, 8), g.Settle("key", most, math.MaxInt64, 1, 2))
	used, _ := g.Evacuate("key", 9)
	assert.Equal(t, int64(math.MaxInt64), used)
	g.Settle("key", most, 5, 0, 9)
	assert.Equal(t, deniedAs(0, 10, 10), g.Settle("key", most, math.MaxInt64, 1, 9), "5 more than can be counted")
	used, _ = g.Evacuate("key", 9)
	assert.Equal(t, int64(math.MaxInt64), used)
	g.Settle("key", most, 5, math.MaxInt64-5, 10)
	assert.Equal(t, allowedAs(0, 10), withoutCharge(g.Settle("key", most, math.MaxInt64, 0, 20)), "those of 10 have expired")
	assert.Equal(t, deniedAs(0, LogNever, 0), NewLogs[float64]().Settle(math.NaN(), LogLimit{}, 0, 1, 0))
	nan := NewLogs[float64]()
	assert.False(t, nan.Settle(math.NaN(), most, math.MaxInt64, 1, 0).Allowed)
	assert.Zero(t, nan.Len())
}

// TestLogCapAndMoves: a key that moves in with usage gets its log at the cap and
// counts; one without does not.
func TestLogCapAndMoves(t *testing.T) {
	limit := LogLimit{Limit: 5, WindowNanos: 10}
	g := NewLogs[string]()
	g.SetMaxKeys(1)
	g.Take("one", limit, 1, logAt(0))
	assert.Equal(t, LogDecision{Full: true}, g.Settle("two", limit, 0, 1, 0))
	assert.True(t, g.Settle("two", limit, 1, 1, 0).Allowed)
	assert.False(t, g.Settle("three", limit, 9, 1, 0).Allowed)
	assert.Equal(t, 3, g.Len())
	assert.Equal(t, LogDecision{Full: true}, g.Take("four", limit, 1, logAt(0)))
	g.Reset("one")
	_, ok := g.Evacuate("two", 0)
	assert.True(t, ok)
	assert.Equal(t, 1, g.Len())
	assert.Equal(t, LogDecision{Full: true}, g.Take("four", limit, 1, logAt(0)))
	g.Evacuate("three", 0)
	assert.True(t, g.Take("four", limit, 1, logAt(0)).Allowed)
	assert.Equal(t, 1, g.Len())
}

// TestLogDiesUnderATake: the log is found, and moved or dropped while the clock
// is read. The take finds nothing any more, or begins a new log.
func TestLogDiesUnderATake(t *testing.T) {
	limit := LogLimit{Limit: 2, WindowNanos: 10}
	ends := map[string]func(g *Logs[string], now int64){
		"evacuate": func(g *Logs[string], now int64) { g.Evacuate("key", now) },
		"reset":    func(g *Logs[string], _ int64) { g.Reset("key") },
		"sweep":    func(g *Logs[string], now int64) { g.Sweep(now, nil) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			g, now := NewLogs[string](), int64(0)
			ending := func() int64 { now += 10; end(g, now); return now }
			for _, n := range []int64{1, 0, 3} {
				g.Take("key", limit, 2, logAt(now))
				_, found := g.TakeExisting("key", limit, n, ending)
				assert.False(t, found)
				assert.False(t, g.Has("key"))
			}
			g.Take("key", limit, 2, logAt(now))
			_, found := TakeExistingLogBytes(g, []byte("key"), limit, 1, ending)
			assert.False(t, found)
			g.Take("key", limit, 2, logAt(now))
			assert.Equal(t, allowedAs(1, 10), withoutCharge(g.Take("key", limit, 1, ending)))
			d, found := TakeExistingLogBytes(g, []byte("key"), limit, 1, logAt(now))
			assert.True(t, found)
			assert.Equal(t, allowedAs(0, 10), withoutCharge(d))
		})
	}
}

// TestLogMemoryUnderChangingLimits: room for the largest limit seen or for what
// is carried, and a sweep gives it back.
func TestLogMemoryUnderChangingLimits(t *testing.T) {
	large, small := LogLimit{Limit: 1000, WindowNanos: 1000}, LogLimit{Limit: 10, WindowNanos: 1000}
	g := NewLogs[string]()
	for i := range int64(20_000) {
		g.Take("key", []LogLimit{large, small}[i/100%2], 1, logAt(i))
		r, _ := g.rings.Load("key")
		require.LessOrEqual(t, len(r.stamps), 1000)
	}
	for i := range int64(1000) {
		g.Take("key", large, 1, logAt(30_000+i))
	}
	r, _ := g.rings.Load("key")
	require.Len(t, r.stamps, 1000)
	for i := range int64(1000) {
		g.Take("key", small, 1, logAt(31_000+i))
	}
	require.Zero(t, g.Sweep(32_000, nil))
	assert.Len(t, r.stamps, logRingKeepEntries/2)

	g.Settle("moved", small, 1<<40, 1, 0)
	r, _ = g.rings.Load("moved")
	assert.Len(t, r.stamps, 2, "one entry for all that was carried")
	none := LogLimit{WindowNanos: 1000}
	for i := range int64(20) { // more entries than the limit, one at a time
		g.Settle("again", none, 1, 1, 40_000+i)
	}
	r, _ = g.rings.Load("again")
	assert.Equal(t, []int{20, 20}, []int{r.size, len(r.stamps)})
}

// TestLogAllocationsUnderChangingLimits: nothing for keys that have a log.
func TestLogAllocationsUnderChangingLimits(t *testing.T) {
	limits := []LogLimit{{100, 1000}, {10, 5000}, {300, 200}}
	g, now, i := NewLogs[string](), int64(0), 0
	limit := func() LogLimit { i++; return limits[i%len(limits)] }
	clock := func() int64 { return now }
	step := func() { now += 5; g.Take("key", limit(), 2, clock) }
	for range 5000 {
		step()
	}
	key := []byte("key")
	cases := map[string]func(){
		"flip":           step,
		"flip and peek":  func() { g.Peek("key", limit(), 2, now) },
		"existing":       func() { now += 5; g.TakeExisting("key", limit(), 2, clock) },
		"existing bytes": func() { now += 5; TakeExistingLogBytes(g, key, limit(), 1, clock) },
		"missing":        func() { g.TakeExisting("other", limit(), 2, clock) },
		"has":            func() { g.Has("key") },
		"refund": func() {
			now += 5
			d := g.Take("key", limits[2], 1, clock)
			g.Refund("key", d.Generation, d.AtNanos, 1, now)
		},
	}
	for name, f := range cases {
		assert.Zero(t, testing.AllocsPerRun(300, f), name)
	}
}
