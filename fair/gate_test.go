package fair

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/stretchr/testify/require"
)

// TestEarliestIsCertain: however greedily one tenant takes, what goes ahead of a call and the call
// itself are never granted earlier than was said; for buckets and queues exactly then.
func TestEarliestIsCertain(t *testing.T) {
	early := 0
	for seed := range uint64(4000) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		burst, per := 1+rnd.Int64N(6), time.Duration(1+rnd.IntN(1000))
		limits := []engine.Limit{
			engine.TokenBucket(engine.Rate{Tokens: 1, Per: per}, burst), engine.GCRA(engine.Rate{Tokens: 1, Per: per}, burst),
			engine.LeakyQueue(engine.Rate{Tokens: 1, Per: per}, burst),
			engine.FixedWindow(burst, per), engine.SlidingWindow(burst, per), engine.SlidingLog(burst, per),
		}
		g, err := newGate(limits[rnd.IntN(len(limits))])
		require.NoError(t, err)
		now := int64(0)
		for range rnd.IntN(10) {
			now += rnd.Int64N(int64(per) + 1)
			g.admit(now, 1+rnd.Int64N(burst), 0)
		}
		ahead, n := rnd.Int64N(4*burst), 1+rnd.Int64N(burst)
		said := g.earliest(now, ahead, n)
		at := now
		for _, part := range parts(ahead, n) {
			at = grantedAt(t, g, at, part)
		}
		took := time.Duration(at - now)
		require.LessOrEqual(t, said, took, "seed %d: %v, %d ahead of %d", seed, g.limiter.Limit(), ahead, n)
		if g.bucket || g.paced {
			require.Equal(t, took, said, "seed %d: %v, %d ahead of %d", seed, g.limiter.Limit(), ahead, n)
		} else if said < took {
			early++
		}
	}
	t.Logf("%d times a window took longer than was certain", early)
}

// parts is the permits ahead one by one, and then n.
func parts(ahead, n int64) []int64 {
	all := make([]int64, 0, ahead+1)
	for range ahead {
		all = append(all, 1)
	}
	return append(all, n)
}

// grantedAt takes n permits as early as they can be had, and returns when.
func grantedAt(t *testing.T, g *gate, now, n int64) int64 {
	t.Helper()
	for {
		d := g.admit(now, n, 0)
		if d.Allowed {
			return now
		}
		require.Positive(t, d.RetryAfter)
		now += int64(d.RetryAfter)
	}
}

// TestAdmitKeepsTheReserve: at every state, n pass if and only if the reserve is there too.
func TestAdmitKeepsTheReserve(t *testing.T) {
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 12))
		g, err := newGate(engine.TokenBucket(engine.Rate{Tokens: 1, Per: 10}, 10))
		require.NoError(t, err)
		now := int64(0)
		for range 50 {
			now += rnd.Int64N(40)
			n, reserved := 1+rnd.Int64N(10), rnd.Int64N(20)
			_, free := g.look(now)
			d := g.admit(now, n, reserved)
			require.Equal(t, n+reserved <= free, d.Allowed)
			_, left := g.look(now)
			if d.Allowed {
				require.Equal(t, free-n, left)
				continue
			}
			require.Equal(t, free, left, "a refusal takes nothing")
			require.Positive(t, d.RetryAfter)
		}
	}
}

// TestNoTimerOfTheEngine: the limit's own sweep, which needs one, is off; a word that is too old to be
// read is treated all the same.
func TestNoTimerOfTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Must[int](engine.TokenBucket(engine.PerSecond(1), 1))
		require.True(t, l.Allow(0))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, 1, l.gate.limiter.Len(), "nobody swept")
		time.Sleep(200 * 365 * 24 * time.Hour)
		require.True(t, l.Allow(0))
		require.False(t, l.Allow(0))
	})
}

// TestQueueBoundsFollow: of a queue that is never empty, what has left it does not count any more.
func TestQueueBoundsFollow(t *testing.T) {
	s := newSim(t, engine.TokenBucket(engine.PerSecond(1), 5), nil)
	s.limiter.permits = 10
	s.wait("a", 5, 3)
	for range 10 {
		require.Len(t, s.queues["a"], 2)
		_, err := s.limiter.join(t.Context(), "a", 1)
		require.ErrorIs(t, err, ErrQueueFull)
		require.True(t, s.next(time.Hour))
		s.wait("a", 5, 1)
		last := s.queues["a"][1]
		require.ErrorIs(t, s.limiter.leave(last.w, context.Canceled), context.Canceled)
		s.queues["a"] = s.queues["a"][:1]
		s.wait("a", 5, 1)
	}
	require.Equal(t, Stats{Waiting: 2, Permits: 10, Tenants: 1, Weights: 0}, s.limiter.Stats())
}

// TestMemoryIsGivenBack: once nobody asks, what thousands of tenants took.
func TestMemoryIsGivenBack(t *testing.T) {
	clocked := newSim(t, engine.TokenBucket(engine.PerSecond(1), 1), nil)
	l := clocked.limiter
	l.Allow("first")
	var all []*waiter[string]
	for i := range 2 * keepPeak {
		w, err := l.join(t.Context(), string(rune('a'+i)), 1)
		require.NoError(t, err)
		all = append(all, w)
	}
	require.Equal(t, 2*keepPeak, l.order.peak)
	for _, w := range all {
		require.ErrorIs(t, l.leave(w, context.Canceled), context.Canceled)
	}
	require.Zero(t, l.order.peak)
	require.Empty(t, l.order.tenants)
	require.Nil(t, l.order.waiting.items)
}
