package engine_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/stretchr/testify/require"
)

// TestLimitChange is the scenario of a changed rate and burst, for every algorithm that refills.
func TestLimitChange(t *testing.T) {
	for _, bucket := range []func(engine.Rate, int64) engine.Limit{engine.TokenBucket, engine.GCRA, engine.LeakyBucket, engine.LeakyQueue} {
		at := func(l *engine.Limiter[string], now time.Duration, n int64) engine.Decision {
			return l.TakeAt(now, "a", n)
		}
		l := engine.Must[string](bucket(engine.PerSecond(1), 10))
		require.True(t, at(l, 0, 10).Allowed)
		require.NoError(t, l.SetLimit(bucket(engine.PerSecond(10), 10)))
		// settled at the old rate up to the first call under the new limit
		require.Equal(t, 100*time.Millisecond, at(l, 0, 1).RetryAfter)

		l = engine.Must[string](bucket(engine.PerSecond(1), 10))
		require.True(t, at(l, 0, 10).Allowed)
		require.True(t, at(l, 5*time.Second, 5).Allowed, "5 at the old rate")
		require.NoError(t, l.SetLimit(bucket(engine.PerSecond(10), 10)))
		d := at(l, 5*time.Second, 1)
		require.False(t, d.Allowed)
		require.Equal(t, 100*time.Millisecond, d.RetryAfter)

		l = engine.Must[string](bucket(engine.PerSecond(1), 10))
		require.NoError(t, l.SetLimit(bucket(engine.PerSecond(1), 3)))
		require.Equal(t, engine.Never, at(l, 0, 4).RetryAfter)
		require.True(t, at(l, 0, 3).Allowed)
		require.Equal(t, time.Second, at(l, 0, 1).RetryAfter)

		l = engine.Must[string](bucket(engine.PerSecond(1), 3))
		require.True(t, at(l, 0, 3).Allowed)
		require.NoError(t, l.SetLimit(bucket(engine.PerSecond(1), 10)))
		require.False(t, at(l, 0, 8).Allowed)
		require.True(t, at(l, 0, 7).Allowed, "what was used stays used, the new room is there")
		require.False(t, at(l, 0, 1).Allowed)
	}
}

// TestFlippingMintsNothing: whatever pair of limits a key is flipped between at one instant, it
// gets no more than the larger capacity.
func TestFlippingMintsNothing(t *testing.T) {
	limits := func(n int64) []engine.Limit {
		var all []engine.Limit
		for _, l := range everyAlgorithm(n) {
			all = append(all, l)
		}
		return all
	}
	for _, a := range limits(7) {
		for _, b := range limits(3) {
			l := engine.Must[string](a)
			got := int64(0)
			for i := range 40 {
				require.NoError(t, l.SetLimit([]engine.Limit{a, b}[i%2]))
				if l.TakeAt(time.Hour, "k", 1).Allowed {
					got++
				}
				require.Equal(t, l.PeekAt(time.Hour, "k").Allowed, l.TakeAt(time.Hour, "k", 0).Remaining > 0)
			}
			require.EqualValues(t, 7, got, "%v and %v", a, b)
			require.Equal(t, 1, l.Len(), "%v and %v: a key has one home", a, b)
			l.Reset("k")
			require.True(t, l.TakeAt(time.Hour, "k", 3).Allowed)
		}
	}
}

// TestToAndFromUnlimited: what was used under a limit is still used after a time without one.
func TestToAndFromUnlimited(t *testing.T) {
	l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 5))
	require.True(t, l.TakeAt(0, "a", 5).Allowed)
	for _, l2 := range []engine.Limit{engine.Unlimited(), engine.Blocked()} {
		require.NoError(t, l.SetLimit(l2))
		require.Equal(t, l2 == engine.Unlimited(), l.TakeAt(0, "a", 100).Allowed)
	}
	require.NoError(t, l.SetLimit(engine.TokenBucket(engine.PerHour(1), 5)))
	require.False(t, l.TakeAt(time.Hour-1, "a", 1).Allowed)
	require.True(t, l.TakeAt(time.Hour, "a", 1).Allowed)
}

func TestSetLimitRefusesBadLimits(t *testing.T) {
	l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 5))
	require.ErrorIs(t, l.SetLimit(engine.TokenBucket(engine.PerHour(-1), 5)), engine.ErrRate)
	require.ErrorIs(t, l.SetLimit(engine.Limit{}), engine.ErrAlgorithm)
	require.Equal(t, engine.TokenBucket(engine.PerHour(1), 5), l.Limit())
}

