package fair_test

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/fair"
	"github.com/stretchr/testify/require"
)

// TestNewReportsAllThatIsWrong at once.
func TestNewReportsAllThatIsWrong(t *testing.T) {
	var none *enginetest.Clock
	_, err := fair.New[any](engine.TokenBucket(engine.PerSecond(-1), 1), nil,
		fair.WithWeight(0), fair.WithQueue(-1, -1), fair.WithClock(none), fair.WithHold(-1), fair.WithMaxTenants(0))
	for _, want := range []error{engine.ErrRate, engine.ErrKeyType, fair.ErrOption, fair.ErrWeight} {
		require.ErrorIs(t, err, want)
	}
	for _, option := range []string{"WithWeight", "WithQueue", "WithClock", "WithHold", "WithMaxTenants"} {
		require.ErrorContains(t, err, option)
	}
	require.Panics(t, func() { fair.Must[int](engine.Limit{}) })
	require.NotPanics(t, func() { fair.Must[int](engine.Unlimited()) })
}

// TestErrorsSayWhatToDo and begin with the package.
func TestErrorsSayWhatToDo(t *testing.T) {
	for want, err := range map[string]error{
		"raise the limit": &fair.NeverError{Asked: 3, Capacity: 2},
		"raise WithQueue": &fair.QueueFullError{Waiters: 2, MaxWaiters: 2, AtLeast: time.Second},
		"context ends in": &fair.DeadlineError{AtLeast: time.Second, Left: time.Millisecond},
	} {
		require.ErrorContains(t, err, "fair: ")
		require.ErrorContains(t, err, want)
	}
}

func TestWeights(t *testing.T) {
	l := fair.Must[float64](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithWeight(3))
	require.EqualValues(t, 3, l.Weight(1))
	for _, w := range []int64{0, -1, fair.MaxWeight + 1} {
		require.ErrorIs(t, l.SetWeight(1, w), fair.ErrWeight)
	}
	require.ErrorIs(t, l.SetWeight(math.NaN(), 1), fair.ErrTenant)
	require.ErrorIs(t, l.Wait(t.Context(), math.NaN(), 1), fair.ErrTenant)
	require.NoError(t, l.SetWeight(1, fair.MaxWeight))
	require.Equal(t, fair.MaxWeight, l.Weight(1))
	l.RemoveWeight(1)
	l.RemoveWeight(2)
	require.EqualValues(t, 3, l.Weight(1))
	require.Equal(t, fair.Stats{}, l.Stats())
}

// TestSetLimitWhileWaiting: a faster limit is felt at once, a smaller one ends what has become hopeless,
// and what waits for nothing that will ever come is told.
func TestSetLimitWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[int](engine.TokenBucket(engine.PerHour(1), 10))
		defer l.Close()
		require.NoError(t, l.Wait(t.Context(), 0, 10))
		many, few, third := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() { many <- l.Wait(t.Context(), 0, 8) }()
		synctest.Wait()
		go func() { few <- l.Wait(t.Context(), 0, 2) }()
		go func() { third <- l.Wait(t.Context(), 1, 5) }()
		synctest.Wait()
		deep := make(chan error, 1)
		go func() { deep <- l.Wait(t.Context(), 0, 6) }()
		synctest.Wait()
		require.ErrorIs(t, l.SetLimit(engine.Limit{}), engine.ErrAlgorithm)
		require.Equal(t, 4, l.Len())

		start := time.Now()
		require.NoError(t, l.SetLimit(engine.TokenBucket(engine.PerSecond(1), 5)))
		require.ErrorIs(t, <-many, fair.ErrNever)
		require.ErrorIs(t, <-deep, fair.ErrNever)
		require.Equal(t, start, time.Now(), "hopeless calls are told at once, wherever they wait")
		require.NoError(t, <-few)
		require.Equal(t, 7*time.Second, time.Since(start), "ten are used of five, and stay used")
		require.Equal(t, engine.TokenBucket(engine.PerSecond(1), 5), l.Limit())

		require.NoError(t, l.SetLimit(engine.TokenBucket(engine.Rate{Per: time.Second}, 5)))
		require.ErrorIs(t, <-third, fair.ErrNever)
		require.ErrorIs(t, l.Wait(t.Context(), 0, 1), fair.ErrNever)
		require.Equal(t, fair.Stats{}, l.Stats())
		require.NoError(t, l.SetLimit(engine.Unlimited()))
		require.NoError(t, l.Wait(t.Context(), 0, math.MaxInt64))
		require.NoError(t, l.Close())
		require.ErrorIs(t, l.SetLimit(engine.Unlimited()), fair.ErrClosed)
	})
}

