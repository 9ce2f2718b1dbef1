package engine_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/stretchr/testify/require"
)

// TestAlsoScenario: fixed windows of 10 per 60 s and 30 per 1800 s on one key, in either order.
func TestAlsoScenario(t *testing.T) {
	short, long := engine.FixedWindow(10, time.Minute), engine.FixedWindow(30, 30*time.Minute)
	for order, limits := range [][2]engine.Limit{{short, long}, {long, short}} {
		l := engine.Must[string](limits[0], engine.WithAlso(limits[1]))
		passed := func(at time.Duration, calls int) (got int, last engine.Decision) {
			for range calls {
				if last = l.TakeAt(at, "a", 1); last.Allowed {
					got++
				}
			}
			return got, last
		}
		for _, c := range []struct {
			at          time.Duration
			calls, want int
		}{{time.Second, 16, 10}, {61 * time.Second, 15, 10}, {121 * time.Second, 11, 10}} {
			got, _ := passed(c.at, c.calls)
			require.Equal(t, c.want, got)
		}
		got, d := passed(181*time.Second, 1)
		require.Zero(t, got)
		require.Equal(t, 1619*time.Second, d.RetryAfter)
		require.Equal(t, 1-order, d.Rule, "the long one refused")
		require.EqualValues(t, 30, d.Limit)
	}
}

// TestAlsoChargesNothingWhenRefused, for every pair of algorithms and both orders.
func TestAlsoChargesNothingWhenRefused(t *testing.T) {
	for name, large := range everyAlgorithm(10) {
		for other, small := range everyAlgorithm(3) {
			for _, l := range []*engine.Limiter[string]{
				engine.Must[string](large, engine.WithAlso(small)), engine.Must[string](small, engine.WithAlso(large)),
			} {
				require.True(t, l.TakeAt(0, "a", 2).Allowed)
				for range 5 {
					d := l.TakeAt(0, "a", 2)
					require.False(t, d.Allowed, "%s and %s", name, other)
					require.EqualValues(t, 3, d.Limit)
				}
				d := l.TakeAt(0, "a", 4)
				require.Equal(t, engine.Never, d.RetryAfter, "more than one of them holds")
				require.True(t, l.TakeAt(0, "a", 1).Allowed, "nothing was charged for the refused calls")
				require.False(t, l.TakeAt(0, "a", 1).Allowed)
				require.EqualValues(t, 0, l.TakeAt(0, "a", 0).Remaining)
			}
		}
	}
}

// TestOneStoreManyPeriods: a short and a long limit on one key; sweeping for the short one leaves
// the long one's count alone.
func TestOneStoreManyPeriods(t *testing.T) {
	clock := enginetest.NewClock()
	l := engine.Must[string](engine.FixedWindow(10, time.Second), engine.WithAlso(engine.FixedWindow(30, time.Hour)), engine.WithClock(clock))
	for i := range 10 {
		d := l.Take("k", 1)
		require.True(t, d.Allowed)
		wantRule, want := 0, int64(9)
		if left := int64(29 - i); left < want {
			wantRule, want = 1, left
		}
		require.Equal(t, want, d.Remaining)
		require.Equal(t, wantRule, d.Rule)
		clock.Advance(time.Second)
		l.Sweep()
	}
	d := l.Take("k", 20)
	require.False(t, d.Allowed)
	require.Equal(t, engine.Never, d.RetryAfter, "more than the short one holds")
	for range 2 {
		require.True(t, l.Take("k", 10).Allowed)
		clock.Advance(time.Second)
		l.Sweep()
	}
	require.False(t, l.Allow("k"), "30 in the hour, whatever the short window forgot")
}

func TestAlsoOptions(t *testing.T) {
	_, err := engine.New[int](engine.Unlimited(), engine.WithAlso(engine.Limit{}, engine.TokenBucket(engine.PerHour(1), -1)))
	require.ErrorIs(t, err, engine.ErrAlgorithm)
	require.ErrorIs(t, err, engine.ErrBurst)
	require.ErrorContains(t, err, "limit 2")
	_, err = engine.New[int](engine.Unlimited(), engine.WithAlso(make([]engine.Limit, 8)...))
	require.ErrorIs(t, err, engine.ErrOption)
	l := engine.Must[string](engine.Unlimited(), engine.WithAlso(engine.TokenBucket(engine.PerHour(1), 1), engine.Unlimited()))
	require.True(t, l.Allow("a"))
	require.False(t, l.Allow("a"))
	blocked := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 1), engine.WithAlso(engine.Blocked()))
	d := blocked.Take("a", 1)
	require.Equal(t, engine.Never, d.RetryAfter)
	require.Equal(t, 1, d.Rule)
	require.Zero(t, blocked.Len())
}

