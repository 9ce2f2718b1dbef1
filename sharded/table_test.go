package sharded

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/stretchr/testify/require"
)

const slow = 1_000_000_000 // burst of a bucket that a test cannot drain

func newTestTable(t *testing.T, maxKeys int64, clock func() int64) (*Table, uint32) {
	t.Helper()
	table := NewTable(clock, maxKeys)
	law := table.Register(newBucket(t, 1, time.Second, slow))
	return table, law
}

func newBucket(t *testing.T, tokens int64, per time.Duration, burst int64) *atomicstate.Bucket {
	t.Helper()
	b, err := atomicstate.NewBucket(tokens, per, burst)
	require.NoError(t, err)
	return b
}

// charge is a caller's way of a call: it is what package engine does.
func charge(table *Table, k Key, limit uint32, n int64) (ok bool, at int64, full bool) {
	for {
		word, value := table.Find(k, limit)
		if value == atomicstate.Moved {
			word, value = table.Follow(k, limit)
		}
		now := table.clock()
		switch {
		case now >= table.SweepDue():
			table.CatchUp(now)
		case value == atomicstate.Moved: // again
		case !atomicstate.IsLive(value):
			switch outcome, _, at := table.Insert(k, limit, now, n, nil); outcome {
			case Charged, Denied:
				return outcome == Charged, at, false
			case Full:
				return false, now, true
			}
		default:
			next, ok := table.law(limit).Take(value, now, n)
			if !ok {
				return false, now, false
			}
			if word.CompareAndSwap(value, next) {
				return true, now, false
			}
		}
	}
}

func mustCharge(t *testing.T, table *Table, k Key, limit uint32, n int64) {
	t.Helper()
	ok, _, _ := charge(table, k, limit, n)
	require.True(t, ok)
}

// TestTableEqualsMap runs random calls against a plain map of rational buckets: takes, resets,
// sweeps, a clock that moves by fits and starts. Decisions must agree, and so must the set of
// keys once everything that equals new was forgotten.
func TestTableEqualsMap(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(seed, 77))
		now := rnd.Int64() >> 2
		table := NewTable(func() int64 { return now }, 0)
		law := table.Register(newBucket(t, 3, time.Second, 5))
		h, _ := NewHasher[int]()
		model := oracle.NewKeyed[int](func() oracle.Model { return oracle.NewTokenBucket(3, time.Second, 5) })
		keys := 1 + rnd.IntN(3000)
		for range 30000 {
			key := rnd.IntN(keys)
			switch r := rnd.IntN(1000); {
			case r < 2:
				table.Sweep()
				require.Equal(t, model.Len(now), table.Len())
			case r < 10:
				table.Reset(h.Key(key))
				model.Reset(key)
			case r < 30:
				table.SweepStep()
			case r < 400:
				now += rnd.Int64N(int64(time.Second) / int64(keys))
			case r == 400:
				now += int64(time.Hour)
			}
			n := 1 + rnd.Int64N(6)
			want, _ := model.Take(key, now, n)
			got, _, _ := charge(table, h.Key(key), law, n)
			require.Equal(t, want, got)
		}
		checkInvariants(t, table)
		now += int64(time.Hour)
		table.Sweep()
		require.Zero(t, table.Len())
		table.Sweep()
		require.Equal(t, 1, countLeaves(table), "merges bring the table back to one leaf")
		require.Len(t, table.dir.Load().leaves, 1, "and the directory to one entry")
		checkInvariants(t, table)
	}
}

func TestDeniedNewKeyMakesNoSlot(t *testing.T) {
	table := NewTable(func() int64 { return 0 }, 0)
	law := table.Register(newBucket(t, 1, time.Second, 5))
	h, _ := NewHasher[string]()
	ok, _, _ := charge(table, h.Key("a"), law, 6)
	require.False(t, ok)
	require.Zero(t, table.Len())
	require.False(t, table.Reset(h.Key("a")))
	_, _, known := table.Lookup(h.Key("a"))
	require.False(t, known)
}

