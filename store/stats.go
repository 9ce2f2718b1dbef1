package store

import (
	"errors"
	"sync/atomic"
)

// Stats counts what became of the calls of a [Shared] limiter since it was made; the counts need not
// be of one instant.
type Stats struct {
	Store, Local, Open, Closed, Fixed uint64 // decisions by source

	Unavailable uint64 // calls for which nothing was charged since the store was away
	Unknown     uint64 // calls without an answer
	Contended   uint64 // calls that lost every race
	Left        uint64 // calls whose caller left, or gave the store less than a quarter of the deadline; may be charged
	Retries     uint64 // races lost in all

	Mismatches   uint64 // decisions of the store that its law would not have made: must stay 0
	Settled      uint64 // words from before a step back of the store's clock
	Foreign      uint64 // words that were none, and were taken as new
	OpenBreakers int    // nodes whose breaker is open now, of the whole backend
}

// counters are those behind Stats.
type counters struct {
	bySource                                 [SourceFixed + 1]atomic.Uint64
	unavailable, unknown, contended, retries atomic.Uint64
	left, mismatches, settled, foreign       atomic.Uint64
}

// decided counts a decision and returns it.
func (c *counters) decided(d Decision) Decision {
	c.bySource[d.Source].Add(1)
	return d
}

// failed counts a call that the store did not decide though it had the time.
func (c *counters) failed(err error) {
	switch {
	case errors.Is(err, ErrContended):
		c.contended.Add(1)
	case errors.Is(err, ErrUnknownOutcome):
		c.unknown.Add(1)
	default:
		c.unavailable.Add(1)
	}
}

func (c *counters) snapshot(b *Backend) Stats {
	return Stats{
		Store: c.bySource[SourceStore].Load(), Local: c.bySource[SourceLocal].Load(),
		Open: c.bySource[SourceOpen].Load(), Closed: c.bySource[SourceClosed].Load(), Fixed: c.bySource[SourceFixed].Load(),
		Unavailable: c.unavailable.Load(), Unknown: c.unknown.Load(), Contended: c.contended.Load(),
		Left: c.left.Load(), Retries: c.retries.Load(),
		Mismatches: c.mismatches.Load(), Settled: c.settled.Load(), Foreign: c.foreign.Load(),
		OpenBreakers: b.breakers.open(),
	}
}
