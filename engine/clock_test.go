package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/stretchr/testify/require"
)

// TestDefaultClockInABubble: the monotonic clock is the one that testing/synctest fakes.
func TestDefaultClockInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := engine.Must[string](engine.TokenBucket(engine.PerSecond(2), 2))
		defer l.Close()
		require.True(t, l.AllowN("a", 2))
		d := l.Take("a", 1)
		require.False(t, d.Allowed)
		require.Equal(t, 500*time.Millisecond, d.RetryAfter)
		time.Sleep(d.RetryAfter - 1)
		require.False(t, l.Allow("a"))
		time.Sleep(time.Nanosecond)
		require.True(t, l.Allow("a"))
	})
}

// TestCoarseClockNeverRefusesWrongly: between two ticks coarse time stands still, yet a call
// passes at its nanosecond.
func TestCoarseClockNeverRefusesWrongly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := engine.Must[string](engine.TokenBucket(engine.PerSecond(1000), 5), engine.WithCoarseClock(time.Second))
		defer l.Close()
		time.Sleep(300 * time.Millisecond)
		for range 5 {
			require.True(t, l.Allow("a"), "on coarse time 0")
		}
		time.Sleep(700 * time.Millisecond) // a tick
		for range 1000 {
			require.True(t, l.Allow("a"), "1000 a second are due")
			time.Sleep(time.Millisecond)
		}
		peek := l.Peek("a")
		require.True(t, peek.Allowed)
	})
}

// TestCoarseClockBound: against real time an interval admits at most what a tick earns more.
func TestCoarseClockBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tick, burst, perSecond = 10 * time.Millisecond, 5, 1000
		l := engine.Must[string](engine.TokenBucket(engine.PerSecond(perSecond), burst), engine.WithCoarseClock(tick))
		defer l.Close()
		for range 50 {
			time.Sleep(7 * time.Millisecond)
			passed := 0
			for l.Allow("a") {
				passed++
			}
			require.LessOrEqual(t, int64(passed), int64(burst+perSecond*tick/time.Second))
			require.GreaterOrEqual(t, passed, burst)
		}
	})
}

// TestCoarseClockStops: Close ends its goroutine; the bubble would not end otherwise.
func TestCoarseClockStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), engine.WithCoarseClock(time.Hour))
		require.True(t, l.Allow("a"))
		require.NoError(t, l.Close())
		time.Sleep(999 * time.Millisecond)
		require.False(t, l.Allow("a"))
		time.Sleep(time.Millisecond)
		require.True(t, l.Allow("a"), "the exact clock is read from then on")
	})
}

// TestBackgroundSweep forgets what equals new without any call.
func TestBackgroundSweep(t *testing.T) {
	for _, limit := range []engine.Limit{engine.TokenBucket(engine.PerSecond(1), 1), engine.SlidingLog(1, time.Second)} {
		synctest.Test(t, func(t *testing.T) {
			l := engine.Must[int](limit)
			defer l.Close()
			for i := range 5000 {
				require.True(t, l.Allow(i))
			}
			time.Sleep(9 * time.Second)
			require.Equal(t, 5000, l.Len())
			time.Sleep(2 * time.Second)
			synctest.Wait()
			require.Zero(t, l.Len())
		})
	}
}

// TestCoarseClockBehindTheHorizon: a tick so long that a word charged on the exact clock could
// not be read on coarse time is refused.
func TestCoarseClockBehindTheHorizon(t *testing.T) {
	fast := engine.TokenBucket(engine.Rate{Tokens: 1 << 26, Per: 1}, 5)
	_, err := engine.New[string](fast, engine.WithCoarseClock(time.Hour))
	require.ErrorIs(t, err, engine.ErrOption)
	l, err := engine.New[string](fast, engine.WithCoarseClock(time.Second))
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

// reentrant is a clock that leaps and calls back into its limiter while it is read.
type reentrant struct {
	now  time.Duration
	leap func()
}

func (c *reentrant) Now() time.Duration {
	if leap := c.leap; leap != nil {
		c.leap = nil
		leap()
	}
	return c.now
}

// TestDueTokensAreGrantedWhenTimeLeapsInsideACall: between a call's look at the word and at the
// clock time leaps beyond the horizon and another call sweeps. The word cannot be read any more:
// the call must not be refused on it.
func TestDueTokensAreGrantedWhenTimeLeapsInsideACall(t *testing.T) {
	clock := &reentrant{}
	l := engine.Must[string](engine.TokenBucket(engine.Rate{Tokens: 1 << 26, Per: 1}, 5), engine.WithClock(clock))
	leap := func() {
		clock.now += 1<<35 + 1<<34
		require.True(t, l.Allow("other"))
	}
	for range 3 {
		require.True(t, l.AllowN("a", 5))
		clock.leap = leap
		require.True(t, l.AllowN("a", 5))
		clock.leap = leap
		peek := l.Peek("a")
		require.True(t, peek.Allowed)
		require.Zero(t, peek.ResetAfter)
	}
}

// TestANewKeyAfterALeapSweeps: a table that has to be swept before a word is charged is swept by the call that
// brings a new key, on whatever clock, and the key gets what is due.
func TestANewKeyAfterALeapSweeps(t *testing.T) {
	limit := engine.TokenBucket(engine.Rate{Tokens: 1 << 26, Per: 1}, 5) // swept every 8 s
	held := func(l *engine.Limiter[string]) {
		t.Helper()
		before := l.Stats().Table.Sweeps
		require.True(t, l.AllowN("new", 5))
		require.Equal(t, before+1, l.Stats().Table.Sweeps)
		require.Equal(t, 1, l.Len())
	}
	clock := &reentrant{}
	l := engine.Must[string](limit, engine.WithClock(clock))
	require.True(t, l.AllowN("old", 5))
	clock.now += time.Hour
	held(l)
	l = engine.Must[string](limit)
	require.True(t, l.TakeAt(0, "old", 5).Allowed)
	before := l.Stats().Table.Sweeps
	require.True(t, l.TakeAt(time.Hour, "new", 5).Allowed)
	require.Equal(t, before+1, l.Stats().Table.Sweeps)
	require.Equal(t, 1, l.Len())
	for _, options := range [][]engine.Option{nil, {engine.WithCoarseClock(time.Second)}} {
		synctest.Test(t, func(t *testing.T) {
			l := engine.Must[string](limit, options...)
			defer l.Close()
			require.True(t, l.AllowN("old", 5))
			time.Sleep(time.Hour) // the background sweep has gone to rest since
			require.Zero(t, l.Len())
			held(l)
		})
	}
}
