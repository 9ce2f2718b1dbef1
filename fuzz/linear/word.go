package linear

import (
	"slices"

	"github.com/penstock-go/penstock/atomicstate"
)

// wordModel is the sequential limiter of a limit that keeps one word.
type wordModel struct{ law atomicstate.Law }

func (m wordModel) step(s state, c call, a answer) (next []state) {
	g := s.given[c.slot()]
	switch {
	case c.kind == reset:
		next = append(next, s.reset(true))
		if m.mayEqualNew(s.word, c.times) {
			next = append(next, s.reset(false))
		}
		return next
	case c.kind == cancel && !g.live: // it was refused, or there is nothing left
		return s.unless(a.ok)
	case c.kind == cancel && g.promised:
		return m.cancel(s, c, a)
	case c.kind == cancel:
		c.n = g.left
	}
	if (c.kind == refund || c.kind == cancel) && !a.ok && !g.stale && (c.raced || g.unsure) {
		next = append(next, s.spend(c.slot(), c.n))
	}
	for _, t := range c.times {
		if n, ok := m.at(s, c, a, t); ok {
			next = append(next, n)
		}
	}
	return next
}

// unless returns s alone, or nothing.
func (s state) unless(not bool) []state {
	if not {
		return nil
	}
	return []state{s}
}

// mayEqualNew reports whether a reset at one of the times may have found nothing to reset.
func (m wordModel) mayEqualNew(word uint64, times []int64) bool {
	return word == 0 || slices.ContainsFunc(times, func(t int64) bool { return m.law.EqualsNew(word, t, t) })
}

// at returns the state after a call that was decided at t.
func (m wordModel) at(s state, c call, a answer, t int64) (next state, ok bool) {
	word := s.word
	if word == 0 {
		word = m.law.Fresh(t)
	}
	switch c.kind {
	case peek:
		is, delay := m.law.Inspect(word, t, 1), int64(0)
		if is.Allowed {
			delay = m.law.Delay(word, t, 0)
		}
		return s, decisionOf(m.law, is, delay) == a.decision
	case refund, cancel:
		return m.refund(s, c, a, word, t)
	case reserve:
		return m.reserve(s, c, a, word, t)
	}
	after, allowed := m.law.Take(word, t, c.n)
	if !allowed {
		if c.kind == charge {
			s.given[c.slot()] = given{}
		}
		return s, decisionOf(m.law, m.law.Inspect(word, t, c.n), 0) == a.decision
	}
	delay := m.law.Delay(after, t, c.n)
	s.word = after
	if c.kind == charge {
		s = s.keep(c, t+max(0, delay))
	}
	return s, decisionOf(m.law, m.law.Inspect(after, t, 0), delay) == a.decision
}

// refund gives back permits of a charge that was made at once.
func (m wordModel) refund(s state, c call, a answer, word uint64, t int64) (next state, ok bool) {
	g := s.given[c.slot()]
	if g.stale {
		return s.spend(c.slot(), c.n), !a.ok
	}
	after, due := m.law.Refund(word, atomicstate.Act{At: g.at, N: g.left}, t, c.n, s.promises.after(max(t, g.at)))
	if due {
		s.word = after
		s.promises.returns++
	}
	return s.spend(c.slot(), c.n), due == a.ok
}

// reserve charges permits at the first instant at which they may act.
func (m wordModel) reserve(s state, c call, a answer, word uint64, t int64) (next state, ok bool) {
	after, wait, granted := m.law.Reserve(word, t, c.n)
	if !granted {
		s.given[c.slot()] = given{}
		return s, !a.ok
	}
	at := t + wait
	switch {
	case !a.ok, wait == 0 && a.acts != nil:
		return s, false
	case wait > 0 && a.acts == nil && at > c.times[len(c.times)-1]:
		return s, false // it was told that its time has come, but it has not
	case a.acts != nil && !slices.Contains(a.acts, at):
		return s, false
	}
	s.word = after
	s = s.keep(c, at)
	if wait > 0 {
		s.given[c.slot()].promised = c.kept
		s.promises.prune(t)
		ok = s.promises.add(promise{owner: c.owner, at: at, n: c.n, before: word, after: after, returns: s.promises.returns})
		return s, ok
	}
	return s, true
}

// cancel gives up a reservation that was to act later.
func (m wordModel) cancel(s state, c call, a answer) (next []state) {
	g := s.given[c.slot()]
	s.given[c.slot()] = given{}
	i := s.promises.find(c.owner, g)
	if i < 0 { // the key was reset
		return s.unless(a.ok)
	}
	for _, t := range c.times {
		switch late := g.at < t; {
		case late == a.ok:
		case late:
			next = append(next, s)
		default:
			next = append(next, m.release(s, i, t))
		}
	}
	return next
}

// release gives back what can be given back at t of the i-th promise and of those given up before.
func (m wordModel) release(s state, i int, t int64) state {
	p := &s.promises.of[i]
	if p.returns == s.promises.returns && p.after == s.word {
		s.word = p.before
		s.promises.remove(i)
	} else {
		p.owed = p.n * int64(m.law.Usage(p.after, t).PerPermit)
	}
	word, units := m.law.Release(s.word, t, s.promises.after(t-1))
	if units > 0 {
		s.word = word
		s.promises.returns++
		s.promises.settle(units)
	}
	return s
}
