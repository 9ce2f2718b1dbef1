package engine

import (
	"github.com/penstock-go/penstock/internal/sched"
	"github.com/penstock-go/penstock/sharded"
)

// Stats is a snapshot of a limiter; its counts since the limiter was made need not be of one
// instant.
type Stats struct {
	Keys int // keys held now

	Allowed, Denied uint64 // calls; 0 without [WithStats]
	Retries         uint64 // failed compare-and-swaps: another call was first; 0 without [WithStats]

	CapShared    uint64 // calls for new keys beyond the cap that the shared bucket decided
	CapDenied    uint64 // ... that were denied
	CapUncounted uint64 // ... that were admitted uncounted

	ResolverUnknown uint64 // calls for keys that the resolver did not know
	ResolverBroken  uint64 // calls for which it panicked or gave an invalid limit, or one too many

	Table sharded.Counters // what happened in the table of keys
}

// Stats returns a snapshot. Calls are counted only with [WithStats].
func (m *Limiter[K]) Stats() Stats {
	s := Stats{
		Keys:         m.Len(),
		CapShared:    m.capped.shared.Load(),
		CapDenied:    m.capped.denied.Load(),
		CapUncounted: m.capped.uncounted.Load(),
		Table:        m.table.Counters(),
	}
	if m.resolver != nil {
		s.ResolverUnknown = uint64(m.resolved.unknown.Value())
		s.ResolverBroken = uint64(m.resolved.broken.Value())
	}
	if m.stats != nil {
		s.Allowed = uint64(m.stats.allowed.Value())
		s.Denied = uint64(m.stats.denied.Value())
		s.Retries = uint64(m.stats.retries.Value())
	}
	return s
}

// callStats count calls in counters striped over cache lines.
type callStats struct {
	allowed, denied, retries *sched.Counter
}

func newCallStats() *callStats {
	return &callStats{sched.NewCounter(), sched.NewCounter(), sched.NewCounter()}
}

// tally counts a call if calls are counted, and returns what it came to.
func (c *core) tally(out result) result {
	if c.stats != nil {
		c.stats.count(out.ok)
	}
	return out
}

// count counts a call if calls are counted.
func (s *callStats) count(allowed bool) {
	switch {
	case s == nil:
	case allowed:
		s.allowed.Inc()
	default:
		s.denied.Inc()
	}
}

func (s *callStats) retry() {
	if s != nil {
		s.retries.Inc()
	}
}