// TestCloseWakesAll, may be called twice, and leaves no timer: the bubble would not end otherwise.
func TestCloseWakesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[int](engine.TokenBucket(engine.PerHour(1), 1), fair.WithHold(time.Hour))
		require.True(t, l.Allow(0))
		require.False(t, l.Allow(99))
		ended := make(chan error, 100)
		for i := range 100 {
			go func() { ended <- l.Wait(t.Context(), i%10, 1) }()
		}
		synctest.Wait()
		require.Equal(t, 100, l.Len())
		require.NoError(t, l.Close())
		require.NoError(t, l.Close())
		for range 100 {
			require.ErrorIs(t, <-ended, fair.ErrClosed)
		}
		require.Equal(t, fair.Stats{}, l.Stats())
	})
}

// TestOneTimerWhileAnyoneWaits, none else: seen by the clock that is asked for them.
func TestOneTimerWhileAnyoneWaits(t *testing.T) {
	clock := enginetest.NewClock()
	l := fair.Must[int](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithClock(clock))
	defer l.Close()
	for i := range 10 {
		l.Allow(i)
	}
	require.Zero(t, clock.Waiting(), "claims need no timer")
	done := make(chan struct{}, 50)
	for i := range 50 {
		go func() {
			if l.Wait(t.Context(), i, 1) == nil {
				done <- struct{}{}
			}
		}()
	}
	for l.Len() < 50 {
		runtime.Gosched()
	}
	for range 50 {
		require.Equal(t, 1, clock.Waiting())
		next, _ := clock.Next()
		clock.Set(next)
		<-done
	}
	require.Zero(t, clock.Waiting())
}

// TestTenantsAreForgotten: after 10,000 have passed by while two always wait, few are held, and none
// when nobody waits any more.
func TestTenantsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[int](engine.TokenBucket(engine.PerSecond(1000), 1))
		defer l.Close()
		var stop atomic.Bool
		for i := range 2 {
			go func() {
				for !stop.Load() {
					assert(t, l.Wait(t.Context(), -1-i, 1))
				}
			}()
		}
		most := 0
		for i := range 10_000 {
			require.NoError(t, l.Wait(t.Context(), i, 1))
			most = max(most, l.Stats().Tenants)
		}
		require.LessOrEqual(t, most, 6)
		stop.Store(true)
		synctest.Wait()
		time.Sleep(time.Second)
		require.Equal(t, fair.Stats{}, l.Stats())
	})
}

// TestMaxTenants: those that ask count; those in debt make room.
func TestMaxTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[int](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithMaxTenants(3), fair.WithHold(0))
		defer l.Close()
		require.True(t, l.Allow(0))
		for i := range 3 {
			go func() { _ = l.Wait(t.Context(), i, 1) }()
		}
		synctest.Wait()
		require.ErrorIs(t, l.Wait(t.Context(), 3, 1), fair.ErrTenants)
		require.False(t, l.Allow(3))
		require.Equal(t, fair.Stats{Waiting: 3, Permits: 3, Tenants: 3}, l.Stats())
		time.Sleep(time.Second)
		synctest.Wait() // one is granted, and in debt
		require.Equal(t, 3, l.Stats().Tenants)
		require.NoError(t, l.Wait(t.Context(), 3, 1))
		require.ErrorIs(t, l.Wait(t.Context(), 4, 2), fair.ErrNever)
	})
}

// TestUncontendedCallsAllocateNothing while nobody asks.
func TestUncontendedCallsAllocateNothing(t *testing.T) {
	l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1<<30), 1<<20))
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if !l.Allow("a") || !l.Take("b", 2).Allowed || l.Wait(ctx, "c", 1) != nil {
			t.Error("refused")
		}
	}))
}

// TestDroppedLimitersAreCollected: unclosed, with claims, after waits, none is kept alive.
func TestDroppedLimitersAreCollected(t *testing.T) {
	before := runtime.NumGoroutine()
	var collected atomic.Int64
	const n = 20
	for range n {
		l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1000), 1))
		runtime.AddCleanup(l, func(c *atomic.Int64) { c.Add(1) }, &collected)
		require.NoError(t, l.Wait(t.Context(), "a", 1))
		require.NoError(t, l.Wait(t.Context(), "b", 1))
		l.Allow("c")
	}
	for collected.Load() < n || runtime.NumGoroutine() > before { // the test's time limit ends this if it never comes true
		runtime.GC()
		runtime.Gosched()
	}
}