// TestTakeAll: an address, a user and the whole; the order of the parts changes no answer.
func TestTakeAll(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		clock := enginetest.NewClock()
		ip := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 5), engine.WithClock(clock))
		user := engine.Must[int](engine.SlidingLog(3, time.Minute), engine.WithClock(clock))
		whole := engine.Must[struct{}](engine.FixedWindow(100, time.Hour), engine.WithClock(clock), engine.WithAlso(engine.TokenBucket(engine.PerSecond(10), 4)))
		parts := []engine.Part{ip.Part("192.0.2.1"), user.Part(7), whole.Part(struct{}{})}
		ordered := make([]engine.Part, 3)
		for i, which := range order {
			ordered[i] = parts[which]
		}
		d, which := engine.TakeAll(3, ordered...)
		require.True(t, d.Allowed)
		require.Equal(t, 1, order[which], "the user has the least left")
		require.Zero(t, d.Remaining)
		d, which = engine.TakeAll(2, ordered...)
		require.False(t, d.Allowed)
		require.Equal(t, 1, order[which], "the longest wait")
		require.Equal(t, time.Minute, d.RetryAfter)
		d, _ = engine.TakeAll(4, ordered...)
		require.Equal(t, engine.Never, d.RetryAfter)
		require.True(t, ip.AllowN("192.0.2.1", 2), "nothing was charged to those that would have passed")
		require.True(t, whole.AllowN(struct{}{}, 1))
		require.False(t, user.Allow(7))
	}
	d, which := engine.TakeAll(1)
	require.True(t, d.Allowed)
	require.Equal(t, -1, which)
	l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 1))
	d, _ = engine.TakeAll(-1, l.Part("a"))
	require.False(t, d.Allowed)
	d, which = engine.TakeAll(-1)
	require.False(t, d.Allowed)
	require.Equal(t, -1, which)
	d, which = engine.TakeAll(1, l.Part("b"), engine.Part{})
	require.Equal(t, engine.Never, d.RetryAfter)
	require.Equal(t, 1, which)
	require.EqualValues(t, 1, l.Take("b", 0).Remaining)
	d, _ = engine.TakeAll(0, l.Part("a"))
	require.True(t, d.Allowed)
	d, _ = engine.TakeAllAt(5*time.Hour, 1, l.Part("a"))
	require.True(t, d.Allowed)
	d, _ = engine.TakeAllAt(6*time.Hour-1, 1, l.Part("a"))
	require.False(t, d.Allowed)
}

// TestStressTakeAll: callers contend for overlapping parts while time stands still. No part
// admits more than it holds, a refused call leaves no charge anywhere once all are done, and what
// was admitted is charged everywhere.
func TestStressTakeAll(t *testing.T) {
	for name, limit := range everyAlgorithm(40) {
		refused := int64(0)
		for range 20 {
			clock := enginetest.NewClock()
			a := engine.Must[int](limit, engine.WithClock(clock))
			b := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 70), engine.WithClock(clock))
			var byKey [3]atomic.Int64
			var all, no atomic.Int64
			atOnce(8, func(i int) {
				rnd := rand.New(rand.NewPCG(uint64(i), 9))
				for range 60 {
					key := rnd.IntN(3)
					parts := []engine.Part{a.Part(key), b.Part("whole")}
					if i%2 == 0 {
						parts[0], parts[1] = parts[1], parts[0]
					}
					if d, _ := engine.TakeAll(1, parts...); d.Allowed {
						byKey[key].Add(1)
						all.Add(1)
					} else {
						no.Add(1)
					}
				}
			})
			require.LessOrEqual(t, all.Load(), int64(70), name)
			require.Equal(t, 70-all.Load(), b.Take("whole", 0).Remaining, "%s: charged for a refused call, or not for a permitted one", name)
			for key := range byKey {
				require.LessOrEqual(t, byKey[key].Load(), int64(40))
				left := a.Take(key, 0).Remaining
				require.LessOrEqual(t, left, 40-byKey[key].Load(), name)
				if limit.Algorithm() != engine.AlgorithmLeakyQueue { // where those behind keep their turns
					require.Equal(t, 40-byKey[key].Load(), left, name)
				}
			}
			refused += no.Load()
		}
		require.Positive(t, refused, "the test was idle")
	}
}

