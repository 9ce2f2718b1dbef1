package sharded

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMoveOutOfAKeyThatIsNotThere settles nothing, not before the clock and the leaf's floor.
func TestMoveOutOfAKeyThatIsNotThere(t *testing.T) {
	now := int64(0)
	table := NewTable(func() int64 { return now }, 0)
	law := table.Register(newBucket(t, 1, 1, 5))
	h, _ := NewHasher[int]()
	mustCharge(t, table, h.Key(1), law, 1)
	now = 100
	require.Equal(t, 1, table.Sweep())
	for clock, want := range map[int64]int64{50: 100, 150: 150} {
		now = clock
		require.True(t, table.MoveOut(h.Key(1), 0, func(used, at int64) {
			require.Zero(t, used)
			require.Equal(t, want, at)
		}))
	}
}

// TestStressMoveOutDuringRebuilds: a leaf that was replaced before its lock was taken holds no words
// any more, and must not be taken for one without the key.
func TestStressMoveOutDuringRebuilds(t *testing.T) {
	table := NewTable(func() int64 { return 0 }, 0)
	law := table.Register(newBucket(t, 1, time.Hour, 5))
	h, _ := NewHasher[int]()
	var stop atomic.Bool
	var rebuilder sync.WaitGroup
	rebuilder.Go(func() {
		for !stop.Load() {
			l := table.dir.Load().leafAt(0)
			l.mu.Lock()
			table.rebuild(l, 0, 0)
			l.mu.Unlock()
		}
	})
	defer rebuilder.Wait()
	defer stop.Store(true)
	for range 3000 {
		mustCharge(t, table, h.Key(1), law, 5)
		used := int64(-1)
		for !table.MoveOut(h.Key(1), 0, func(u, _ int64) { used = u }) { //nolint:revive // until it is done
		}
		require.EqualValues(t, 5, used)
		require.Zero(t, table.Len())
	}
}

// TestAKeyThatMovedInIsForgottenInTime: a leaf in which nothing could be forgotten before long takes in a key
// that owes less. When that one equals new, a new key at the cap gets its place.
func TestAKeyThatMovedInIsForgottenInTime(t *testing.T) {
	for _, used := range []int64{0, 1, 3} {
		now := int64(0)
		table, law := newTestTable(t, 2, func() int64 { return now })
		low, high := Key{Hash: 1}, func(i uint64) Key { return Key{Hash: math.MaxUint64 - i<<8} }
		mustCharge(t, table, low, law, 1)
		l := table.dir.Load().leafAt(0)
		l.mu.Lock()
		table.split(l, now)
		l.mu.Unlock()
		mustCharge(t, table, high(0), law, 5)
		_, _, full := charge(table, high(1), law, 1)
		require.True(t, full)
		outcome, _, _ := table.Insert(high(2), law, now, 0, func(int64) (int64, bool) { return used, true })
		require.Equal(t, Charged, outcome)
		checkInvariants(t, table)
		now = used * int64(time.Second)
		table.Reset(low)
		_, _, full = charge(table, Key{Hash: 2}, law, 1)
		require.True(t, full, "three keys were held, and two are")
		_, _, full = charge(table, high(3), law, 1)
		require.False(t, full, "the key that moved in with %d is new again", used)
		checkInvariants(t, table)
	}
}
