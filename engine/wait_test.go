package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
)

// waiting starts a wait for a permit of the key a and returns its outcome to come.
func waiting(ctx context.Context, m *engine.Limiter[string]) <-chan error {
	out := make(chan error, 1)
	go func() { out <- m.Wait(ctx, "a", 1) }()
	return out
}

// TestWaitersEndInTheirTurn is scenario A16 as waits: ten end at 0, 0.5, 1.0 ... 4.5 ms.
func TestWaitersEndInTheirTurn(t *testing.T) {
	for _, limit := range []engine.Limit{
		engine.TokenBucket(engine.Every(500*time.Microsecond), 1),
		engine.GCRA(engine.Every(500*time.Microsecond), 1),
		engine.LeakyBucket(engine.Every(500*time.Microsecond), 1),
		engine.LeakyQueue(engine.Every(500*time.Microsecond), 10),
		engine.FixedWindow(1, 500*time.Microsecond),
		engine.SlidingLog(1, 500*time.Microsecond),
	} {
		m, clock := fake(t, limit)
		var outs []<-chan error
		for i := range 10 {
			outs = append(outs, waiting(t.Context(), m))
			if i == 0 {
				require.NoError(t, <-outs[0])
			}
			clock.BlockUntil(i)
		}
		for i := 1; i < 10; i++ {
			next, ok := clock.Next()
			require.True(t, ok)
			require.Equal(t, time.Duration(i)*500*time.Microsecond, next, limit)
			clock.Set(next - 1)
			require.Equal(t, 10-i, clock.Waiting(), "none wakes early")
			clock.Set(next)
			require.NoError(t, <-outs[i], "in the order in which they came")
			clock.BlockUntil(9 - i)
		}
	}
}

// TestWaitContexts is scenario P11.
func TestWaitContexts(t *testing.T) {
	limit := engine.TokenBucket(engine.PerSecond(1), 1)
	t.Run("ended before", func(t *testing.T) {
		m, _ := fake(t, limit)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, m.Wait(ctx, "a", 1), context.Canceled)
		require.True(t, m.Allow("a"))
	})
	t.Run("deadline before the permit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := engine.Must[string](limit)
			defer m.Close()
			require.True(t, m.Allow("a"))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second-1)
			defer cancel()
			start := time.Now()
			err := m.Wait(ctx, "a", 1)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			var wait *engine.WaitError
			require.ErrorAs(t, err, &wait)
			require.Equal(t, time.Second, wait.Wait)
			require.Zero(t, time.Since(start))
			time.Sleep(time.Second)
			require.True(t, m.Allow("a"), "nothing was taken")
		})
	})
	t.Run("deadline at the permit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for range 100 { // whichever of the two wakes it
				m := engine.Must[string](limit)
				require.True(t, m.Allow("a"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				start := time.Now()
				require.NoError(t, m.Wait(ctx, "a", 1))
				require.Equal(t, time.Second, time.Since(start))
				require.False(t, m.Allow("a"), "it is taken")
				cancel()
				require.NoError(t, m.Close())
			}
		})
	})
	t.Run("ended while it waits", func(t *testing.T) {
		m, clock := fake(t, limit)
		require.True(t, m.Allow("a"))
		ctx, cancel := context.WithCancel(t.Context())
		out := waiting(ctx, m)
		clock.BlockUntil(1)
		clock.Set(300 * time.Millisecond)
		cancel()
		require.ErrorIs(t, <-out, context.Canceled)
		clock.BlockUntil(0)
		clock.Set(time.Second - 1)
		require.False(t, m.Allow("a"))
		clock.Set(time.Second)
		require.True(t, m.Allow("a"), "its permit is back")
	})
}

// TestWaitRefusesAtOnce what Reserve refuses, and on a closed limiter everything.
func TestWaitRefusesAtOnce(t *testing.T) {
	m, _ := fake(t, engine.TokenBucket(engine.PerSecond(1), 2), engine.WithMaxWait(3*time.Second))
	require.NoError(t, m.Wait(t.Context(), "a", 2))
	require.NoError(t, m.Wait(t.Context(), "a", 0))
	require.ErrorIs(t, m.Wait(t.Context(), "a", 3), engine.ErrNever)
	require.ErrorIs(t, m.Wait(t.Context(), "a", -1), engine.ErrNever)
	require.NoError(t, m.Reserve("a", 2).Err())
	require.ErrorIs(t, m.Wait(t.Context(), "a", 2), engine.ErrMaxWait)
	require.NoError(t, m.SetLimit(engine.Blocked()))
	require.ErrorIs(t, m.Wait(t.Context(), "b", 1), engine.ErrNever)
	require.NoError(t, m.SetLimit(engine.Unlimited()))
	require.NoError(t, m.Wait(t.Context(), "b", 1<<40))
	require.NoError(t, m.Close())
	require.ErrorIs(t, m.Wait(t.Context(), "c", 1), engine.ErrClosed)
	require.True(t, m.Allow("c"), "decisions go on")
}

