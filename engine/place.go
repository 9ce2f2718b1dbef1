package engine

import (
	"math"
	"time"

	"github.com/penstock-go/penstock/evict"
	"github.com/penstock-go/penstock/internal/sched"
	"github.com/penstock-go/penstock/sharded"
)

// place is where the keys of one of a limiter's limits live: the default limit and the
// resolver's share one, each limit of [WithAlso] has its own. Words are in the limiter's table,
// told apart by the index; logs are here, once there is a sliding log.
type place[K comparable] struct {
	index uint8
	logs  sched.Pointer[logs[K]]
}

// logs is where the keys of sliding logs live: the one algorithm that needs memory for each event
// and so does not fit in a word.
type logs[K comparable] struct {
	*sharded.Logs[K]
	overflow *sharded.Logs[struct{}] // the one log that new keys beyond the cap share
	time     *timeline
	sweeper  *evict.Sweeper[logs[K], *logs[K]]
}

const (
	// sweepLogs is how many logs a step of the background sweep looks at, and a new key that finds
	// no room: some 10 microseconds.
	sweepLogs = 128
	// sweepSteps bounds the steps of a sweep: each passes by all logs that those before it looked at.
	sweepSteps = 64
)

// SweepStep sweeps some logs, and reports whether they were the last.
func (g *logs[K]) SweepStep() (done bool) {
	left := max(sweepLogs, g.Len()/sweepSteps)
	g.Sweep(g.time.settled(), func() bool {
		left--
		return left >= 0
	})
	return left >= 0
}

// Refresh reads the user's clock, if there is one.
func (g *logs[K]) Refresh() { g.time.refresh() }

// Horizon has no bound: logs hold whole times.
func (g *logs[K]) Horizon() int64 { return math.MaxInt64 }

// logsAt returns a place's logs, made at the first need.
func (m *Limiter[K]) logsAt(p *place[K]) *logs[K] {
	if g := p.logs.Load(); g != nil {
		return g
	}
	g := &logs[K]{Logs: sharded.NewLogs[K](), overflow: sharded.NewLogs[struct{}](), time: &m.time}
	g.SetMaxKeys(int(m.table.MaxKeys()))
	g.sweeper = evict.New(g, m.sweepInterval)
	if !p.logs.CompareAndSwap(nil, g) {
		return p.logs.Load()
	}
	if m.closed.Load() {
		g.sweeper.Close()
	}
	return g
}

// evacuate takes a key out of the logs and returns what it has used there. It is called under the
// lock of the key's leaf, as every move between logs and words is. The shared bucket has no other
// home: what a key has used stays its own.
func (p *place[K]) evacuate(k sharded.Key, key K, now int64) (used int64, ok bool) {
	if g := p.logs.Load(); g != nil && !k.IsOverflow() {
		return g.Evacuate(key, now)
	}
	return 0, false
}

// takeLog charges n >= 1 permits of key by a rule of logs.
func (m *Limiter[K]) takeLog(p *place[K], r *rule, key K, n, given int64) (Decision, receipt) {
	g, limit := m.logsAt(p), r.logLimit()
	clock := func() int64 { return m.time.sure(given) } // logs lock anyway: no gain in a coarse clock
	if n > limit.Limit {
		return m.peekLog(p, r, key, n, given), receipt{}
	}
	d, known := g.TakeExisting(key, limit, n, clock)
	if !known {
		d = m.openLog(p, g, r, key, n, given)
	}
	if d.Full && g.makeRoom() {
		d = m.openLog(p, g, r, key, n, given)
	}
	from := fromKey
	if d.Full {
		if m.policy != CapShared {
			return m.logBeyondCap(r, true), receipt{rule: r, from: fromNobody}
		}
		m.capped.shared.Add(1)
		d, from = g.overflow.Take(struct{}{}, limit, n, clock), fromOverflow
	}
	if d.Allowed || !known { // a refused key may have moved in
		g.sweeper.Kick()
	}
	return m.logDecision(r, d), receipt{rule: r, charged: d.Allowed, at: d.AtNanos, generation: d.Generation, from: from}
}

// makeRoom looks at some logs for one that equals new, when a new key found no room, and hurries
// the background sweep on. It reports whether there is room now.
func (g *logs[K]) makeRoom() bool {
	g.sweeper.Hurry()
	return g.MakeRoom(g.time.settled(), sweepLogs)
}

// openLog makes the log of a key that has none, with what its word has used, and charges n.
func (m *Limiter[K]) openLog(p *place[K], g *logs[K], r *rule, key K, n, given int64) (d sharded.LogDecision) {
	k := m.hasher.Key(key).WithIndex(p.index)
	for {
		now := m.time.sure(given)
		if now >= m.table.SweepDue() {
			m.table.CatchUp(now)
			continue
		}
		known := false
		done := m.table.MoveOut(k, now, func(used, at int64) {
			d, known = g.TakeExisting(key, r.logLimit(), n, func() int64 { return at })
			if !known {
				d = g.Settle(key, r.logLimit(), used, n, at)
			}
		})
		if done {
			return d
		}
	}
}

// peekLog describes a call of n permits by a rule of logs.
func (m *Limiter[K]) peekLog(p *place[K], r *rule, key K, n, given int64) Decision {
	g, limit, now := m.logsAt(p), r.logLimit(), m.time.sure(given)
	if !g.Has(key) {
		look := m.lookup(m.hasher.Key(key).WithIndex(p.index), given)
		if now = look.now; look.known { // not moved yet
			if used := look.law.Usage(look.word, now).Permits(); used > 0 {
				return m.logDecision(r, owing(limit, used, n))
			}
		}
	}
	d := g.Peek(key, limit, n, now)
	if d.Full && g.makeRoom() {
		d = g.Peek(key, limit, n, now)
	}
	if !d.Full {
		return m.logDecision(r, d)
	}
	if m.policy == CapShared {
		return m.logDecision(r, g.overflow.Peek(struct{}{}, limit, n, now))
	}
	return m.logBeyondCap(r, false)
}

// owing describes a call of n permits on a log that counts used permits of this very moment.
func owing(limit sharded.LogLimit, used, n int64) sharded.LogDecision {
	d := sharded.LogDecision{Allowed: n == 0 || n <= limit.Limit-used, Remaining: max(0, limit.Limit-used)}
	if used > 0 {
		d.ResetAfterNanos = limit.WindowNanos
	}
	switch {
	case d.Allowed:
	case n > limit.Limit:
		d.RetryAfterNanos = sharded.LogNever
	default:
		d.RetryAfterNanos = limit.WindowNanos
	}
	return d
}

// logBeyondCap is the answer for a new key that finds no room and shares no log. When there will
// be room nobody can know; a window is the time to earn n permits from empty.
func (m *Limiter[K]) logBeyondCap(r *rule, count bool) Decision {
	limit := r.logLimit()
	if m.policy == CapAllow {
		if count {
			m.capped.uncounted.Add(1)
		}
		return Decision{Allowed: true, Limit: limit.Limit, Remaining: limit.Limit}
	}
	if count {
		m.capped.denied.Add(1)
	}
	window := time.Duration(limit.WindowNanos)
	return Decision{Limit: limit.Limit, RetryAfter: window, ResetAfter: window}
}

func (m *Limiter[K]) logDecision(r *rule, d sharded.LogDecision) Decision {
	return Decision{
		Allowed: d.Allowed, Limit: r.limit.tokens, Remaining: d.Remaining,
		RetryAfter: time.Duration(d.RetryAfterNanos), ResetAfter: time.Duration(d.ResetAfterNanos),
	}
}
