package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
)

// lookedAt counts how often somebody begins to wait on a context.
type lookedAt struct {
	context.Context //nolint:containedctx // it is one
	times           int
}

func (c *lookedAt) Done() <-chan struct{} { c.times++; return c.Context.Done() }

// TestWaitOnGivenTimesDoesNotSpin: time that was given stands still until the clock has made it up.
func TestWaitOnGivenTimesDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := engine.Must[string](engine.TokenBucket(engine.Every(time.Microsecond), 1))
		defer m.Close()
		require.True(t, m.TakeAt(time.Hour, "a", 1).Allowed)
		inner, cancel := context.WithCancel(t.Context())
		ctx := &lookedAt{Context: inner}
		out := make(chan error, 1)
		go func() { out <- m.Wait(ctx, "a", 1) }()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-out, context.Canceled)
		require.Less(t, ctx.times, 20)
	})
}

// hastyClock moves on while somebody asks it to be woken.
type hastyClock struct {
	*enginetest.Clock
	hasty time.Duration
}

func (c *hastyClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.Advance(c.hasty)
	c.hasty = 0
	return c.Clock.AfterFunc(d, f)
}

// TestWaitMissesNoWake: the time that passes before the clock is asked to wake the call counts.
func TestWaitMissesNoWake(t *testing.T) {
	for _, hasty := range []time.Duration{time.Second, 300 * time.Millisecond} {
		clock := &hastyClock{enginetest.NewClock(), hasty}
		m := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), engine.WithClock(clock))
		require.True(t, m.Allow("a"))
		out := waiting(t.Context(), m)
		if hasty < time.Second {
			clock.BlockUntil(1)
			clock.Set(time.Second)
		}
		soon(t, func() { require.NoError(t, <-out) })
		require.NoError(t, m.Close())
	}
}

// TestQueueOfOneWaiter: each wait finds the place that the one before it left.
func TestQueueOfOneWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), engine.WithQueue(1, 1))
		defer m.Close()
		for range 5 {
			require.NoError(t, m.Wait(t.Context(), "a", 1))
		}
	})
}
