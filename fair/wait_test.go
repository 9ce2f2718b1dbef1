package fair_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/fair"
	"github.com/stretchr/testify/require"
)

// everyAlgorithm admits one permit a second, and at most burst at once.
func everyAlgorithm(burst int64) map[string]engine.Limit {
	window := time.Duration(burst) * time.Second
	return map[string]engine.Limit{
		"token_bucket":   engine.TokenBucket(engine.PerSecond(1), burst),
		"gcra":           engine.GCRA(engine.PerSecond(1), burst),
		"leaky_bucket":   engine.LeakyBucket(engine.PerSecond(1), burst),
		"leaky_queue":    engine.LeakyQueue(engine.PerSecond(1), burst),
		"fixed_window":   engine.FixedWindow(burst, window),
		"sliding_window": engine.SlidingWindow(burst, window),
		"sliding_log":    engine.SlidingLog(burst, window),
	}
}

// TestWaitUnderEveryAlgorithm: twenty calls of two tenants are granted at the instants at which the
// engine by itself would let one after the other through, in turn.
func TestWaitUnderEveryAlgorithm(t *testing.T) {
	for name, limit := range everyAlgorithm(3) {
		t.Run(name, func(t *testing.T) {
			want := alone(limit, 20)
			synctest.Test(t, func(t *testing.T) {
				l := fair.Must[string](limit)
				defer l.Close()
				start := time.Now()
				var mu sync.Mutex
				var got []time.Duration
				var all sync.WaitGroup
				for i := range 20 {
					all.Go(func() {
						assert(t, l.Wait(t.Context(), []string{"a", "b"}[i%2], 1))
						mu.Lock()
						got = append(got, time.Since(start))
						mu.Unlock()
					})
				}
				all.Wait()
				require.Equal(t, want, got)
			})
		})
	}
}

func assert(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// alone returns the instants at which n calls pass, each made as soon as it can be.
func alone(limit engine.Limit, n int) (at []time.Duration) {
	l := engine.Must[int](limit)
	now := time.Duration(0)
	for len(at) < n {
		if d := l.PeekAt(now, 0); d.Delay > 0 { // a queue is used when it is empty
			now += d.Delay
			continue
		}
		if d := l.TakeAt(now, 0, 1); !d.Allowed {
			now += d.RetryAfter
			continue
		}
		at = append(at, now)
	}
	return at
}

// TestWaitRefusesAtOnce: each reason with its error, and nothing taken.
func TestWaitRefusesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1), 2), fair.WithQueue(3, 2))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, l.Wait(ended, "a", 1), context.Canceled)
		require.ErrorIs(t, l.Wait(t.Context(), "a", -1), fair.ErrPermits)
		var never *fair.NeverError
		err := l.Wait(t.Context(), "a", 3)
		require.ErrorIs(t, err, fair.ErrNever)
		require.ErrorAs(t, err, &never)
		require.Equal(t, fair.NeverError{Asked: 3, Capacity: 2}, *never)
		require.NoError(t, l.Wait(ctxFor(t, time.Hour), "a", 0))
		require.Equal(t, fair.Stats{}, l.Stats())
		require.NoError(t, l.Wait(t.Context(), "a", 2), "all is still there")

		go func() { _ = l.Wait(t.Context(), "a", 2) }()
		synctest.Wait()
		var late *fair.DeadlineError
		err = l.Wait(ctxFor(t, 2999*time.Millisecond), "a", 1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorAs(t, err, &late)
		require.Equal(t, fair.DeadlineError{AtLeast: 3 * time.Second, Left: 2999 * time.Millisecond}, *late)
		require.True(t, late.Timeout())

		var full *fair.QueueFullError
		err = l.Wait(t.Context(), "a", 2)
		require.ErrorIs(t, err, fair.ErrQueueFull)
		require.ErrorAs(t, err, &full)
		require.Equal(t, fair.QueueFullError{Waiters: 1, MaxWaiters: 2, Permits: 2, MaxPermits: 3, Asked: 2, AtLeast: 4 * time.Second}, *full)
		go func() { _ = l.Wait(t.Context(), "a", 1) }()
		synctest.Wait()
		require.ErrorIs(t, l.Wait(t.Context(), "a", 1), fair.ErrQueueFull)
		require.Equal(t, 2, l.Len())
		require.NoError(t, l.Wait(t.Context(), "b", 1), "another tenant has a queue of its own")

		require.NoError(t, l.Close())
		require.ErrorIs(t, l.Wait(t.Context(), "a", 1), fair.ErrClosed)
		require.ErrorIs(t, l.Wait(t.Context(), "a", 0), fair.ErrClosed)
	})
}

