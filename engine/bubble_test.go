package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
)

// TestMadeOutsideOfABubble: a limiter that is older than the bubble of testing/synctest, such as a package
// variable, waits on nothing that is not the bubble's, and what the bubble leaves behind is not touched
// by those who use the limiter later: that would be a panic.
func TestMadeOutsideOfABubble(t *testing.T) {
	for name, limit := range map[string]engine.Limit{
		"bucket": engine.TokenBucket(engine.PerSecond(100), 1),
		"queue":  engine.LeakyQueue(engine.PerSecond(100), 2),
		"fixed":  engine.FixedWindow(1, 10*time.Millisecond),
		"window": engine.SlidingWindow(1, 10*time.Millisecond),
		"log":    engine.SlidingLog(1, 10*time.Millisecond),
	} {
		t.Run(name, func(t *testing.T) {
			limiter := engine.Must[string](limit)
			synctest.Test(t, func(t *testing.T) {
				for range 3 {
					require.NoError(t, limiter.Wait(t.Context(), "a", 1))
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Nanosecond, cancel)
				require.ErrorIs(t, limiter.Wait(ctx, "a", 1), context.Canceled)
				time.Sleep(time.Hour)
				synctest.Wait()
				require.Zero(t, limiter.Len(), "swept by the bubble's timers")
				require.NoError(t, limiter.Wait(t.Context(), "b", 1)) // and a sweep is due
			})
			limiter.Sweep()
			require.True(t, limiter.Allow("c"))
			require.NoError(t, limiter.Wait(t.Context(), "d", 1))
			require.NoError(t, limiter.Close())
		})
	}
}

// TestACrowdClosed: everybody who waits is woken, and nobody who comes then waits.
func TestACrowdClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := engine.Must[int](engine.TokenBucket(engine.PerHour(1), 1))
		outs := make(chan error, 100)
		for i := range cap(outs) {
			require.True(t, limiter.Allow(i))
			go func() { outs <- limiter.Wait(t.Context(), i, 1) }()
		}
		synctest.Wait()
		require.Empty(t, outs)
		require.NoError(t, limiter.Close())
		for range cap(outs) {
			require.ErrorIs(t, <-outs, engine.ErrClosed)
		}
		require.ErrorIs(t, limiter.Wait(t.Context(), 0, 1), engine.ErrClosed)
	})
}