// TestCloseWakesWaiters, whose permits go back.
func TestCloseWakesWaiters(t *testing.T) {
	m, clock := fake(t, engine.TokenBucket(engine.PerSecond(1), 1))
	require.True(t, m.Allow("a"))
	var outs []<-chan error
	for i := range 5 {
		outs = append(outs, waiting(t.Context(), m))
		clock.BlockUntil(i + 1)
	}
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	for _, out := range outs {
		require.ErrorIs(t, <-out, engine.ErrClosed)
	}
	clock.BlockUntil(0)
	require.Equal(t, time.Second, m.Take("a", 1).RetryAfter)
}

// TestACancelledWaiterLeavesItsPlace is scenario C06.
func TestACancelledWaiterLeavesItsPlace(t *testing.T) {
	for name, limit := range everyAlgorithm(1) {
		if limit.Algorithm() == engine.AlgorithmLeakyQueue {
			continue // one permit in the queue is all there is
		}
		m, clock := fake(t, limit, engine.WithQueue(10, 1))
		require.True(t, m.Allow("a"))
		ctx, cancel := context.WithCancel(t.Context())
		first := waiting(ctx, m)
		clock.BlockUntil(1)
		require.ErrorIs(t, m.Wait(t.Context(), "a", 1), engine.ErrQueueFull, name)
		cancel()
		require.ErrorIs(t, <-first, context.Canceled)
		due := m.Take("a", 1).RetryAfter
		second := waiting(t.Context(), m)
		clock.BlockUntil(1)
		clock.Advance(due - 1)
		require.Equal(t, 1, clock.Waiting(), name)
		clock.Advance(1)
		require.NoError(t, <-second, name)
	}
}

// TestAQueuePaces: waits on a queue end at constant distances, whenever they come.
func TestAQueuePaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := engine.Must[string](engine.LeakyQueue(engine.PerSecond(100), 1000))
		defer m.Close()
		start := time.Now()
		ends := make(chan time.Duration, 300)
		for i := range 300 {
			go func() {
				if err := m.Wait(t.Context(), "a", 1); err != nil {
					t.Error(err)
				}
				ends <- time.Since(start)
			}()
			if i%7 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		for i := range 300 {
			require.Equal(t, time.Duration(i)*10*time.Millisecond, <-ends)
		}
	})
}

// plainClock is a clock that cannot wake anybody.
type plainClock struct{ enginetest.Clock }

func (c *plainClock) AfterFunc() {}

// TestWaitOnAPlainClock asks the clock again when the process's timer ends.
func TestWaitOnAPlainClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := new(plainClock)
		m := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), engine.WithClock(clock))
		defer m.Close()
		require.True(t, m.Allow("a"))
		out := waiting(t.Context(), m)
		time.Sleep(time.Minute) // its clock stands still
		synctest.Wait()
		require.Empty(t, out)
		clock.Set(time.Second - 1)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Empty(t, out)
		clock.Set(time.Second)
		require.NoError(t, <-out)
	})
}

// TestWaitOnGivenTimes: what TakeAt has passed in counts.
func TestWaitOnGivenTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 1))
		defer m.Close()
		require.True(t, m.TakeAt(time.Hour, "a", 1).Allowed)
		start := time.Now()
		out := waiting(t.Context(), m)
		synctest.Wait()
		require.True(t, m.TakeAt(time.Hour+time.Second, "b", 1).Allowed)
		require.NoError(t, <-out)
		require.Equal(t, time.Second, time.Since(start))
	})
}

// TestWaitLeavesNothing is scenario C08: limiters that are closed, or dropped, leave no goroutine.
func TestWaitLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which ends when every goroutine in it has
		for i := range 1000 {
			m := engine.Must[int](engine.TokenBucket(engine.PerSecond(1000), 1))
			require.NoError(t, m.Wait(t.Context(), 1, 1))
			require.NoError(t, m.Wait(t.Context(), 1, 1))
			if i%2 == 0 {
				require.NoError(t, m.Close())
				require.ErrorIs(t, m.Wait(t.Context(), 1, 1), engine.ErrClosed)
				require.NoError(t, m.Close())
			}
		}
	})
}

// TestWaitOnSeveralLimits waits for the last of them.
func TestWaitOnSeveralLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := engine.Must[string](engine.TokenBucket(engine.PerSecond(10), 1),
			engine.WithAlso(engine.SlidingLog(15, time.Minute), engine.FixedWindow(40, time.Hour)))
		defer m.Close()
		start := time.Now()
		for i := range 41 {
			require.NoError(t, m.Wait(t.Context(), "a", 1))
			want := time.Duration(i)*100*time.Millisecond + time.Duration(i/15)*(time.Minute-1500*time.Millisecond)
			if i == 40 {
				want = time.Hour
			}
			require.Equal(t, want, time.Since(start), i)
		}
	})
}

// TestWaitErrorsAreKept: what the context ended with.
func TestWaitErrorsAreKept(t *testing.T) {
	m, clock := fake(t, engine.TokenBucket(engine.PerSecond(1), 1))
	require.True(t, m.Allow("a"))
	ctx, cancel := context.WithCancelCause(t.Context())
	out := waiting(ctx, m)
	clock.BlockUntil(1)
	cancel(errors.New("the client has gone"))
	require.ErrorIs(t, <-out, context.Canceled)
}