// TestReceipts give permits back, once, to where they came from.
func TestReceipts(t *testing.T) {
	for name, limit := range everyAlgorithm(5) {
		clock := enginetest.NewClock()
		clock.Set(time.Minute)
		l := engine.Must[string](limit, engine.WithClock(clock), engine.WithAlso(engine.TokenBucket(engine.PerHour(1), 9)))
		d, r := l.TakeReceipt("a", 3)
		require.True(t, d.Allowed)
		require.False(t, r.Refund(4), "more than was charged")
		require.True(t, r.Refund(2), name)
		require.False(t, r.Refund(2), "more than is left")
		require.EqualValues(t, 4, l.Take("a", 0).Remaining, name)
		require.True(t, r.Refund(1))
		require.False(t, r.Refund(1))
		require.EqualValues(t, 5, l.Take("a", 0).Remaining)
		require.True(t, l.AllowN("a", 4))
		require.False(t, l.AllowN("a", 2))
		_, none := l.TakeReceipt("a", 2)
		require.Nil(t, none)
		require.False(t, none.Refund(1))
		_, r = l.TakeReceipt("a", 1)
		l.Reset("a")
		require.True(t, l.AllowN("a", 5))
		require.False(t, r.Refund(1), "%s: the charge was reset away", name)
		require.EqualValues(t, 0, l.Take("a", 0).Remaining)
	}
}

// TestRefundsUnderAClockThatStepsBack: a refund is made at the latest time seen.
func TestRefundsUnderAClockThatStepsBack(t *testing.T) {
	clock := enginetest.NewClock()
	l := engine.Must[string](engine.TokenBucket(engine.Every(time.Microsecond), 2), engine.WithClock(clock))
	_, a := l.TakeReceipt("k", 1)
	clock.Set(900)
	require.True(t, l.Allow("k"))
	clock.Set(0)
	a.Refund(1)
	clock.Set(900)
	got := 1 // b, at 900
	for _, at := range []time.Duration{900, 1000} {
		clock.Set(at)
		for l.Allow("k") {
			got++
		}
	}
	require.LessOrEqual(t, got, 2, "within 100 ns")
}

// TestRefundAfterTheLimitChangedThereAndBack: what another limit gave back meanwhile is not given
// back again.
func TestRefundAfterTheLimitChangedThereAndBack(t *testing.T) {
	clock := enginetest.NewClock()
	slow, fast := engine.TokenBucket(engine.PerHour(1), 5), engine.TokenBucket(engine.PerSecond(1000), 5)
	l := engine.Must[string](slow, engine.WithClock(clock))
	_, r := l.TakeReceipt("k", 5)
	require.NoError(t, l.SetLimit(fast))
	require.False(t, l.Allow("k"), "5 are owed; from here on they are earned back fast")
	clock.Advance(time.Second)
	require.True(t, l.AllowN("k", 1))
	clock.Advance(time.Second)
	require.NoError(t, l.SetLimit(slow))
	require.True(t, l.AllowN("k", 5))
	require.False(t, r.Refund(5))
	require.False(t, l.Allow("k"))
}

// TestReceiptsDoNotReachIntoAnotherWindow: what time has given back is not given back again.
func TestReceiptsDoNotReachIntoAnotherWindow(t *testing.T) {
	clock := enginetest.NewClock()
	fixed := engine.Must[string](engine.FixedWindow(3, time.Minute), engine.WithClock(clock))
	log := engine.Must[string](engine.SlidingLog(3, time.Minute), engine.WithClock(clock))
	bucket := engine.Must[string](engine.TokenBucket(engine.PerMinute(1), 3), engine.WithClock(clock))
	for _, l := range []*engine.Limiter[string]{fixed, log, bucket} {
		clock.Advance(time.Hour)
		_, r := l.TakeReceipt("a", 1)
		clock.Advance(time.Minute)
		require.True(t, l.AllowN("a", 3))
		require.False(t, r.Refund(1), "it was given back by time already: %v", l.Limit())
		require.False(t, l.Allow("a"))
	}
}

// TestReceiptOfTheSharedBucket goes back to the shared bucket.
func TestReceiptOfTheSharedBucket(t *testing.T) {
	for name, limit := range everyAlgorithm(2) {
		l := engine.Must[string](limit, engine.WithMaxKeys(1, engine.CapShared), engine.WithClock(enginetest.NewClock()))
		require.True(t, l.Allow("known"))
		_, r := l.TakeReceipt("new", 2)
		require.False(t, l.Allow("other"), name)
		require.True(t, r.Refund(1), name)
		require.True(t, l.Allow("other"))
		require.False(t, l.Allow("other"))
		require.True(t, l.Allow("known"))
	}
}
