package sharded

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leaper is a clock that stands at 0 for so many readings and then leaps.
type leaper struct{ readings, leap int64 }

func (c *leaper) now() int64 {
	if c.readings--; c.readings < 0 {
		return c.leap
	}
	return 0
}

// TestNeverOverAdmitWhenTimeLeapsInsideInsert: time leaps beyond the horizon after a caller
// looked whether a sweep is due and before the new key's time is read. The sweep that follows
// reads words where the last one left off and must not meet this one.
func TestNeverOverAdmitWhenTimeLeapsInsideInsert(t *testing.T) {
	for stand := range int64(8) {
		const leap = int64(100 * time.Hour)
		clock := &leaper{readings: 1 << 40}
		table := NewTable(clock.now, 0)
		law := table.Register(newBucket(t, 1<<26, 1, 5))
		h, _ := NewHasher[int]()
		mustCharge(t, table, h.Key(-1), law, 1)
		clock.readings, clock.leap = stand, leap
		admitted := 0
		for range 12 {
			ok, at, _ := charge(table, h.Key(1), law, 1)
			if ok && (at == leap || at == 0 && clock.readings < 0) {
				admitted++
			}
		}
		require.LessOrEqual(t, admitted, 5, "stand %d", stand)
	}
}

// TestUsageSurvivesChangeWhenTimeLeapsInsideConvert is the same for a key whose limit changes.
func TestUsageSurvivesChangeWhenTimeLeapsInsideConvert(t *testing.T) {
	for stand := range int64(8) {
		const leap = int64(100 * time.Hour)
		clock := &leaper{readings: 1 << 40}
		table := NewTable(clock.now, 0)
		law := table.Register(newBucket(t, 1<<26, 1, 5))
		other := table.Register(newBucket(t, 1<<25, 1, 5))
		h, _ := NewHasher[int]()
		mustCharge(t, table, h.Key(1), law, 5)
		clock.readings, clock.leap = stand, leap
		admitted := 0
		for range 12 {
			if ok, _, _ := charge(table, h.Key(1), other, 1); ok {
				admitted++
			}
		}
		require.Equal(t, 5, admitted, "stand %d", stand)
		checkInvariants(t, table)
	}
}

// TestSweepComesBackToALeafThatWasReplaced: a leaf that is replaced between the sweep's look
// and its lock must be judged all the same, or its words stay from before a leap.
func TestSweepComesBackToALeafThatWasReplaced(t *testing.T) {
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	law := table.Register(newBucket(t, 1<<26, 1, 5))
	h, _ := NewHasher[int]()
	for i := range roomyUsed {
		mustCharge(t, table, h.Key(i), law, 5)
	}
	l := table.dir.Load().leafAt(0)
	l.mu.Lock()
	swept := make(chan int)
	go func() { swept <- table.sweepAllForTest(int64(100 * time.Hour)) }()
	for range 10000 { // lets the sweep look and wait for the leaf; if it has not, the test is easier, not wrong
		runtime.Gosched()
	}
	table.split(l, 0)
	l.mu.Unlock()
	require.Equal(t, roomyUsed, <-swept)
	require.Zero(t, table.Len())
}

func (t *Table) sweepAllForTest(now int64) int {
	t.sweep.mu.Lock()
	defer t.sweep.mu.Unlock()
	return t.sweepAll(now)
}

// TestUsageSurvivesMoveWhenTimeLeapsInsideMoveOut is the same for a key that leaves for a log: its
// word cannot be read at a time beyond its horizon.
func TestUsageSurvivesMoveWhenTimeLeapsInsideMoveOut(t *testing.T) {
	const leap = int64(40 * time.Second) // at which a word of this law, whole again, reads as a debt
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	law := table.Register(newBucket(t, 1<<26, 1, 5))
	h, _ := NewHasher[int]()
	mustCharge(t, table, h.Key(1), law, 5)
	now = leap
	require.False(t, table.MoveOut(h.Key(1), 0, func(used, _ int64) { t.Errorf("moved, with %d used", used) }))
	require.GreaterOrEqual(t, now, table.SweepDue(), "the caller sees that a sweep comes first")
	epoch := table.Epoch()
	table.CatchUp(now)
	require.True(t, table.MoveOut(h.Key(1), now, func(used, _ int64) { require.Zero(t, used) }))
	require.Equal(t, epoch, table.Epoch(), "nothing moved")
	require.Zero(t, table.Len())
}

// TestAnInsertThatLeaptDoesNothing, for a new key, in a full leaf too, and for a limit that changes.
func TestAnInsertThatLeaptDoesNothing(t *testing.T) {
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	law := table.Register(newBucket(t, 1<<26, 1, 1<<30))
	other := table.Register(newBucket(t, 1<<25, 1, 5))
	h, _ := NewHasher[int]()
	for keys := range roomyUsed {
		now += int64(time.Minute)
		word, before := table.Find(h.Key(0), law)
		for key, limit := range []uint32{other, law} {
			if key == 1 {
				key = -1
			} else if keys == 0 {
				continue
			}
			outcome, _, at := table.Insert(h.Key(key), limit, math.MinInt64, 1, nil)
			require.Equal(t, Leapt, outcome)
			require.Equal(t, now, at)
		}
		require.Equal(t, keys, table.Len())
		if keys > 0 {
			require.Equal(t, before, word.Load())
		}
		table.CatchUp(now)
		require.Zero(t, table.Len())
		for key := range keys + 1 {
			mustCharge(t, table, h.Key(key), law, 1)
		}
	}
	require.Zero(t, table.Counters().Splits, "the leaf was never more than full")
}
