package fair_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/fair"
	"github.com/stretchr/testify/require"
)

// onClock makes a limiter of one permit a second on a fake clock.
func onClock(burst int64, opts ...fair.Option) (*fair.Limiter[string], *enginetest.Clock) {
	clock := enginetest.NewClock()
	opts = append([]fair.Option{fair.WithClock(clock)}, opts...)
	return fair.Must[string](engine.TokenBucket(engine.PerSecond(1), burst), opts...), clock
}

// TestTakeAloneIsTheEngine: nobody else asks, so every field is the engine's, under each algorithm.
func TestTakeAloneIsTheEngine(t *testing.T) {
	for name, limit := range everyAlgorithm(5) {
		if name == "leaky_queue" {
			continue
		}
		clock := enginetest.NewClock()
		l, e := fair.Must[string](limit, fair.WithClock(clock)), engine.Must[int](limit)
		for i := range 200 {
			n := int64(i%7) - 1
			require.Equal(t, e.TakeAt(clock.Now(), 0, n), l.Take("a", n), "%s, %d permits", name, n)
			clock.Advance(time.Duration(i%5) * 700 * time.Millisecond)
		}
	}
}

// TestTakeOfALeakyQueue lets one call through at a time, in its turn.
func TestTakeOfALeakyQueue(t *testing.T) {
	clock := enginetest.NewClock()
	l := fair.Must[string](engine.LeakyQueue(engine.PerSecond(1), 5), fair.WithClock(clock))
	d := l.Take("a", 2)
	require.True(t, d.Allowed)
	require.Zero(t, d.Delay)
	require.Equal(t, 2*time.Second, l.Take("b", 1).RetryAfter)
	clock.Advance(2 * time.Second)
	require.True(t, l.Allow("a"), "both had nothing")
	require.Equal(t, time.Second, l.Take("b", 1).RetryAfter)
	require.Equal(t, 2*time.Second, l.Take("a", 1).RetryAfter, "b goes first")
	clock.Advance(time.Second)
	require.False(t, l.Allow("a"))
	require.True(t, l.Allow("b"))
	clock.Advance(time.Second)
	require.True(t, l.Allow("a"))
	require.Equal(t, engine.Never, l.Take("a", 6).RetryAfter)
}

// TestRefusedTenantHasItsPlace: it comes back when it was told, and nobody who took his share since
// has been faster, however often he asked.
func TestRefusedTenantHasItsPlace(t *testing.T) {
	l, clock := onClock(1, fair.WithHold(100*time.Millisecond))
	require.True(t, l.Allow("flood"))
	require.False(t, l.Allow("flood"))
	require.False(t, l.Allow("light"))
	clock.Advance(time.Second)
	require.True(t, l.Allow("flood"), "both had nothing")
	d := l.Take("light", 1)
	require.Equal(t, time.Second, d.RetryAfter)
	for range 10 {
		clock.Advance(100 * time.Millisecond)
		for range 100 {
			require.False(t, l.Allow("flood"))
		}
	}
	clock.Advance(100 * time.Millisecond) // the hold
	require.False(t, l.Allow("flood"))
	require.True(t, l.Allow("light"))
	require.Equal(t, 1, l.Stats().Claims, "the flooding one's")
}

// TestClaimLapses: one who does not come back is waited for until his retry-after and the hold, not a
// nanosecond longer.
func TestClaimLapses(t *testing.T) {
	l, clock := onClock(1, fair.WithHold(time.Second/2))
	require.True(t, l.Allow("flood"))
	require.False(t, l.Allow("gone"))
	clock.Advance(time.Second)
	require.True(t, l.Allow("flood")) // charged from here on
	require.False(t, l.Allow("gone"))
	clock.Advance(time.Second + time.Second/2)
	require.False(t, l.Allow("flood"))
	require.True(t, l.Allow("new"), "whoever is within his share is not held back")
	clock.Advance(1)
	require.Equal(t, 1, l.Stats().Claims, "the flooding one's")
	clock.Advance(time.Second)
	require.True(t, l.Allow("flood"))
	require.Equal(t, fair.Stats{}, l.Stats(), "nobody asks: nobody is held")
}

