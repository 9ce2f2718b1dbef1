package sharded

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/sched"
	"github.com/stretchr/testify/require"
)

// TestInsertIsNotBeforeTheClock under the leaf's lock, whatever the caller read before.
func TestInsertIsNotBeforeTheClock(t *testing.T) {
	now := int64(0)
	table, law := newTestTable(t, 0, func() int64 { return now })
	h, _ := NewHasher[int]()
	mustCharge(t, table, h.Key(1), law, 1)
	now = 100
	outcome, _, at := table.Insert(h.Key(2), law, 5, 1, nil)
	require.Equal(t, Charged, outcome)
	require.EqualValues(t, 100, at)
}

// TestATakeDuringARebuildIsKept: takes fall between all steps of a rebuild, of keys that equal
// new before them.
func TestATakeDuringARebuildIsKept(t *testing.T) {
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	law := table.Register(newBucket(t, 1, 10, slow))
	h, _ := NewHasher[int]()
	const keys = 20
	var words [keys]*sched.Uint64
	for i := range keys {
		mustCharge(t, table, h.Key(i), law, 1)
		words[i], _ = table.Find(h.Key(i), law)
	}
	now = 10 // every key equals new
	var kept [keys]int64
	table.pause = func() {
		for i, word := range words {
			if value := word.Load(); atomicstate.IsLive(value) {
				next, ok := table.law(law).Take(value, now, 1)
				require.True(t, ok)
				require.True(t, word.CompareAndSwap(value, next))
				kept[i]++
			}
		}
	}
	require.Equal(t, 1, table.Sweep(), "all but the first were taken from before they were frozen")
	for i := range keys {
		owed := int64(0)
		if word, law, ok := table.Lookup(h.Key(i)); ok {
			owed = int64(law.Usage(word, now).Units / 10)
		}
		require.Equal(t, kept[i], owed)
	}
}

// TestFloorSurvivesSplitsAndMerges: what a leaf forgot holds for all that come after it.
func TestFloorSurvivesSplitsAndMerges(t *testing.T) {
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	law := table.Register(newBucket(t, 1, time.Second, 5))
	h, _ := NewHasher[int]()
	mustCharge(t, table, h.Key(-1), law, 1)
	now = int64(time.Minute)
	require.Equal(t, 1, table.Sweep())
	for i := range 4 * SlotsPerLeaf {
		mustCharge(t, table, h.Key(i), law, 1)
	}
	require.Positive(t, table.Counters().Splits)
	requireFloor(t, table, law, &now, 10_000)
	now = int64(time.Hour)
	require.Positive(t, table.Sweep())
	require.Positive(t, table.Counters().Merges)
	requireFloor(t, table, law, &now, 20_000)
}

// requireFloor charges new keys, one in every leaf at least, on a clock that lags.
func requireFloor(t *testing.T, table *Table, law uint32, now *int64, first int) {
	t.Helper()
	h, _ := NewHasher[int]()
	floor := *now
	*now -= int64(time.Second)
	for i := range 100 {
		ok, at, _ := charge(table, h.Key(first+i), law, 1)
		require.True(t, ok)
		require.Equal(t, floor, at)
	}
	*now = floor
}

// TestInsertOfAKeyThatIsThere starts again: somebody else was first.
func TestInsertOfAKeyThatIsThere(t *testing.T) {
	table, law := newTestTable(t, 0, func() int64 { return 0 })
	h, _ := NewHasher[int]()
	mustCharge(t, table, h.Key(1), law, 1)
	outcome, _, _ := table.Insert(h.Key(1), law, 0, 1, nil)
	require.Equal(t, Retry, outcome)
	require.Equal(t, 1, table.Len())
	checkInvariants(t, table)
}

// TestConversionReadsTheClockAfterTheSwap: a take between the two is either in what is carried,
// at a time not before its own, or does not happen.
func TestConversionReadsTheClockAfterTheSwap(t *testing.T) {
	const late = 900
	now, read := int64(0), func() {}
	table := NewTable(func() int64 { read(); return now }, 0)
	law := table.Register(newBucket(t, 1, 1000, 5))
	fast := table.Register(newBucket(t, 1, 1, 5))
	h, _ := NewHasher[int]()
	k := h.Key(1)
	mustCharge(t, table, k, law, 1)
	word, value := table.Find(k, law)
	kept := int64(0)
	read = func() { // while the conversion reads its clock, another processor takes at a later time
		read = func() {}
		if next, ok := table.law(law).Take(value, late, 4); ok && word.CompareAndSwap(value, next) {
			kept += 4
		}
	}
	table.Insert(k, fast, 0, 1, nil)
	now = late
	for range 6 {
		if ok, _, _ := charge(table, k, fast, 1); ok {
			kept++
		}
	}
	require.EqualValues(t, 5, kept)
}

// TestNothingIsGivenBackOfAChargeThatWasReset: a charge between a reset's look at the word and its
// swap is reset away, so its receipt is worth nothing.
func TestNothingIsGivenBackOfAChargeThatWasReset(t *testing.T) {
	read := func() {}
	table := NewTable(func() int64 { read(); return 0 }, 0)
	law := table.Register(newBucket(t, 1, time.Hour, 5))
	h, _ := NewHasher[int]()
	k := h.Key(1)
	mustCharge(t, table, k, law, 1)
	var epoch uint64
	read = func() { // while the reset reads its clock, another processor takes
		read = func() {}
		epoch = table.Epoch()
		mustCharge(t, table, k, law, 2)
	}
	require.True(t, table.Reset(k))
	mustCharge(t, table, k, law, 5)
	require.False(t, table.Refund(k, law, atomicstate.Act{N: 2}, 2, epoch), "the reset came later: 7 would pass at once")
}

// TestRefundOfAChargeThatMovedIn: a charge made while its key comes from elsewhere is given back.
func TestRefundOfAChargeThatMovedIn(t *testing.T) {
	table := NewTable(func() int64 { return 0 }, 0)
	law := table.Register(newBucket(t, 1, time.Hour, 5))
	h, _ := NewHasher[int]()
	k := h.Key(1)
	table.CatchUp(0)
	move := func(used int64) Move { return func(int64) (int64, bool) { return used, true } }
	epoch := table.Epoch()
	outcome, _, _ := table.Insert(k, law, 0, 2, move(3))
	require.Equal(t, Charged, outcome)
	require.True(t, table.Refund(k, law, atomicstate.Act{N: 2}, 2, epoch))
	word, _, _ := table.Lookup(k)
	require.EqualValues(t, 3, table.law(law).Usage(word, 0).Permits())

	epoch = table.Epoch()
	require.True(t, table.MoveOut(k, 0, func(used, _ int64) { require.EqualValues(t, 3, used) }))
	outcome, _, _ = table.Insert(k, law, 0, 1, move(3))
	require.Equal(t, Charged, outcome)
	require.False(t, table.Refund(k, law, atomicstate.Act{N: 1}, 1, epoch), "what the other home gave back is not given back again")
}
