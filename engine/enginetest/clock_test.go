package enginetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
)

var _ engine.Waker = (*Clock)(nil)

func TestAfterFuncCallsInOrderOfTime(t *testing.T) {
	c := NewClock()
	var called []int
	for i, d := range []time.Duration{3, 1, 2, 1, 9} {
		c.AfterFunc(d, func() { called = append(called, i) })
	}
	next, ok := c.Next()
	require.True(t, ok)
	require.EqualValues(t, 1, next)
	c.Advance(3)
	require.Equal(t, []int{1, 3, 2, 0}, called)
	require.Equal(t, 1, c.Waiting())
	c.Set(-5)
	c.Set(8)
	require.Len(t, called, 4)
	c.Set(9)
	require.Equal(t, []int{1, 3, 2, 0, 4}, called)
	_, ok = c.Next()
	require.False(t, ok)
}

func TestAfterFuncStop(t *testing.T) {
	c := NewClock()
	calls := 0
	stop := c.AfterFunc(2, func() { calls++ })
	other := c.AfterFunc(1, func() { calls += 10 })
	require.True(t, stop())
	require.False(t, stop())
	c.Advance(5)
	require.Equal(t, 10, calls)
	require.False(t, other())
	require.False(t, c.AfterFunc(0, func() { calls = 7 })())
	require.Equal(t, 7, calls, "what is due already is called at once")
}

func TestBlockUntil(t *testing.T) {
	c := NewClock()
	c.BlockUntil(0)
	go c.AfterFunc(1, func() {})
	c.BlockUntil(1)
	go c.Advance(1)
	c.BlockUntil(0)
}