// ctxFor ends after d.
func ctxFor(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestDeadlineIsInclusive: a permit that is due in the deadline's nanosecond is granted, with others
// waiting or none.
func TestDeadlineIsInclusive(t *testing.T) {
	for others := range 3 {
		for range 20 {
			synctest.Test(t, func(t *testing.T) {
				l := fair.Must[int](engine.TokenBucket(engine.PerSecond(1), 1))
				defer l.Close()
				require.NoError(t, l.Wait(t.Context(), 0, 1))
				ctx := ctxFor(t, time.Second)
				done := make(chan error, 1)
				go func() { done <- l.Wait(ctx, 0, 1) }()
				synctest.Wait()
				for i := range others {
					go func() { _ = l.Wait(t.Context(), 1+i, 1) }()
				}
				require.NoError(t, <-done)
				require.ErrorIs(t, l.Wait(ctxFor(t, time.Second-1), 0, 1), context.DeadlineExceeded)
			})
		}
	}
}

// TestDeadlineBehindOthersEndsInTime: what cannot be known at once to be too late waits, and ends with
// its context.
func TestDeadlineBehindOthersEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[int](engine.TokenBucket(engine.PerSecond(1), 1))
		defer l.Close()
		require.True(t, l.Allow(0))
		for i := range 10 {
			go func() { _ = l.Wait(t.Context(), i, 1) }()
		}
		synctest.Wait()
		start := time.Now()
		require.Equal(t, context.DeadlineExceeded, l.Wait(ctxFor(t, 5*time.Second), 10, 1))
		require.Equal(t, 5*time.Second, time.Since(start))
		synctest.Wait() // what was due now is granted
		require.Equal(t, 5, l.Len())
	})
}

// TestCancelledWaiterFreesItsPlace: of a queue for one, and its permit.
func TestCancelledWaiterFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[int](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithQueue(1, 1))
		defer l.Close()
		require.NoError(t, l.Wait(t.Context(), 0, 1))
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { first <- l.Wait(ctx, 0, 1) }()
		synctest.Wait()
		require.ErrorIs(t, l.Wait(t.Context(), 0, 1), fair.ErrQueueFull)
		cancel()
		require.Equal(t, context.Canceled, <-first)
		require.Equal(t, fair.Stats{}, l.Stats())
		start := time.Now()
		require.NoError(t, l.Wait(t.Context(), 0, 1), "W2 is accepted")
		require.Equal(t, time.Second, time.Since(start), "and has the permit of W1")
	})
}

// TestCancelledHeadLetsSmallerPass: a call for many permits gives way, and what is there already goes to
// the next at that instant.
func TestCancelledHeadLetsSmallerPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[int](engine.TokenBucket(engine.PerSecond(1), 10))
		defer l.Close()
		require.NoError(t, l.Wait(t.Context(), 0, 10))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = l.Wait(ctx, 0, 10) }()
		synctest.Wait()
		var small sync.WaitGroup
		for i := range 3 {
			small.Go(func() { assert(t, l.Wait(t.Context(), 1+i, 1)) })
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Equal(t, 4, l.Len(), "in its turn it is waited for")
		start := time.Now()
		cancel()
		small.Wait()
		require.Equal(t, start, time.Now())
	})
}

