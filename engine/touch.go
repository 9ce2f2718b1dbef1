package engine

import (
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/sharded"
)

// A promise is made in a word that is there. For a key that has none, one is put there that equals a new
// one; taking a permit and giving it back would let calls in between wait for a turn that nobody uses.

// touch makes the key known to the rule that has nothing for it yet.
func (w *booker[K]) touch() error {
	m, i := w.limiter, w.missing
	p, r := m.ruleAt(w.main, i)
	home := m.hasher.Key(w.key)
	if r.verdict == byLog {
		return w.touchLog(p, r, home)
	}
	if !w.crowdedOut(home.WithIndex(p.index)) && m.know(p, r, w.key, home.WithIndex(p.index)) {
		w.booking.claim(i).key = home.WithIndex(p.index)
		return nil
	}
	m.sweeper.Hurry() // other leaves may hold what can be forgotten
	switch m.policy {
	case CapAllow:
		m.capped.uncounted.Add(1)
		w.free[i] = true
	case CapShared:
		m.capped.shared.Add(1)
		home = sharded.Overflow
		m.know(p, r, w.key, home.WithIndex(p.index)) // to which the cap does not apply
	default:
		m.capped.denied.Add(1)
		now := m.time.settled()
		word := emptied(r, r.law.Fresh(now), now)
		return &WaitError{Err: ErrNoRoom, Asked: w.n, Wait: time.Duration(r.law.Inspect(word, now, w.n).RetryNanos)}
	}
	w.booking.claim(i).key = home.WithIndex(p.index)
	return nil
}

// maxTouches is how often a reservation makes its key known at a cap: to each of its rules some times.
const maxTouches = 4 * maxRules

// crowdedOut reports whether k was made known in vain so often that there is no room for it. A word that
// equals a new one gives its place at the cap to the next new key, and that may be the same one under another
// rule, which would go on for ever.
func (w *booker[K]) crowdedOut(k sharded.Key) bool {
	t := w.limiter.table
	if w.touches++; t.MaxKeys() == 0 || w.touches <= maxTouches {
		return false
	}
	_, _, known := t.Lookup(k)
	return !known
}

// know makes sure that a key has a word under r, which equals a new one if it had none, or reports
// false if there is no room for it.
func (m *Limiter[K]) know(p *place[K], r *rule, key K, k sharded.Key) bool {
	for {
		_, word := m.table.Find(k, r.number)
		switch {
		case atomicstate.IsLive(word):
			return true
		case word == atomicstate.Moved:
			m.table.Await(k)
			continue
		}
		outcome, _, now := m.table.Insert(k, r.number, m.time.sure(readClock), 0, func(at int64) (int64, bool) {
			return p.evacuate(k, key, at)
		})
		switch outcome {
		case sharded.Leapt:
			m.table.CatchUp(max(now, m.time.sure(readClock)))
		case sharded.Charged, sharded.Denied:
			m.sweeper.Kick()
			return true
		case sharded.Full:
			return false
		}
	}
}

// touchLog is touch for a rule of logs, by a take that is given back at once. It was refused a moment
// ago, so this is for what was forgotten since, and for keys that share a log.
func (w *booker[K]) touchLog(p *place[K], r *rule, home sharded.Key) error {
	m, i := w.limiter, w.missing
	d, rc := m.takeLog(p, r, w.key, w.n, readClock)
	if d.Allowed {
		m.refundOne(p, w.key, w.n, w.n, rc)
	}
	switch {
	case d.RetryAfter == Never:
		return &WaitError{Err: ErrNever, Asked: w.n, Wait: Never}
	case rc.from == fromNobody && !d.Allowed:
		return &WaitError{Err: ErrNoRoom, Asked: w.n, Wait: d.RetryAfter}
	case rc.from == fromNobody:
		w.free[i] = true
	case rc.from == fromOverflow:
		home = sharded.Overflow
	}
	w.booking.claim(i).key = home.WithIndex(p.index)
	return nil
}
