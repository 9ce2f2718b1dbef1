package linear

import (
	"time"

	"github.com/penstock-go/penstock/engine"
)

// logModel is the sequential sliding log.
type logModel struct{ limit, window int64 }

// entry is permits that were admitted at a time.
type entry struct{ at, n int64 }

// entries are what a log counts, in order of time: no more than its limit. It is a value that can be
// compared.
type entries struct {
	of    [8]entry
	count int
}

// live returns those that count at t, and of how many permits.
func (e entries) live(t, window int64) (rest entries, used int64) {
	for _, x := range e.of[:e.count] {
		if x.at+window > t {
			rest.of[rest.count] = x
			rest.count++
			used += x.n
		}
	}
	return rest, used
}

func (m logModel) step(s state, c call, a answer) (next []state) {
	if c.kind == reset {
		return []state{s.reset(true)}
	}
	for _, t := range c.times {
		if s.log.count > 0 {
			t = max(t, s.log.of[s.log.count-1].at) // a log's time does not move back
		}
		if n, ok := m.at(s, c, a, t); ok {
			next = append(next, n)
		}
	}
	return next
}

// at returns the state after a call that was decided at t.
func (m logModel) at(s state, c call, a answer, t int64) (next state, ok bool) {
	log, used := s.log.live(t, m.window)
	switch c.kind {
	case peek:
		return s, m.describe(log, used, 1, t) == a.decision
	case refund:
		return m.refund(s, c, a, t)
	}
	if used+c.n > m.limit {
		if c.kind == charge {
			s.given[c.slot()] = given{}
		}
		return s, m.describe(log, used, c.n, t) == a.decision
	}
	log.of[log.count] = entry{t, c.n}
	log.count++
	s.log = log
	if c.kind == charge {
		s = s.keep(c, t)
	}
	return s, m.describe(log, used+c.n, 0, t) == a.decision
}

// describe is the answer to a call of n permits at t, when the log counts used.
func (m logModel) describe(log entries, used, n, t int64) engine.Decision {
	d := engine.Decision{Allowed: used+n <= m.limit, Limit: m.limit, Remaining: m.limit - used}
	if log.count > 0 {
		d.ResetAfter = time.Duration(log.of[log.count-1].at + m.window - t)
	}
	for _, x := range log.of[:log.count] {
		if used+n <= m.limit {
			break
		}
		used -= x.n
		d.RetryAfter = time.Duration(x.at + m.window - t)
	}
	return d
}

// refund gives back permits of an entry that counts at t. What counts no more at t stays: a peek that has read the
// clock before, and looks after, still counts it.
func (m logModel) refund(s state, c call, a answer, t int64) (next state, ok bool) {
	g := s.given[c.slot()]
	next = s.spend(c.slot(), c.n)
	if g.stale {
		return next, !a.ok
	}
	log := &next.log
	for i := range log.count {
		x := &log.of[i]
		if x.at != g.at || x.at+m.window <= t || x.n < c.n {
			continue
		}
		if x.n -= c.n; x.n == 0 {
			copy(log.of[i:log.count], log.of[i+1:log.count])
			log.count--
			log.of[log.count] = entry{}
		}
		return next, a.ok
	}
	return next, !a.ok
}
