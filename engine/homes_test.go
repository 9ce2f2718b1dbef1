package engine_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/stretchr/testify/require"
)

// hooked is a clock that stands at 0 and runs a function at one of its readings.
type hooked struct {
	until int // readings before that
	hook  func()
}

func (c *hooked) Now() time.Duration {
	if c.until--; c.until == 0 {
		c.hook()
	}
	return 0
}

// TestTheSharedBucketTakesNobodysLog: a key that finds no room is charged to the shared bucket
// while another caller, who sees it under a sliding log, charges its log. What the log has used
// stays the key's own.
func TestTheSharedBucketTakesNobodysLog(t *testing.T) {
	for reading := range 8 {
		log, bucket := engine.SlidingLog(5, time.Hour), engine.TokenBucket(engine.PerHour(1), 5)
		limit := bucket
		clock := &hooked{}
		l := engine.Must[string](bucket, engine.WithMaxKeys(1, engine.CapShared), engine.WithClock(clock),
			engine.WithResolver(engine.ResolverFunc[string](func(string) (engine.Limit, bool) { return limit, true })))
		require.NoError(t, l.Close(), "no background sweep reads the clock")
		require.True(t, l.Allow("known"))
		clock.until, clock.hook = reading+1, func() {
			limit = log
			require.True(t, l.AllowN("k", 5))
			limit = bucket
		}
		l.Allow("k")
		if clock.until > 0 { // nobody came in between
			break
		}
		limit = log
		require.False(t, l.Allow("k"), "reading %d: 5 of 5 are used", reading)
		require.LessOrEqual(t, l.Len(), 2, "reading %d", reading)
	}
}

// TestPeekAgreesWithTakeBeforeAKeyMoves into a log, after a leap of time and for any n.
func TestPeekAgreesWithTakeBeforeAKeyMoves(t *testing.T) {
	fast := engine.TokenBucket(engine.Rate{Tokens: 1 << 26, Per: time.Nanosecond}, 5) // a horizon of 34 s
	for _, at := range []time.Duration{0, 10 * time.Second, 40 * time.Second, 50 * time.Second, 90 * time.Second} {
		l := engine.Must[string](fast)
		require.True(t, l.TakeAt(0, "k", 5).Allowed)
		require.NoError(t, l.SetLimit(engine.SlidingLog(5, time.Hour)))
		peek := l.PeekAt(at, "k")
		require.Equal(t, peek.Allowed, l.TakeAt(at, "k", 1).Allowed, "%v", at)
	}
	for _, n := range []int64{0, 1, 3, 4} {
		l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 10))
		require.True(t, l.TakeAt(0, "k", 8).Allowed)
		require.NoError(t, l.SetLimit(engine.SlidingLog(3, time.Hour)))
		d := l.TakeAt(0, "k", n)
		require.Equal(t, n == 0, d.Allowed, "8 of 3 are used: %d", n)
		require.Zero(t, d.Remaining, "%d", n)
	}
}

// TestPeekOfALogMakesRoom: a log that equals new gives its place to a new key, so neither a peek nor
// a call of several limits, which peeks first, calls the table full.
func TestPeekOfALogMakesRoom(t *testing.T) {
	for _, also := range [][]engine.Limit{nil, {engine.Unlimited()}} {
		clock := enginetest.NewClock()
		l := engine.Must[string](engine.SlidingLog(1, time.Second), engine.WithMaxKeys(1, engine.CapDeny),
			engine.WithClock(clock), engine.WithAlso(also...))
		require.True(t, l.Allow("a"))
		require.False(t, l.Peek("b").Allowed)
		clock.Advance(time.Second)
		require.True(t, l.Peek("b").Allowed)
		require.True(t, l.Allow("b"))
		require.False(t, l.Allow("a"))
		clock.Advance(time.Second)
		require.True(t, l.Allow("a"), "without a peek before")
	}
}

// TestCoarseClockNeverRefusesALogWrongly: the exact clock is read before a log refuses.
func TestCoarseClockNeverRefusesALogWrongly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := engine.Must[string](engine.SlidingLog(1, time.Millisecond), engine.WithCoarseClock(time.Second))
		defer l.Close()
		for range 20 {
			require.True(t, l.Peek("a").Allowed)
			require.True(t, l.Allow("a"))
			require.False(t, l.Allow("a"))
			require.Equal(t, time.Millisecond, l.Take("a", 1).RetryAfter)
			time.Sleep(time.Millisecond)
			require.True(t, engine.AllowBytes(l, []byte("a")))
			time.Sleep(time.Millisecond)
		}
	})
}