// TestUnclaimedIsForAll: the limit has more than is claimed, and the rest goes to who asks, and is not
// held against him.
func TestUnclaimedIsForAll(t *testing.T) {
	l, clock := onClock(10, fair.WithHold(time.Hour))
	require.True(t, l.Take("busy", 10).Allowed)
	require.False(t, l.Take("gone", 3).Allowed)
	clock.Advance(time.Second)
	require.True(t, l.Allow("busy"))
	clock.Advance(9 * time.Second) // 9 are there, 3 of them claimed
	require.Zero(t, l.Take("busy", 7).Remaining-6)
	passed := 0
	for l.Allow("busy") {
		passed++
	}
	require.Equal(t, 6, passed)
	d := l.Take("busy", 1)
	require.Equal(t, time.Second, d.RetryAfter, "3 claimed and 1")
	require.True(t, l.Take("gone", 2).Allowed, "fewer than were claimed")
	require.True(t, l.Allow("busy"))
	require.False(t, l.Allow("busy"))

	require.False(t, l.Allow("other"))
	clock.Advance(time.Second)
	require.True(t, l.Allow("other"), "busy is ahead by one permit, not by all it ever took")
	clock.Advance(time.Second)
	require.True(t, l.Allow("busy"))
}

// TestAskingTenantsShareByWeight: three that ask all the time, in turn, without waiting, get 1, 2 and
// 5 in 8; any of them asking a hundred times as often changes nothing.
func TestAskingTenantsShareByWeight(t *testing.T) {
	weights := map[string]int64{"one": 1, "two": 2, "five": 5}
	for flooder := range weights {
		l, clock := onClock(1)
		got := map[string]int64{}
		for tenant, w := range weights {
			require.NoError(t, l.SetWeight(tenant, w))
			l.Allow(tenant)
		}
		for step := range 2400 {
			if step == 800 {
				clear(got)
			}
			clock.Advance(time.Second / 10)
			for _, tenant := range []string{"one", "two", "five"} {
				asks := 1
				if tenant == flooder {
					asks = 100
				}
				for range asks {
					if l.Allow(tenant) {
						got[tenant]++
					}
				}
			}
		}
		t.Logf("flooder %s: %v", flooder, got)
		require.EqualValues(t, 160, got["one"]+got["two"]+got["five"], "none is lost")
		for tenant, w := range weights {
			require.InDelta(t, 20*w, got[tenant], 1+float64(w)/8)
		}
	}
}

// TestPoliteTenantsPassWhenTold: each comes back exactly at its retry-after; at its second call or
// third it passes, though one asks all the time.
func TestPoliteTenantsPassWhenTold(t *testing.T) {
	l, clock := onClock(1)
	require.True(t, l.Allow("flood"))
	next, calls := map[string]time.Duration{}, map[string]int{}
	for _, tenant := range []string{"a", "b", "c", "d"} {
		next[tenant] = 0
	}
	for range 100_000 {
		l.Allow("flood")
		for _, tenant := range []string{"a", "b", "c", "d"} {
			if clock.Now() < next[tenant] {
				continue
			}
			calls[tenant]++
			d := l.Take(tenant, 1)
			if !d.Allowed {
				next[tenant] = clock.Now() + d.RetryAfter
				continue
			}
			require.LessOrEqual(t, calls[tenant], 6, "tenant %s", tenant)
			calls[tenant], next[tenant] = 0, clock.Now()+13*time.Second
		}
		clock.Advance(time.Millisecond)
	}
}

