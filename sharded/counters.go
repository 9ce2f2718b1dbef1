package sharded

import "github.com/penstock-go/penstock/internal/sched"

// counters count events off the fast path.
type counters struct {
	inserts, drops, conversions         sched.Count
	splits, rebuilds, merges, doublings sched.Count
	awaits, follows                     sched.Count
	staleLeaves, sweeps                 sched.Count
}

// Counters is a snapshot of what happened in a table since it was made.
type Counters struct {
	Inserts     uint64 // keys that got a slot
	Drops       uint64 // keys forgotten because they equalled new
	Conversions uint64 // keys whose usage moved to another limit
	Splits      uint64 // leaves split in two
	Rebuilds    uint64 // leaves rebuilt at the same size
	Merges      uint64 // pairs of leaves merged
	Doublings   uint64 // doublings of the directory
	Awaits      uint64 // calls that met a Moved word and waited for its leaf's rebuild
	Follows     uint64 // calls that met a Moved word and found its copy before the rebuild was over
	StaleLeaves uint64 // inserts that found their leaf replaced
	Sweeps      uint64 // full sweeps finished
}

// Counters returns a snapshot; the counts need not be of one instant.
func (t *Table) Counters() Counters {
	c := &t.counters
	return Counters{
		Inserts: c.inserts.Load(), Drops: c.drops.Load(), Conversions: c.conversions.Load(),
		Splits: c.splits.Load(), Rebuilds: c.rebuilds.Load(), Merges: c.merges.Load(),
		Doublings: c.doublings.Load(), Awaits: c.awaits.Load(), Follows: c.follows.Load(),
		StaleLeaves: c.staleLeaves.Load(), Sweeps: c.sweeps.Load(),
	}
}