// TestLogsThatMovedInAreSwept, though no call of theirs was ever allowed; and after Close no sweep
// of logs begins.
func TestLogsThatMovedInAreSwept(t *testing.T) {
	for _, closed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := engine.Must[int](engine.TokenBucket(engine.PerHour(1), 10))
			defer l.Close()
			for key := range 100 {
				require.True(t, l.AllowN(key, 10))
			}
			if closed {
				require.NoError(t, l.Close())
			}
			require.NoError(t, l.SetLimit(engine.SlidingLog(3, time.Second)))
			for key := range 100 {
				require.False(t, l.Allow(key))
			}
			require.Equal(t, 100, l.Len())
			time.Sleep(time.Hour)
			synctest.Wait()
			require.Equal(t, closed, l.Len() > 0)
		})
	}
}

// TestResetOfAKeyThatMoves: while calls that are refused move a key from one home to the other
// without end, a reset finds it.
func TestStressResetOfAKeyThatMoves(t *testing.T) {
	limits := []engine.Limit{engine.TokenBucket(engine.PerHour(1), 5), engine.SlidingLog(5, time.Hour)}
	var turn atomic.Int64
	l := engine.Must[string](limits[0], engine.WithClock(enginetest.NewClock()),
		engine.WithResolver(engine.ResolverFunc[string](func(string) (engine.Limit, bool) { return limits[turn.Load()%2], true })))
	for range 2000 {
		for l.Allow("k") {
		}
		var passed, stop atomic.Bool
		var flipper sync.WaitGroup
		flipper.Go(func() {
			for !stop.Load() && !passed.Load() {
				turn.Add(1)
				passed.Store(l.Allow("k"))
			}
		})
		l.Reset("k")
		stop.Store(true)
		flipper.Wait()
		require.True(t, passed.Load() || l.Allow("k"), "the reset met the key in neither home")
	}
}

// TestAnUncountedCallHasNothingToGiveBack, not even of what its key has used since in a place of its
// own.
func TestAnUncountedCallHasNothingToGiveBack(t *testing.T) {
	for name, limit := range everyAlgorithm(3) {
		clock := enginetest.NewClock()
		l := engine.Must[string](limit, engine.WithMaxKeys(1, engine.CapAllow), engine.WithClock(clock))
		require.True(t, l.Allow("known"))
		d, r := l.TakeReceipt("k", 2)
		require.True(t, d.Allowed)
		clock.Advance(1001 * time.Hour)
		l.Sweep()
		if l.Len() > 0 { // a sliding window weighs for another
			clock.Advance(1000 * time.Hour)
			require.Equal(t, 1, l.Sweep(), name)
		}
		require.True(t, l.AllowN("k", 3), name)
		require.False(t, r.Refund(2), name)
		require.False(t, l.Allow("k"), name)
	}
	l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 3), engine.WithMaxKeys(1, engine.CapAllow), engine.WithClock(enginetest.NewClock()))
	require.True(t, l.Allow("known"))
	_, r := l.TakeReceipt("k", 2)
	l.Reset("known")
	require.True(t, l.AllowN("k", 3), "in the place that the other one left, at the same time")
	require.False(t, r.Refund(2))
}

// TestStressRefunds: of many refunds at once no more is given back than was charged.
func TestStressRefunds(t *testing.T) {
	for name, limit := range everyAlgorithm(200) {
		for range 20 {
			l := engine.Must[string](limit, engine.WithClock(enginetest.NewClock()))
			require.True(t, l.AllowN("k", 100))
			_, r := l.TakeReceipt("k", 100)
			var returned atomic.Int64
			atOnce(8, func(i int) {
				for r.Refund(int64(1 + i%3)) {
					returned.Add(int64(1 + i%3))
				}
			})
			require.LessOrEqual(t, returned.Load(), int64(100), name)
			require.Equal(t, returned.Load(), l.Take("k", 0).Remaining, name)
		}
	}
}

// TestPeekOfAQueueTellsTheDelay that a take would be told.
func TestPeekOfAQueueTellsTheDelay(t *testing.T) {
	l := engine.Must[string](engine.LeakyQueue(engine.PerSecond(1), 5))
	for i := range 5 {
		peek := l.PeekAt(0, "k")
		require.Equal(t, l.TakeAt(0, "k", 1).Delay, peek.Delay)
		require.Equal(t, time.Duration(i)*time.Second, peek.Delay)
	}
	require.Zero(t, l.PeekAt(0, "k").Delay, "refused")
}

// TestARefusedCallAtTheCapChargesNothing, not even if its first limit took the key in from a log and
// with it the place that the second one needed.
func TestARefusedCallAtTheCapChargesNothing(t *testing.T) {
	clock := enginetest.NewClock()
	also := engine.FixedWindow(5, time.Second)
	l := engine.Must[string](engine.SlidingLog(5, time.Hour), engine.WithAlso(also), engine.WithClock(clock),
		engine.WithMaxKeys(1, engine.CapDeny))
	require.True(t, l.AllowN("k", 2))
	clock.Advance(time.Second)
	require.Equal(t, 1, l.Sweep(), "the count of the second limit")
	require.NoError(t, l.SetLimit(engine.TokenBucket(engine.PerHour(1), 5)))
	require.False(t, l.Allow("k"))
	require.EqualValues(t, 3, l.Take("k", 0).Remaining)
}
