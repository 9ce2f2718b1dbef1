package engine_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/stretchr/testify/require"
)

// mixed is a random limit and the model of it, nil where the package has none.
func mixed(rnd *rand.Rand) (engine.Limit, oracle.Model) {
	n := rnd.Int64N(9)
	per := time.Duration(1 + rnd.Int64N(40))
	tokens := rnd.Int64N(5)
	r := engine.Rate{Tokens: tokens, Per: per}
	switch rnd.IntN(7) {
	case 0:
		return engine.TokenBucket(r, n), oracle.NewTokenBucket(tokens, per, n)
	case 1:
		return engine.GCRA(r, n), oracle.NewTokenBucket(tokens, per, n)
	case 2:
		return engine.LeakyBucket(r, n), oracle.NewTokenBucket(tokens, per, n)
	case 3:
		return engine.LeakyQueue(r, n), oracle.NewTokenBucket(tokens, per, n)
	case 4:
		return engine.FixedWindow(n, per), oracle.NewFixedWindow(n, per)
	case 5:
		return engine.SlidingWindow(n, per), oracle.NewSlidingWindow(n, per)
	default:
		return engine.SlidingLog(n, per), oracle.NewSlidingLog(n, per)
	}
}

// jointly joins the answers of models: all must pass, and the longest wait counts.
func jointly(models []oracle.Model, now, n int64) (allowed bool, retry int64) {
	allowed = true
	for _, m := range models {
		ok, wait := m.Peek(now, n)
		allowed = allowed && ok
		if retry != oracle.Never && (wait == oracle.Never || wait > retry) {
			retry = wait
		}
	}
	return allowed, retry
}

// TestAlsoEqualsOracles: several random limits on a key are their models, all or nothing.
func TestAlsoEqualsOracles(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 80
	}
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(seed, 7))
		limits, models := make([]engine.Limit, 1+rnd.IntN(4)), []oracle.Model{}
		for i := range limits {
			var m oracle.Model
			limits[i], m = mixed(rnd)
			models = append(models, m)
		}
		l := engine.Must[string](limits[0], engine.WithAlso(limits[1:]...))
		now := int64(rnd.IntN(100)) - 50
		for range 80 {
			now += rnd.Int64N(1 + rnd.Int64N(30))
			n := rnd.Int64N(5) - rnd.Int64N(2)
			peek := l.PeekAt(time.Duration(now), "k")
			ok, retry := jointly(models, now, 1)
			require.Equal(t, ok, peek.Allowed, "%v at %d: peek", limits, now)
			require.EqualValues(t, retry, peek.RetryAfter)
			d := l.TakeAt(time.Duration(now), "k", n)
			ok, retry = jointly(models, now, n)
			require.Equal(t, ok, d.Allowed, "%v at %d: %d", limits, now, n)
			require.EqualValues(t, retry, d.RetryAfter, "%v at %d: %d", limits, now, n)
			left := int64(1 << 40)
			for i, m := range models {
				if ok {
					m.Take(now, n)
				}
				left = min(left, m.Remaining(now))
				if i == d.Rule && n >= 0 { // a call of fewer is an error, and describes nothing
					require.Equal(t, m.Remaining(now), d.Remaining)
					require.EqualValues(t, m.ResetAfter(now), d.ResetAfter, "%v at %d: %d", limits, now, n)
					require.Equal(t, limits[i].Capacity(), d.Limit)
				}
			}
			if ok {
				require.Equal(t, left, d.Remaining)
			}
		}
	}
}

// TestTakeAllInAnyOrder: random parts in two orders give the same answers, Decision by Decision, but
// for which of equal parts is named.
func TestTakeAllInAnyOrder(t *testing.T) {
	for seed := range uint64(300) {
		var sides [2][]engine.Part
		for side := range sides {
			rnd := rand.New(rand.NewPCG(seed, 11))
			for range 1 + rnd.IntN(6) {
				l, _ := mixed(rnd)
				switch rnd.IntN(12) {
				case 0:
					l = engine.Unlimited()
				case 1:
					l = engine.Blocked()
				}
				also, _ := mixed(rnd)
				opts := []engine.Option{}
				if rnd.IntN(3) == 0 {
					opts = append(opts, engine.WithAlso(also))
				}
				sides[side] = append(sides[side], engine.Must[string](l, opts...).Part("k"))
			}
		}
		rnd := rand.New(rand.NewPCG(seed, 13))
		order := rnd.Perm(len(sides[1]))
		shuffled := make([]engine.Part, len(order))
		for i, which := range order {
			shuffled[i] = sides[1][which]
		}
		now := time.Duration(0)
		for range 60 {
			now += time.Duration(rnd.Int64N(1 + rnd.Int64N(20)))
			n := rnd.Int64N(5) - rnd.Int64N(2)
			a, i := engine.TakeAllAt(now, n, sides[0]...)
			b, j := engine.TakeAllAt(now, n, shuffled...)
			if i != order[j] { // two parts of equal answers
				a.Rule, b.Rule = 0, 0
			}
			require.Equal(t, a, b, "seed %d at %d: %d", seed, now, n)
		}
	}
}

// TestRetryAfterIsTrueAfterAChange of the limit, from every algorithm to every other: a refused call
// passes exactly then and not a nanosecond earlier, and a peek before the key is converted says the
// same as the take that converts it.
func TestRetryAfterIsTrueAfterAChange(t *testing.T) {
	waits := 0
	for seed := range uint64(6000) {
		rnd := rand.New(rand.NewPCG(seed, 17))
		from, _ := mixed(rnd)
		l := engine.Must[string](from)
		now := time.Duration(rnd.Int64N(100) - 50)
		for range 3 {
			for range rnd.IntN(12) {
				now += time.Duration(rnd.Int64N(4))
				l.TakeAt(now, "k", 1+rnd.Int64N(3))
			}
			to, _ := mixed(rnd)
			require.NoError(t, l.SetLimit(to))
			now += time.Duration(rnd.Int64N(4))
			peek := l.PeekAt(now, "k")
			d := l.TakeAt(now, "k", 1)
			require.Equal(t, peek.Allowed, d.Allowed, "%v to %v", from, to)
			require.Equal(t, peek.RetryAfter, d.RetryAfter, "%v to %v", from, to)
			require.Equal(t, peek.Delay, d.Delay, "%v to %v", from, to)
			if !d.Allowed {
				require.Equal(t, peek, d, "%v to %v", from, to)
			}
			if d.RetryAfter > 0 {
				waits++
				require.Equal(t, peek, l.PeekAt(now, "k"))
				early := l.TakeAt(now+d.RetryAfter-1, "k", 1)
				require.False(t, early.Allowed, "%v to %v, seed %d: %v early", from, to, seed, d)
				now += d.RetryAfter
				require.True(t, l.TakeAt(now, "k", 1).Allowed, "%v to %v, seed %d: %v", from, to, seed, d)
			}
			from = to
		}
	}
	require.Greater(t, waits, 1000)
}