// TestResolver gives tiers, overrides and defaults, and counts what it could not find out.
func TestResolver(t *testing.T) {
	tiers := engine.NewTiers[string](func(key string) string { return key[:1] })
	require.NoError(t, tiers.Set("f", engine.TokenBucket(engine.PerHour(1), 1)))
	require.NoError(t, tiers.Set("p", engine.FixedWindow(3, time.Hour)))
	require.NoError(t, tiers.Set("u", engine.Unlimited()))
	require.NoError(t, tiers.Set("b", engine.Blocked()))
	require.NoError(t, tiers.Override("f-vip", engine.SlidingLog(4, time.Hour)))
	require.ErrorIs(t, tiers.Set("x", engine.Limit{}), engine.ErrAlgorithm)
	require.ErrorIs(t, tiers.Override("x", engine.Limit{}), engine.ErrAlgorithm)
	l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 2), engine.WithResolver[string](tiers))
	for key, want := range map[string]int{"f1": 1, "f2": 1, "p1": 3, "u1": 20, "b1": 0, "f-vip": 4, "other": 2} {
		got := 0
		for range 20 {
			if l.TakeAt(0, key, 1).Allowed {
				got++
			}
		}
		require.Equal(t, want, got, key)
	}
	require.EqualValues(t, 20, l.Stats().ResolverUnknown)
	require.Zero(t, l.Stats().ResolverBroken)

	tiers.Remove("f-vip")
	require.False(t, l.TakeAt(0, "f-vip", 1).Allowed, "4 used, 1 allowed")
	require.NoError(t, tiers.Set("f", engine.TokenBucket(engine.PerHour(1), 6)))
	require.True(t, l.TakeAt(0, "f-vip", 2).Allowed)
	require.False(t, l.TakeAt(0, "f-vip", 1).Allowed)
}

func TestBrokenResolver(t *testing.T) {
	answers := []func() (engine.Limit, bool){
		func() (engine.Limit, bool) { panic("down") },
		func() (engine.Limit, bool) { return engine.Limit{}, true },
		func() (engine.Limit, bool) { return engine.TokenBucket(engine.PerHour(-1), 1), true },
		func() (engine.Limit, bool) { return engine.Unlimited(), false },
	}
	i := 0
	l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 3),
		engine.WithResolver(engine.ResolverFunc[string](func(string) (engine.Limit, bool) { return answers[i%4]() })))
	got := 0
	for ; i < 40; i++ {
		if l.Allow("a") {
			got++
		}
	}
	require.Equal(t, 3, got, "the default limit")
	require.EqualValues(t, 30, l.Stats().ResolverBroken)
	require.EqualValues(t, 10, l.Stats().ResolverUnknown)
	_, err := engine.New[int](engine.Unlimited(), engine.WithResolver(engine.ResolverFunc[string](nil)))
	require.ErrorIs(t, err, engine.ErrOption, "a resolver of other keys")
}

// TestManyLimits: a resolver that makes up limits without end does not fill the memory.
func TestManyLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("makes some 66,000 limits")
	}
	n := int64(0)
	l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 1),
		engine.WithResolver(engine.ResolverFunc[string](func(string) (engine.Limit, bool) {
			n++
			return engine.FixedWindow(n, time.Hour), true
		})))
	for range 66000 {
		l.Allow("a")
	}
	require.Positive(t, l.Stats().ResolverBroken)
	require.Error(t, l.SetLimit(engine.FixedWindow(1<<40, time.Hour)))
	require.NoError(t, l.SetLimit(engine.FixedWindow(5, time.Hour)), "one that is known")
}

// TestStressResolverFlips: a key's limit changes all the time between three limits of different
// algorithms while goroutines take. Time stands still, so no schedule of the limits admits more
// than the largest capacity; and usage never falls: at the end the largest has nothing left.
func TestStressResolverFlips(t *testing.T) {
	sets := [][]engine.Limit{
		{engine.TokenBucket(engine.PerHour(60), 50), engine.TokenBucket(engine.PerSecond(3), 20), engine.GCRA(engine.PerMinute(7), 35)},
		{engine.TokenBucket(engine.PerHour(60), 50), engine.FixedWindow(30, time.Hour), engine.SlidingWindow(40, time.Minute)},
		{engine.SlidingLog(50, time.Hour), engine.TokenBucket(engine.PerSecond(3), 20), engine.FixedWindow(30, time.Minute)},
		{engine.SlidingLog(50, time.Hour), engine.SlidingLog(10, time.Second), engine.LeakyQueue(engine.PerHour(3), 45)},
	}
	for _, limits := range sets {
		t.Run(fmt.Sprint(limits), func(t *testing.T) {
			for round := range 30 {
				flipRound(t, limits, round)
			}
		})
	}
}

func flipRound(t *testing.T, limits []engine.Limit, round int) {
	t.Helper()
	clock := enginetest.NewClock()
	clock.Set(time.Duration(round) * time.Minute)
	var now atomic.Int64
	resolver := engine.ResolverFunc[string](func(string) (engine.Limit, bool) { return limits[now.Load()%3], true })
	l := engine.Must[string](limits[0], engine.WithResolver(resolver), engine.WithClock(clock))
	var admitted atomic.Int64
	var stop atomic.Bool
	var flipper sync.WaitGroup
	flipper.Go(func() {
		for !stop.Load() {
			now.Add(1)
			l.Sweep()
		}
	})
	atOnce(8, func(i int) {
		rnd := rand.New(rand.NewPCG(uint64(round), uint64(i)))
		for range 60 {
			n := 1 + rnd.Int64N(2)
			if l.AllowN("k", n) {
				admitted.Add(n)
			}
		}
	})
	stop.Store(true)
	flipper.Wait()
	now.Store(0)
	for l.Allow("k") {
		admitted.Add(1)
	}
	require.EqualValues(t, 50, admitted.Load())
	require.Equal(t, 1, l.Len())
}
