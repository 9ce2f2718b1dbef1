// Package evict is the forgetting: a background sweep, leaf by leaf, within a budget of
// time. It decides when to sweep; what may be forgotten is the table's to say, and that is
// only what equals new.
package evict

import (
	"time"
	"weak"

	"github.com/penstock-go/penstock/internal/sched"
)

const (
	// DefaultInterval is the pause between two sweeps. Reading a table through takes some
	// nanoseconds a slot (BenchmarkSweep in package sharded), so that at a million keys
	// the sweep is far from its budget; and memory for a flood of keys is back soon.
	DefaultInterval = 10 * time.Second
	// slice is how long a sweep works at a stretch, and rest the pause that follows it: a
	// sweep takes at most a tenth of one processor, if no step is much longer than a slice.
	// A step over one leaf is shorter by far; one that runs to the end is not cut.
	slice = 200 * time.Microsecond
	rest  = 9 * slice
	// horizonShare: a sweep must come often enough for no word to become unreadable; the
	// table insists at a quarter of its horizon, so an eighth keeps callers free of it.
	horizonShare = 8
)

// Table is what can be swept. A sweeper calls SweepStep from one goroutine at a time and holds
// its own lock meanwhile; Horizon and Len may be called beside it.
type Table interface {
	// SweepStep treats one piece, such as a leaf, and reports whether it was the last. It
	// must not call [Sweeper.Close], which waits for it.
	SweepStep() (done bool)
	// Refresh is called before each slice, under no lock: it may run the user's code.
	Refresh()
	// Horizon is how long a word stays readable, in nanoseconds.
	Horizon() int64
	// Len is the number of keys held.
	Len() int
}

// Sweeper sweeps one table in the background. It starts with the first [Sweeper.Kick],
// rests while the table is empty, and ends with [Sweeper.Close] or when the table is
// garbage: it holds the table weakly, so the owner must hold it. Between sweeps it is a timer,
// not a goroutine. Make one with [New]; the zero value is not usable and a Sweeper must not be
// copied. All methods are safe for concurrent use; a sweep that Close waited for happens before
// Close returns.
type Sweeper[T any, P interface {
	*T
	Table
}] struct {
	table    weak.Pointer[T]
	interval time.Duration
	armed    sched.Bool // a timer is set or a slice runs, or the sweeping has ended
	hurried  sched.Bool // the next slice comes soon

	mu     sched.Mutex // held while a slice runs; guards the fields below
	turn   uint64      // of the timer set last: those before it do nothing
	closed bool
}

// New returns a sweeper for a table that pauses for interval between sweeps, or less if the
// table's horizon demands it. It holds no goroutine and no timer until it is kicked.
func New[T any, P interface {
	*T
	Table
}](table P, interval time.Duration) *Sweeper[T, P] {
	return &Sweeper[T, P]{table: weak.Make((*T)(table)), interval: interval}
}

// Kick makes sure that a sweep will come. It costs one atomic load once one is due.
func (s *Sweeper[T, P]) Kick() {
	if s.armed.Load() || !s.armed.CompareAndSwap(false, true) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	table := P(s.table.Value())
	if s.closed || table == nil {
		return
	}
	s.schedule(s.pause(table))
}

// Hurry makes a sweep come soon, for a table that has run out of room: after the rest that keeps
// the work to a tenth of a processor. It costs one atomic load while one is on its way.
func (s *Sweeper[T, P]) Hurry() {
	if s.hurried.Load() || !s.hurried.CompareAndSwap(false, true) {
		return
	}
	s.armed.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.schedule(rest)
	}
}

// Close ends the sweeping and returns when no slice is running. It may be called again.
func (s *Sweeper[T, P]) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// schedule sets a timer; the caller holds mu. Timers are neither stopped nor set again, since under
// testing/synctest that is for the bubble alone that made them, and the table may be older or live
// on: one that another was set after does nothing when it fires.
func (s *Sweeper[T, P]) schedule(after time.Duration) {
	s.turn++
	turn := s.turn
	sched.AfterFunc(after, func() { s.run(turn) })
}

// pause is the time between two sweeps of table.
func (s *Sweeper[T, P]) pause(table P) time.Duration {
	return min(s.interval, time.Duration(table.Horizon()/horizonShare))
}

// run sweeps for a slice, when the timer of a turn fires, and sets one for what comes next.
func (s *Sweeper[T, P]) run(turn uint64) {
	table := P(s.table.Value())
	if table == nil || !s.due(turn) {
		return
	}
	s.hurried.Store(false)
	table.Refresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.turn != turn {
		return
	}
	if !sweepFor(table, slice) {
		s.schedule(rest)
		return
	}
	if table.Len() > 0 {
		s.schedule(s.pause(table))
		return
	}
	s.armed.Store(false)
	if table.Len() > 0 && s.armed.CompareAndSwap(false, true) { // a key came in between
		s.schedule(s.pause(table))
	}
}

// due reports whether a turn is that of the timer set last.
func (s *Sweeper[T, P]) due(turn uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && s.turn == turn
}

// sweepFor sweeps leaves until the sweep is done or the budget is spent.
func sweepFor[P Table](table P, budget time.Duration) (done bool) {
	start := time.Now()
	for !table.SweepStep() {
		if sched.Since(start) >= budget {
			return false
		}
	}
	return true
}
