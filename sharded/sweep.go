package sharded

import (
	"math"

	"github.com/penstock-go/penstock/internal/sched"
)

// The sweep keeps memory near what is live, and every word readable.

// sweepShare is the share of a leaf's slots that must be forgettable for the background
// sweep to rebuild it: below an eighth the memory won is not worth the copy.
const sweepShare = 8

// sweepState is the progress of sweeping, under its own lock. Lock order: sweep, ledger, leaf
// (two in the order of their prefixes), directory.
type sweepState struct {
	mu      sched.Mutex
	any     bool        // whether a sweep was finished: then last is set
	last    int64       // start of the last finished sweep: every word is readable there
	horizon sched.Int64 // shortest horizon of any law; written under mu
	cursor  uint64      // coordinate at which the background sweep goes on
	started int64       // start of the background sweep under way
}

// SweepStep goes on with the background sweep by one leaf, which it rebuilds or merges if
// that frees enough, and reports whether that was the last one. A leaf with little to forget
// is only read, under its lock.
func (t *Table) SweepStep() (done bool) {
	s := &t.sweep
	s.mu.Lock()
	defer s.mu.Unlock()
	now := t.clock()
	if now >= t.sweepDue.Load() {
		t.sweepAll(now)
		return true
	}
	if s.cursor == 0 {
		s.started = now
	}
	s.cursor, _ = t.sweepLeaf(s.cursor, pass{base: now, now: now})
	if s.cursor <= math.MaxUint32 {
		return false
	}
	t.finish(s.started)
	return true
}

// Sweep visits every leaf at once and forgets every key that equals new. It returns how
// many.
func (t *Table) Sweep() (dropped int) {
	t.sweep.mu.Lock()
	defer t.sweep.mu.Unlock()
	if !t.Swept() {
		return 0 // no call yet: nothing to forget, and no time to measure leaps from
	}
	return t.sweepAll(t.clock())
}

// SweepDue returns the time from which [Table.CatchUp] must come before any decision.
func (t *Table) SweepDue() int64 { return t.sweepDue.Load() }

// Near reports whether a time that was read before a word is near enough to it for the word to be read at
// that time, whatever has charged it since: no sweep is due, and none that has ended began after the time,
// so that every charge is less than a quarter of the horizon ahead of it.
func (t *Table) Near(now int64) bool {
	due := t.sweepDue.Load()
	return now < due && uint64(due)-uint64(now) <= uint64(t.sweep.horizon.Load()/4)
}

// Swept reports whether any sweep was finished; the first call for any key sees to it.
func (t *Table) Swept() bool { return t.sweepDue.Load() != math.MinInt64 }

// CatchUp runs a full sweep if the last one is a quarter of the shortest horizon ago, as
// after a suspension of the machine or a leap of the caller's time: no word may become
// unreadable. It blocks while another caller does it.
func (t *Table) CatchUp(now int64) {
	t.sweep.mu.Lock()
	defer t.sweep.mu.Unlock()
	if now >= t.sweepDue.Load() {
		t.sweepAll(now)
	}
}

// sweepAll drops everything that equals new at now; the caller holds the sweep's lock. Words
// are read at the start of the last sweep, where all of them are readable, whatever the leap
// since.
func (t *Table) sweepAll(now int64) (dropped int) {
	p := pass{base: now, now: now, all: true}
	if t.sweep.any {
		p.base = min(now, t.sweep.last)
	}
	for at := uint64(0); at <= math.MaxUint32; {
		var d int
		at, d = t.sweepLeaf(at, p)
		dropped += d
	}
	t.finish(now)
	return dropped
}

// finish closes a sweep that started at that time; the caller holds the sweep's lock.
func (t *Table) finish(started int64) {
	s := &t.sweep
	if !s.any || started > s.last {
		s.any, s.last = true, started
	}
	s.cursor = 0
	t.setDue()
	t.shrink()
	t.pruneAll()
	t.counters.sweeps.Add(1)
}

// setDue derives the time of the next forced sweep; the caller holds the sweep's lock.
func (t *Table) setDue() {
	quarter := t.sweep.horizon.Load() / 4
	due := int64(math.MaxInt64)
	if t.sweep.last < math.MaxInt64-quarter {
		due = t.sweep.last + quarter
	}
	t.sweepDue.Store(due)
}

// shortenHorizon takes a new law's horizon into account.
func (t *Table) shortenHorizon(horizon int64) {
	s := &t.sweep
	s.mu.Lock()
	defer s.mu.Unlock()
	if horizon >= s.horizon.Load() {
		return
	}
	s.horizon.Store(horizon)
	if s.any {
		t.setDue()
	}
}

// pass is how a sweep treats leaves: words are read at base and judged at now; all drops
// whatever can be dropped.
type pass struct {
	base, now int64
	all       bool
}

// worth reports whether a leaf with this census is to be rebuilt.
func (p pass) worth(c census) bool {
	return c.aged > 0 || c.forgettable > 0 && (p.all || c.forgettable*sweepShare >= c.used)
}

// sweepLeaf treats the leaf that holds the coordinate at and returns the coordinate after
// it, or at itself if that leaf was replaced meanwhile. It waits for whoever changes the leaf: a
// change that began before the sweep must not publish, after it, words of a time that only the last sweep
// allowed, nor read there what was charged since.
func (t *Table) sweepLeaf(at uint64, p pass) (next uint64, dropped int) {
	l := t.dir.Load().leafAt(at)
	l.mu.Lock()
	if l.replaced { // its words stand elsewhere by now, and not judged by this sweep
		l.mu.Unlock()
		return at, 0
	}
	c := t.survey(l, p.base, p.now)
	if p.worth(c) {
		dropped = t.rebuild(l, p.base, p.now)
		c.used -= dropped
	}
	l.mu.Unlock()
	for merged := l.depth > 0 && c.used <= l.mergeUsed(); merged; {
		var n int
		n, merged = t.tryMerge(at, p) // what was merged may have a neighbour that is nearly empty too
		dropped += n
	}
	l = t.dir.Load().leafAt(at)
	return l.prefix + l.width(), dropped
}

// tryMerge joins the leaf at a coordinate with its neighbour of the same parent if both
// together are nearly empty.
func (t *Table) tryMerge(at uint64, p pass) (dropped int, merged bool) {
	d := t.dir.Load()
	l := d.leafAt(at)
	if l.depth == 0 {
		return 0, false
	}
	low, high := d.leafAt(l.prefix&^l.width()), d.leafAt(l.prefix|l.width())
	if low == high || low.depth != high.depth {
		return 0, false
	}
	low.mu.Lock() // by prefix
	defer low.mu.Unlock()
	high.mu.Lock()
	defer high.mu.Unlock()
	if low.replaced || high.replaced || int(low.used+high.used) > low.mergeUsed() {
		return 0, false
	}
	return t.merge(low, high, p.base, p.now), true
}

// Horizon returns the shortest time, in nanoseconds, for which a word of any registered law
// stays readable.
func (t *Table) Horizon() int64 { return t.sweep.horizon.Load() }