// TestNothingOwedIsDropped: whatever sweeps and growth do, a key that owes stays.
func TestNothingOwedIsDropped(t *testing.T) {
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	slowLaw := table.Register(newBucket(t, 0, time.Second, 1))
	fast := table.Register(newBucket(t, 1, 1, 1))
	h, _ := NewHasher[int]()
	for i := range 2000 {
		mustCharge(t, table, h.Key(i), slowLaw, 1)
	}
	for i := range 50000 {
		now += 2
		mustCharge(t, table, h.Key(10000+i), fast, 1)
		if i%1000 == 0 {
			table.Sweep()
		}
	}
	checkInvariants(t, table)
	for i := range 2000 {
		ok, _, _ := charge(table, h.Key(i), slowLaw, 1)
		require.False(t, ok, "key %d was reset", i)
	}
	require.Positive(t, table.Counters().Drops)
}

// TestFloodIsForgottenOnGrowth: without any sweep a leaf that fills forgets what equals new
// before it splits, so a flood of short-lived keys does not grow the table.
func TestFloodIsForgottenOnGrowth(t *testing.T) {
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	law := table.Register(newBucket(t, 1, 1000, 1))
	h, _ := NewHasher[int]()
	for i := range 200000 {
		now += 10 // a key is new again after 100 more
		mustCharge(t, table, h.Key(i), law, 1)
	}
	require.LessOrEqual(t, countLeaves(table), 4)
	checkInvariants(t, table)
}

func TestCapIsExactAndNeverDropsWhatOwes(t *testing.T) {
	now := int64(0)
	const most = 1000
	table, law := newTestTable(t, most, func() int64 { return now })
	h, _ := NewHasher[int]()
	full := 0
	for i := range 5000 {
		if _, _, beyond := charge(table, h.Key(i), law, 1); beyond {
			full++
		}
		require.LessOrEqual(t, table.Len(), most)
	}
	require.Equal(t, most, table.Len())
	require.Equal(t, 4000, full)
	require.False(t, table.HasRoom(h.Key(5000), now))
	mustCharge(t, table, Overflow, law, 1)
	require.Equal(t, most, table.Len(), "the overflow bucket is not counted")
	now += int64(time.Second) // one token: every key equals new
	mustCharge(t, table, h.Key(9999), law, 1)
	require.LessOrEqual(t, table.Len(), most)
	checkInvariants(t, table)
}

// TestFloodAtTheCapDoesNotScan: while nothing can have become new, a new key is refused
// without a look at the leaf and without a rebuild.
func TestFloodAtTheCapDoesNotScan(t *testing.T) {
	now := int64(0)
	table, law := newTestTable(t, 10, func() int64 { return now })
	h, _ := NewHasher[int]()
	for i := range 10 {
		mustCharge(t, table, h.Key(i), law, 1)
	}
	for i := range 1000 {
		_, _, full := charge(table, h.Key(100+i), law, 1)
		require.True(t, full)
	}
	require.Zero(t, table.Counters().Rebuilds)
	l := table.dir.Load().leafAt(0)
	require.Equal(t, int64(time.Second), l.retryForget, "the time at which the first key is new again")
}

// TestConversionKeepsUsage in both directions, beyond the new capacity, with one live slot.
func TestConversionKeepsUsage(t *testing.T) {
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	large := table.Register(newBucket(t, 1, time.Second, 5))
	small := table.Register(newBucket(t, 1, time.Minute, 1))
	h, _ := NewHasher[string]()
	k := h.Key("a")
	mustCharge(t, table, k, large, 4)
	for range 10 {
		ok, _, _ := charge(table, k, small, 1)
		require.False(t, ok, "owes 4 with a burst of 1")
		checkInvariants(t, table)
		ok, _, _ = charge(table, k, large, 2)
		require.False(t, ok, "4 of 5 are owed, whatever limits came between")
		checkInvariants(t, table)
	}
	mustCharge(t, table, k, large, 1)
	require.EqualValues(t, 20, table.Counters().Conversions)
	require.Equal(t, 1, table.Len())
}

