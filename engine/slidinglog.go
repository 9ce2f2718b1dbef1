package engine

import (
	"math"
	"time"

	"github.com/penstock-go/penstock/evict"
	"github.com/penstock-go/penstock/sharded"
)

// logs is where the keys of a sliding window log live: the one algorithm that needs memory
// for each event and so does not fit in a word.
type logs[K comparable] struct {
	*sharded.Logs[K]
	limit    sharded.LogLimit
	overflow *sharded.Logs[struct{}] // the one log that new keys beyond the cap share
	time     *timeline
	sweeper  *evict.Sweeper[logs[K], *logs[K]]
}

func newLogs[K comparable](l Limit, o *options, t *timeline) *logs[K] {
	g := &logs[K]{
		Logs:     sharded.NewLogs[K](),
		limit:    sharded.LogLimit{Limit: l.tokens, WindowNanos: int64(l.period)},
		overflow: sharded.NewLogs[struct{}](),
		time:     t,
	}
	g.SetMaxKeys(o.maxKeys)
	g.sweeper = evict.New(g, o.sweepInterval)
	return g
}

// SweepStep sweeps all logs.
func (g *logs[K]) SweepStep() (done bool) {
	g.time.refresh()
	g.Sweep(g.time.settled(), nil)
	return true
}

// Horizon has no bound: logs hold whole times.
func (g *logs[K]) Horizon() int64 { return math.MaxInt64 }

// take charges n permits of key.
func (g *logs[K]) take(c *core, key K, n, given int64) Decision {
	clock := func() int64 { return g.time.now(given) }
	return g.settle(c, g.Take(key, g.limit, n, clock), n, clock)
}

// takeLogBytes is l.AllowN(string(key), n) without making a string of a known key.
func takeLogBytes(l *Limiter[string], key []byte, n int64) bool {
	clock := func() int64 { return l.time.now(readClock) }
	d := l.logs.settle(&l.core, sharded.TakeLogBytes(l.logs.Logs, key, l.logs.limit, n, clock), n, clock)
	l.stats.count(d.Allowed)
	return d.Allowed
}

// settle makes the answer to a take; a new key that found no room is decided by the policy.
func (g *logs[K]) settle(c *core, d sharded.LogDecision, n int64, clock func() int64) Decision {
	if d.Allowed {
		g.sweeper.Kick()
	}
	if !d.Full {
		return g.decision(d)
	}
	switch c.policy {
	case CapShared:
		c.capped.shared.Add(1)
		return g.decision(g.overflow.Take(struct{}{}, g.limit, n, clock))
	case CapAllow:
		c.capped.uncounted.Add(1)
	default:
		c.capped.denied.Add(1)
	}
	return g.beyondCap(c.policy, n)
}

// peek describes a call of n permits.
func (g *logs[K]) peek(c *core, key K, n, given int64) Decision {
	now := g.time.now(given)
	d := g.Peek(key, g.limit, n, now)
	switch {
	case !d.Full:
		return g.decision(d)
	case c.policy == CapShared:
		return g.decision(g.overflow.Peek(struct{}{}, g.limit, n, now))
	}
	return g.beyondCap(c.policy, n)
}

// beyondCap is the answer for a new key that finds no room and shares no log. When there will
// be room nobody can know; a window is the time to earn n permits from empty.
func (g *logs[K]) beyondCap(p CapPolicy, n int64) Decision {
	limit := g.limit
	if p == CapAllow {
		return Decision{Allowed: true, Limit: limit.Limit, Remaining: limit.Limit - n}
	}
	return Decision{Limit: limit.Limit, RetryAfter: time.Duration(limit.WindowNanos)}
}

func (g *logs[K]) decision(d sharded.LogDecision) Decision {
	return Decision{
		Allowed: d.Allowed, Limit: g.limit.Limit, Remaining: d.Remaining,
		RetryAfter: time.Duration(d.RetryAfterNanos), ResetAfter: time.Duration(d.ResetAfterNanos),
	}
}
