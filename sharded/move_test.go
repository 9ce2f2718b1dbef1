package sharded

import (
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
