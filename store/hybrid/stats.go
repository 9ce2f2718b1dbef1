package hybrid

import "sync/atomic"

// Stats counts what became of a [Limiter]'s calls since it was made. The counts need not be of one
// instant, but Spent never exceeds Leased. At rest Leased = Spent + Held + Wasted. Calls answered from
// memory are not counted, since a count that all processors share would cost them dearly: their decisions
// name their source.
type Stats struct {
	Leased int64 // permits charged to the store for leases
	Spent  int64 // of those, handed out to callers
	Held   int64 // of those, at hand
	Wasted int64 // of those, ended, came too late or were dropped; not counting charges without an answer

	// Calls is the requests to the Shared limiter to decide, those of a batch counted one by one; also those that
	// its breaker did not let through to the store, see store.Stats.
	Calls int64
	Keys  int // keys kept in mind
}

// counters are those behind Stats.
type counters struct {
	leased, spent, wasted, calls atomic.Int64 // spent: of leases that were retired
}

// Stats returns a snapshot. It visits every key.
func (l *Limiter) Stats() Stats {
	c := &l.counters
	s := Stats{
		Spent: c.spent.Load(), Wasted: c.wasted.Load(), Calls: c.calls.Load(),
		Keys: l.Len(),
	} // before the leases at hand, so that none counts twice; and Leased last, so that it is never exceeded
	l.table.entries.Range(func(_ string, e *entry) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, a := range [...]*lease{e.current.Load(), e.next} {
			if a != nil {
				left := a.left.Load()
				s.Spent += a.granted - left
				s.Held += left
			}
		}
		return true
	})
	s.Leased = c.leased.Load()
	return s
}
