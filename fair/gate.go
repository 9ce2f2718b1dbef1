package fair

import (
	"math"
	"math/bits"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// gate is the shared limit, and what can be said of its future. Times are passed in.
type gate struct {
	limiter  *engine.Limiter[int] // of one key, 0
	capacity int64
	rate     engine.Rate // as enforced; of a window its limit and length; zero if there is none
	bucket   bool        // earns continuously: its future is known exactly
	paced    bool        // lets one call through at a time: a leaky queue
}

func newGate(l engine.Limit) (*gate, error) {
	limiter, err := engine.New[int](l)
	if err != nil {
		return nil, err
	}
	// Without its sweep, which is for many keys, it needs no timer; a word that becomes too old is
	// treated by the call that finds it.
	_ = limiter.Close()
	g := &gate{limiter: limiter}
	g.learn(l)
	return g, nil
}

func (g *gate) set(l engine.Limit) error {
	if err := g.limiter.SetLimit(l); err != nil {
		return err
	}
	g.learn(l)
	return nil
}

// learn notes what the calls need to know of a valid limit.
func (g *gate) learn(l engine.Limit) {
	g.capacity, g.rate, g.bucket = l.Capacity(), l.Effective(), false
	g.paced = l.Algorithm() == engine.AlgorithmLeakyQueue
	switch l.Algorithm() {
	case engine.AlgorithmTokenBucket, engine.AlgorithmGCRA, engine.AlgorithmLeakyBucket:
		g.bucket = true
	}
}

// admit takes n >= 1 permits if at least so many more than those reserved for others are there. A
// refusal takes nothing, and its RetryAfter is when n and what is reserved will have been earned; it is
// exact if nothing is reserved.
func (g *gate) admit(now, n, reserved int64) engine.Decision {
	if !g.paced && reserved == 0 {
		return g.limiter.TakeAt(time.Duration(now), 0, n)
	}
	look, free := g.look(now)
	if n <= free-min(reserved, free) && (!g.paced || reserved == 0) {
		d := g.limiter.TakeAt(time.Duration(now), 0, n)
		if g.paced {
			d.Remaining = 0
		}
		return d
	}
	retry := g.earliest(now, reserved, n)
	if retry != engine.Never {
		retry = max(1, retry)
	}
	return engine.Decision{Limit: g.capacity, Remaining: max(0, free-reserved), RetryAfter: retry, ResetAfter: look.ResetAfter}
}

// look returns the limit's state and the permits that are free at once. A leaky queue has some only
// when it is empty: the order of those who wait is kept here, not in the queue.
func (g *gate) look(now int64) (d engine.Decision, free int64) {
	d = g.limiter.PeekAt(time.Duration(now), 0)
	if g.paced && d.Remaining < g.capacity {
		return d, 0
	}
	return d, d.Remaining
}

// alone returns how long n permits take at least if nobody else takes any: exactly that for a
// limit in force until then. engine.Never if they can never be had.
func (g *gate) alone(now, n int64) time.Duration {
	look, free := g.look(now)
	switch {
	case n > g.capacity:
		return engine.Never
	case n <= free:
		return 0
	case g.paced:
		return look.ResetAfter
	}
	return g.limiter.TakeAt(time.Duration(now), 0, n).RetryAfter // refused: nothing is taken
}

// earliest returns how long a call for n permits takes at least if ahead permits go before it: both
// by the time that the n take alone and by the time in which the limit can grant all of them. It is
// certain, and for buckets exact if nobody else takes any.
func (g *gate) earliest(now, ahead, n int64) time.Duration {
	least := g.alone(now, n)
	if least == engine.Never || ahead == 0 {
		return least
	}
	all := add(ahead, n)
	switch {
	case g.bucket && all <= g.capacity:
		return g.alone(now, all)
	case g.bucket:
		return sum(g.alone(now, g.capacity), g.earning(all-g.capacity))
	case g.paced: // those ahead leave one after the other, the first when the queue is empty
		return sum(least, g.earning(ahead))
	}
	// A window may have nearly ended, and the next one may be used up at once.
	if beyond := all - min(all, add(g.capacity, g.capacity)); beyond > 0 {
		least = max(least, g.earning(beyond))
	}
	return least
}

// earning returns the time in which the rate earns n permits, rounded down; engine.Never if it earns
// none.
func (g *gate) earning(n int64) time.Duration {
	if g.rate.Tokens <= 0 {
		return engine.Never
	}
	high, low := bits.Mul64(uint64(n), uint64(g.rate.Per))
	if high >= uint64(g.rate.Tokens) {
		return math.MaxInt64
	}
	d, _ := bits.Div64(high, low, uint64(g.rate.Tokens))
	return time.Duration(min(d, math.MaxInt64))
}

// sum returns a + b of durations that may be engine.Never.
func sum(a, b time.Duration) time.Duration {
	if a == engine.Never || b == engine.Never {
		return engine.Never
	}
	return time.Duration(add(int64(a), int64(b)))
}
