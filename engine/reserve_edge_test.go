package engine_test

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
)

// TestReserveBeyondTheHorizonOfOneLimit: a promise that one limit puts off for longer than the word of
// another can tell is refused; read in time it would be nothing, or a debt that nobody has.
func TestReserveBeyondTheHorizonOfOneLimit(t *testing.T) {
	for _, main := range []engine.Limit{
		engine.SlidingWindow(100, time.Second),
		engine.TokenBucket(engine.PerSecond(67108859), 100),
		engine.FixedWindow(100, time.Microsecond),
	} {
		t.Run(main.String(), func(t *testing.T) {
			m, clock := fake(t, main, engine.WithAlso(engine.FixedWindow(200, 24*time.Hour)))
			require.True(t, m.AllowN("a", 100))
			clock.Set(10 * time.Second)
			require.True(t, m.AllowN("a", 100))
			r := m.Reserve("a", 100)
			if !r.OK() {
				require.ErrorIs(t, r.Err(), engine.ErrMaxWait)
				return
			}
			for clock.Now() < 24*time.Hour-10*time.Second {
				clock.Advance(10 * time.Second)
				m.Sweep()
			}
			clock.Set(24 * time.Hour)
			require.Zero(t, r.Delay())
			require.False(t, m.AllowN("a", 100), "200 at one instant")
		})
	}
}

// soon fails the test if f does not return.
func soon(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("does not end")
	}
}

// TestReserveForNaN: a key that does not equal itself is a new one, in a queue too.
func TestReserveForNaN(t *testing.T) {
	m := engine.Must[float64](engine.LeakyQueue(engine.PerSecond(1), 3))
	defer m.Close()
	soon(t, func() {
		for range 3 {
			require.Zero(t, m.Reserve(math.NaN(), 1).Delay())
			require.NoError(t, m.Wait(t.Context(), math.NaN(), 1))
		}
	})
}

// hookClock calls hook at each reading, but within one.
type hookClock struct {
	*enginetest.Clock
	in   atomic.Bool
	hook func()
}

func (c *hookClock) Now() time.Duration {
	if h := c.hook; h != nil && c.in.CompareAndSwap(false, true) {
		h()
		c.in.Store(false)
	}
	return c.Clock.Now()
}

// TestReserveWhenRoomAppears: a key that found none, and then finds some at whatever step.
func TestReserveWhenRoomAppears(t *testing.T) {
	for step := 1; step < 12; step++ {
		clock := &hookClock{Clock: enginetest.NewClock()}
		m := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 2), engine.WithClock(clock),
			engine.WithMaxKeys(1, engine.CapShared))
		require.True(t, m.AllowN("a", 2))
		require.True(t, m.AllowN("b", 2))
		require.NoError(t, m.Close()) // the sweep that is due for want of room would read the clock while the hook is set
		readings := 0
		clock.hook = func() {
			if readings++; readings == step {
				clock.Set(time.Hour)
				m.Sweep()
			}
		}
		soon(t, func() { require.True(t, m.Reserve("c", 2).OK()) })
	}
}

// TestReserveWhileTheLimitAlternates: without a cap there is always room.
func TestReserveWhileTheLimitAlternates(t *testing.T) {
	clock := &hookClock{Clock: enginetest.NewClock()}
	slow, fast := engine.TokenBucket(engine.PerSecond(1), 2), engine.TokenBucket(engine.PerSecond(2), 2)
	limit := slow
	m := engine.Must[string](slow, engine.WithClock(clock),
		engine.WithResolver[string](engine.ResolverFunc[string](func(string) (engine.Limit, bool) { return limit, true })))
	defer m.Close()
	require.True(t, m.AllowN("a", 2))
	readings := 0
	clock.hook = func() {
		if readings++; readings < 8 {
			limit = fast
			m.Allow("a")
			limit = slow
		}
	}
	require.NoError(t, m.Reserve("a", 1).Err())
}

// TestQueueBoundsUnderEveryLimit: also where the main limit counts nothing, or elsewhere.
func TestQueueBoundsUnderEveryLimit(t *testing.T) {
	second := engine.TokenBucket(engine.PerSecond(1), 1)
	t.Run("unlimited but for another", func(t *testing.T) {
		m, _ := fake(t, engine.Unlimited(), engine.WithAlso(second), engine.WithQueue(1, 1))
		require.True(t, m.Allow("a"))
		require.NoError(t, m.Reserve("a", 1).Err())
		require.ErrorIs(t, m.Reserve("a", 1).Err(), engine.ErrQueueFull)
	})
	t.Run("beyond the cap on keys", func(t *testing.T) {
		m, _ := fake(t, second, engine.WithMaxKeys(1, engine.CapShared), engine.WithQueue(1, 1))
		require.True(t, m.Allow("a"))
		require.True(t, m.Allow("b"))
		require.NoError(t, m.Reserve("b", 1).Err())
		require.ErrorIs(t, m.Reserve("b", 1).Err(), engine.ErrQueueFull)
	})
}