// TestCancelThousandsAnywhere: heads, middles and tails go at random while the clock runs; those that
// stay are granted at every due instant, and nothing is left.
func TestCancelThousandsAnywhere(t *testing.T) {
	const calls, tenants = 5000, 50
	synctest.Test(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(1, 9))
		l := fair.Must[int](engine.TokenBucket(engine.PerSecond(1000), 1))
		defer l.Close()
		start := time.Now()
		var granted, cancelled atomic.Int64
		var all sync.WaitGroup
		for i := range calls {
			ctx, cancel := context.WithCancel(t.Context())
			end := time.Duration(rnd.Int64N(int64(4 * time.Second)))
			all.Go(func() {
				defer cancel()
				defer time.AfterFunc(end, cancel).Stop()
				switch err := l.Wait(ctx, i%tenants, 1); {
				case err == nil:
					granted.Add(1)
				case errors.Is(err, context.Canceled):
					cancelled.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		elapsed := time.Since(start)
		t.Logf("%d granted, %d cancelled, in %v", granted.Load(), cancelled.Load(), elapsed)
		require.EqualValues(t, calls, granted.Load()+cancelled.Load())
		require.LessOrEqual(t, granted.Load(), 1+int64(elapsed/time.Millisecond))
		require.GreaterOrEqual(t, granted.Load(), int64(elapsed/time.Millisecond)*9/10, "no instant was lost, but to the last few that left")
		require.Greater(t, cancelled.Load(), int64(1000))
		require.Equal(t, fair.Stats{}, l.Stats())
	})
}

// TestWaitOnAFakeClock is what a user's test may look like.
func TestWaitOnAFakeClock(t *testing.T) {
	clock := enginetest.NewClock()
	l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithClock(clock))
	defer l.Close()
	require.True(t, l.Allow("a"))
	done := make(chan string, 2)
	for _, tenant := range []string{"a", "b"} {
		go func() {
			assert(t, l.Wait(t.Context(), tenant, 1))
			done <- tenant
		}()
	}
	for l.Len() < 2 { // a Limiter sets one timer, however many wait
		runtime.Gosched()
	}
	clock.Advance(time.Second - 1)
	require.Empty(t, done)
	clock.Advance(1)
	one := <-done
	clock.Advance(time.Second)
	require.NotEqual(t, one, <-done)
	clock.BlockUntil(0)
}

// still is a clock that wakes nobody.
type still struct{ nanos, readings atomic.Int64 }

func (c *still) Now() time.Duration {
	c.readings.Add(1)
	return time.Duration(c.nanos.Load())
}

// TestClockThatWakesNobody is looked at every millisecond, by one timer.
func TestClockThatWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &still{}
		l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithClock(clock))
		defer l.Close()
		require.True(t, l.Allow("a"))
		done := make(chan error, 1)
		go func() { done <- l.Wait(t.Context(), "a", 1) }()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Empty(t, done, "its time stands still")
		clock.nanos.Store(int64(time.Second - 1))
		time.Sleep(time.Second)
		before := clock.readings.Load()
		time.Sleep(time.Second)
		require.LessOrEqual(t, clock.readings.Load()-before, int64(2*1001), "a look each millisecond, of two readings at most")
		require.Empty(t, done)
		clock.nanos.Store(int64(time.Second))
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.NoError(t, <-done)
	})
}

// hasty is a clock that is moved while it is asked to wake.
type hasty struct {
	enginetest.Clock
	moves []time.Duration // one for each call
}

func (c *hasty) AfterFunc(d time.Duration, f func()) func() bool {
	if len(c.moves) > 0 {
		c.Advance(c.moves[0])
		c.moves = c.moves[1:]
	}
	return c.Clock.AfterFunc(d, f)
}

// TestClockMovesWhileAsked: neither a move before the due instant nor one beyond it makes a grant late.
func TestClockMovesWhileAsked(t *testing.T) {
	for _, moves := range [][]time.Duration{
		{300 * time.Millisecond}, {100 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond},
		{time.Second}, {0, 0}, {200 * time.Millisecond, 5 * time.Second}, {1, 1, 1, time.Second},
	} {
		clock := &hasty{moves: moves}
		l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithClock(clock))
		require.True(t, l.Allow("a"))
		done := make(chan time.Duration, 1)
		go func() {
			assert(t, l.Wait(t.Context(), "a", 1))
			done <- clock.Now()
		}()
		moved := time.Duration(0)
		for _, d := range moves {
			moved += d
		}
		if moved < time.Second {
			clock.BlockUntil(1)
			for clock.Now() < moved {
				runtime.Gosched()
			}
			for next, ok := clock.Next(); !ok || next != time.Second; next, ok = clock.Next() {
				runtime.Gosched() // until it is asked again
			}
			clock.Set(time.Second)
		}
		require.Equal(t, max(moved, time.Second), <-done, "moves %v", moves)
		require.NoError(t, l.Close())
	}
}

// TestClockStepsBack: no time passes until the step is made up, and the call is woken then.
func TestClockStepsBack(t *testing.T) {
	clock := enginetest.NewClock()
	clock.Set(time.Hour)
	l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithClock(clock))
	defer l.Close()
	require.True(t, l.Allow("a"))
	clock.Set(time.Minute)
	done := make(chan error, 1)
	go func() { done <- l.Wait(t.Context(), "a", 1) }()
	clock.BlockUntil(1)
	due, _ := clock.Next()
	require.Equal(t, time.Hour+time.Second, due)
	clock.Set(due)
	require.NoError(t, <-done)
}

// TestEndsOfTime: a wait beyond the end of time is a wait, not a panic or a grant.
func TestEndsOfTime(t *testing.T) {
	clock := enginetest.NewClock()
	l := fair.Must[string](engine.TokenBucket(engine.Every(time.Hour), 1), fair.WithClock(clock))
	clock.Set(math.MaxInt64 - 5)
	require.True(t, l.Allow("a"))
	require.False(t, l.Allow("a"))
	done := make(chan error, 1)
	go func() { done <- l.Wait(t.Context(), "b", 1) }()
	clock.BlockUntil(1)
	clock.Set(math.MaxInt64)
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-done, fair.ErrClosed)
}