// TestOneShotsDoNotLockTheLimit: a crowd, none of which ever comes back, leaves a claim each; all that the
// limit earns still goes to somebody.
func TestOneShotsDoNotLockTheLimit(t *testing.T) {
	clock := enginetest.NewClock()
	l := fair.Must[int](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithClock(clock), fair.WithHold(time.Minute))
	passed := 0
	for i := range 10_000 {
		if l.Allow(i) {
			passed++
		}
		clock.Advance(time.Second / 4)
	}
	require.Equal(t, 2500, passed)
	s := l.Stats()
	require.LessOrEqual(t, s.Claims, 4*61+1, "claims lapse")
	require.LessOrEqual(t, s.Tenants, 1024+2*s.Claims, "and not all that ever passed are held")
}

// TestTakeBesideWait: a call that does not wait goes behind those that do, and has its place among them.
func TestTakeBesideWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithHold(time.Second))
		defer l.Close()
		require.True(t, l.Allow("asks"))
		for range 20 {
			go func() { _ = l.Wait(t.Context(), "waits", 1) }()
		}
		synctest.Wait()
		require.False(t, l.Allow("waits"), "behind its own")
		require.Zero(t, l.Stats().Claims)
		passed, refused := 0, 0
		for l.Len() > 0 {
			d := l.Take("asks", 1)
			if d.Allowed {
				passed++
				continue
			}
			refused++
			time.Sleep(d.RetryAfter)
			synctest.Wait()
		}
		require.InDelta(t, 20, passed, 2, "half of all")
		require.Less(t, refused, 45)
	})
}

// TestClaimHoldsAWaiterBack, until it lapses.
func TestClaimHoldsAWaiterBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithHold(time.Second/2))
		defer l.Close()
		require.True(t, l.Allow("waits"))
		require.False(t, l.Allow("gone"))
		require.NoError(t, l.Wait(t.Context(), "waits", 1))
		require.False(t, l.Allow("gone")) // told 1 s
		start := time.Now()
		require.NoError(t, l.Wait(t.Context(), "waits", 1))
		require.Equal(t, time.Second+time.Second/2+1, time.Since(start))
	})
}

// TestClaimUnderALimitThatEarnsNothing: what is left is not out of reach for ever, but until the claim
// lapses.
func TestClaimUnderALimitThatEarnsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1), 5), fair.WithHold(0))
		defer l.Close()
		require.True(t, l.Take("waits", 5).Allowed)
		require.False(t, l.Allow("gone"))
		require.NoError(t, l.Wait(t.Context(), "waits", 1))
		require.False(t, l.Allow("gone"))
		start := time.Now()
		done := make(chan error, 1)
		go func() { done <- l.Wait(t.Context(), "waits", 5) }()
		synctest.Wait()
		require.NoError(t, l.SetLimit(engine.TokenBucket(engine.Rate{Per: time.Second}, 10)))
		require.NoError(t, <-done, "five are left, one of them claimed")
		require.Equal(t, time.Second+1, time.Since(start))
	})
}

// TestTakeOutOfRange: no number of permits panics, and what can never pass says so.
func TestTakeOutOfRange(t *testing.T) {
	for name, limit := range everyAlgorithm(5) {
		l := fair.Must[float64](limit)
		for _, n := range []int64{-1, math.MinInt64, math.MaxInt64, 6} {
			d := l.Take(1, n)
			require.False(t, d.Allowed, name)
			require.Equal(t, engine.Never, d.RetryAfter, "%s, %d permits", name, n)
		}
		require.Equal(t, engine.Never, l.Take(math.NaN(), 1).RetryAfter)
		require.True(t, l.Take(1, 0).Allowed)
		require.Equal(t, fair.Stats{}, l.Stats(), "hopeless calls claim nothing")
		require.NoError(t, l.Close())
		require.Equal(t, engine.Never, l.Take(1, 1).RetryAfter)
	}
	require.True(t, fair.Must[int](engine.Unlimited()).Take(0, math.MaxInt64).Allowed)
	require.False(t, fair.Must[int](engine.Blocked()).Take(0, 1).Allowed)
}