// TestQueuePlacesAreFreeInTime: whose time has come does not wait any more, from that instant on.
func TestQueuePlacesAreFreeInTime(t *testing.T) {
	m, clock := fake(t, engine.TokenBucket(engine.PerSecond(1), 1), engine.WithQueue(1, 1))
	require.True(t, m.Allow("a"))
	for range 5 {
		require.Equal(t, time.Second, m.Reserve("a", 1).Delay())
		clock.Advance(time.Second)
	}
}

// TestAllGivenUpLeavesNothing: the last one first, or the first one first. A window that is still to
// come is kept to if the first one was not the last.
func TestAllGivenUpLeavesNothing(t *testing.T) {
	for _, limit := range []engine.Limit{
		engine.TokenBucket(engine.PerSecond(1), 3), engine.SlidingLog(3, time.Second),
	} {
		for _, first := range []int{1, 0} {
			m, _ := fake(t, limit)
			require.True(t, m.AllowN("a", 2))
			before := m.Peek("a")
			r := []*engine.Reservation[string]{m.Reserve("a", 2), m.Reserve("a", 1)}
			require.True(t, r[first].Cancel())
			require.True(t, r[1-first].Cancel())
			require.Equal(t, before, m.Peek("a"), "%v, %d first", limit, first)
		}
	}
}

// TestResetOfALogForgetsItsPromises, as that of a word does.
func TestResetOfALogForgetsItsPromises(t *testing.T) {
	for _, limit := range []engine.Limit{engine.TokenBucket(engine.PerSecond(1), 1), engine.SlidingLog(1, time.Second)} {
		m, _ := fake(t, limit, engine.WithQueue(1, 1))
		require.True(t, m.Allow("a"))
		r := m.Reserve("a", 1)
		m.Reset("a")
		require.True(t, m.Allow("a"))
		require.NoError(t, m.Reserve("a", 1).Err(), limit)
		require.False(t, r.Cancel(), limit)
	}
}

// TestGivenUpAfterAChange: those of before that are left are still paid for.
func TestGivenUpAfterAChange(t *testing.T) {
	m, clock := fake(t, engine.TokenBucket(engine.PerSecond(1), 10))
	var r []*engine.Reservation[string]
	for range 4 {
		r = append(r, m.Reserve("a", 10))
	}
	require.NoError(t, m.SetLimit(engine.TokenBucket(engine.PerSecond(1), 11)))
	require.False(t, m.Allow("a"))
	clock.Set(time.Second)
	require.True(t, r[1].Cancel())
	require.True(t, r[2].Cancel())
	clock.Set(30 * time.Second)
	require.Zero(t, r[3].Delay())
	require.False(t, m.AllowN("a", 10), "20 at one instant")
}

// TestReserveAtTheEndOfTime: what would act after it is refused.
func TestReserveAtTheEndOfTime(t *testing.T) {
	for _, limit := range []engine.Limit{
		engine.LeakyQueue(engine.PerSecond(1), 10), engine.TokenBucket(engine.PerSecond(1), 1),
		engine.SlidingLog(1, time.Second), engine.FixedWindow(1, time.Second), engine.SlidingWindow(1, time.Second),
	} {
		m, clock := fake(t, limit)
		clock.Set(math.MaxInt64 - 10)
		require.NoError(t, m.Reserve("a", 1).Err())
		require.Error(t, m.Reserve("a", 1).Err(), limit)
	}
}

// TestReserveWhereTheCapHasNotRoomForAllRules: a key has a word under each rule, and equals a new one under
// all of them until it is charged. Where there is room for one word less it is beyond the cap under one rule.
func TestReserveWhereTheCapHasNotRoomForAllRules(t *testing.T) {
	queue, bucket := engine.LeakyQueue(engine.PerSecond(10), 5), engine.TokenBucket(engine.PerSecond(10), 5)
	for policy, want := range map[engine.CapPolicy]error{
		engine.CapDeny: engine.ErrNoRoom, engine.CapAllow: nil, engine.CapShared: nil,
	} {
		for room := 1; room <= 2; room++ {
			l := engine.Must[string](queue, engine.WithAlso(bucket, bucket), engine.WithMaxKeys(room, policy))
			first := l.Reserve("a", 1)
			require.ErrorIs(t, first.Err(), want, "%v, room for %d", policy, room)
			second := l.Reserve("a", 1)
			require.ErrorIs(t, second.Err(), want, "%v, room for %d", policy, room)
			if policy == engine.CapShared {
				require.True(t, second.OK())
				require.Positive(t, second.Delay(), "the queue counts both, in the key's own word or the shared one")
			}
			require.NoError(t, l.Close())
		}
	}
}