// TestConversionInAFullLeaf makes room first.
func TestConversionInAFullLeaf(t *testing.T) {
	table, law := newTestTable(t, 0, func() int64 { return 0 })
	other := table.Register(newBucket(t, 1, time.Minute, 7))
	h, _ := NewHasher[int]()
	for i := range roomyUsed {
		mustCharge(t, table, h.Key(i), law, 5)
	}
	for i := range roomyUsed {
		mustCharge(t, table, h.Key(i), other, 2)
		ok, _, _ := charge(table, h.Key(i), other, 1)
		require.False(t, ok)
	}
	require.Equal(t, roomyUsed, table.Len())
	checkInvariants(t, table)
}

// TestRefundOfAForgottenOrConvertedKey gives nothing.
func TestRefundOfAForgottenOrConvertedKey(t *testing.T) {
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	law := table.Register(newBucket(t, 1, 10, 2))
	other := table.Register(newBucket(t, 1, 20, 2))
	h, _ := NewHasher[string]()
	require.False(t, table.Refund(h.Key("unknown"), law, atomicstate.Act{N: 1}, 1, table.Epoch()))
	mustCharge(t, table, h.Key("a"), law, 1)
	require.True(t, table.Refund(h.Key("a"), law, atomicstate.Act{N: 1}, 1, table.Epoch()))
	require.False(t, table.Refund(h.Key("a"), law, atomicstate.Act{N: 1}, 1, table.Epoch()), "nothing is owed any more")
	mustCharge(t, table, h.Key("b"), law, 1)
	mustCharge(t, table, h.Key("b"), other, 1)
	require.False(t, table.Refund(h.Key("b"), law, atomicstate.Act{N: 1}, 1, table.Epoch()))
	now = 1000
	table.Sweep()
	require.False(t, table.Refund(h.Key("a"), law, atomicstate.Act{N: 1}, 1, table.Epoch()))
}

// TestFloorHoldsANewKeyBack: a key that was forgotten at one time and comes back with an
// earlier clock is charged at the time of forgetting.
func TestFloorHoldsANewKeyBack(t *testing.T) {
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	law := table.Register(newBucket(t, 1, 10, 1))
	h, _ := NewHasher[string]()
	mustCharge(t, table, h.Key("a"), law, 1)
	now = 100
	require.Equal(t, 1, table.Sweep())
	now = 5 // a processor whose clock lags
	ok, at, _ := charge(table, h.Key("a"), law, 1)
	require.True(t, ok)
	require.EqualValues(t, 100, at)
	now = 105
	ok, _, _ = charge(table, h.Key("a"), law, 1)
	require.False(t, ok, "5 ns after the last one")
}

// TestLeaps: whatever leaps time makes, also beyond every horizon, decisions are those of the
// oracle, for the fastest rate and for slow ones.
func TestLeaps(t *testing.T) {
	for _, l := range []struct {
		tokens int64
		per    time.Duration
		burst  int64
	}{{1 << 26, 1, 1 << 30}, {13107, 200000, 65535}, {1, time.Hour, 10}, {67108863, time.Second, 1 << 29}} {
		rnd := rand.New(rand.NewPCG(4, uint64(l.tokens)))
		now := int64(math.MinInt64)
		table := NewTable(func() int64 { return now }, 0)
		law := table.Register(newBucket(t, l.tokens, l.per, l.burst))
		h, _ := NewHasher[int]()
		model := oracle.NewKeyed[int](func() oracle.Model { return oracle.NewTokenBucket(l.tokens, l.per, l.burst) })
		for i := range 4000 {
			gap := rnd.Int64() >> rnd.IntN(63)
			if rnd.IntN(3) == 0 {
				gap = 0
			}
			if now >= math.MaxInt64-1-gap {
				gap = 0
			}
			now += gap
			key, n := rnd.IntN(5), 1+rnd.Int64N(l.burst)>>rnd.IntN(20)
			want, _ := model.Take(key, now, n)
			got, _, _ := charge(table, h.Key(key), law, n)
			require.Equalf(t, want, got, "call %d at %d, n %d, rate %d/%v", i, now, n, l.tokens, l.per)
			if rnd.IntN(100) == 0 {
				table.SweepStep()
			}
		}
		checkInvariants(t, table)
	}
}
