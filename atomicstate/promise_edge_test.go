package atomicstate_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/atomicstate"
)

// TestPromisesMoveToAShorterIndex: a window to come that the new word cannot tell is not forgotten.
func TestPromisesMoveToAShorterIndex(t *testing.T) {
	small, err := atomicstate.NewSlidingWindow(100, time.Second)
	require.NoError(t, err)
	large, err := atomicstate.NewSlidingWindow(1<<25, time.Second)
	require.NoError(t, err)
	word := small.Fresh(0)
	for range 200 {
		next, _, ok := small.Reserve(word, 0, 100)
		require.True(t, ok)
		word = next
	}
	owed := small.Usage(word, 0).Permits()
	moved := atomicstate.Convert(small, word, large, 0)
	require.Equal(t, owed, large.Usage(moved, 0).Permits())
}

// TestReserveInAWindowOfAnAge: waits beyond the range are cut, not wrapped.
func TestReserveInAWindowOfAnAge(t *testing.T) {
	f, err := atomicstate.NewFixedWindow(1, math.MaxInt64)
	require.NoError(t, err)
	word, ok := f.Take(f.Fresh(-100), -100, 1)
	require.True(t, ok)
	word, wait, ok := f.Reserve(word, -100, 1)
	require.True(t, ok)
	require.EqualValues(t, 100, wait)
	_, wait, ok = f.Reserve(word, -100, 1)
	require.False(t, ok)
	require.Equal(t, int64(math.MaxInt64), wait)
}

// TestLeavingAQueueOfManyANanosecond: turns are whole nanoseconds; the one behind is still behind.
func TestLeavingAQueueOfManyANanosecond(t *testing.T) {
	q, err := atomicstate.NewLeakyQueue(3, 2, 8)
	require.NoError(t, err)
	word, ok := q.Take(q.Fresh(0), 0, 5) // leaves at 3.33
	require.True(t, ok)
	word, turn, ok := q.Reserve(word, 0, 2) // 3.33 to 4.67
	require.True(t, ok)
	word, behind, ok := q.Reserve(word, 0, 1) // from 4.67 on
	require.True(t, ok)
	require.EqualValues(t, 4, turn)
	require.EqualValues(t, 5, behind)
	_, ok = q.Refund(word, atomicstate.Act{At: turn, N: 2}, 0, 2, nil)
	require.False(t, ok, "it is not the last")
}
