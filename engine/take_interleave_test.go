//go:build interleave

package engine

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/interleave"
)

// Two calls on one known key.
func TestInterleaveTakeTake(t *testing.T) {
	k := at(0, 0)
	program{
		name: "take, take", bound: interleave.Exhaustive, limit: slow(4),
		provokes: []string{interleave.FailedSwaps, refused},
		setup: func(s *stage) {
			s.take(k, 1)
			s.Go(func() { s.take(k, 1); s.take(k, 1) })
			s.Go(func() { s.take(k, 2) })
		},
	}.explore(t)
}

// Three calls on one known key that has permits for two.
func TestInterleaveTakeOfThree(t *testing.T) {
	k := at(0, 0)
	program{
		name: "take of three", bound: interleave.Exhaustive, limit: slow(3),
		provokes: []string{interleave.FailedSwaps, refused},
		setup: func(s *stage) {
			s.take(k, 1)
			for range 3 {
				s.Go(func() { s.take(k, 1) })
			}
		},
	}.explore(t)
}

// The first calls of a key: it has one slot, and one burst.
func TestInterleaveNewKey(t *testing.T) {
	k := at(0, 0)
	program{
		name: "first calls of a key", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{interleave.Waits, interleave.FailedSwaps, secondLooks, refused, inserts},
		setup: func(s *stage) {
			s.m.table.CatchUp(0)
			for g := range 3 {
				s.Go(func() {
					s.take(k, 1)
					if s.Locks(g) == 1 { // who inserts wakes the sweep as well
						s.Count(secondLooks, 1)
					}
				})
			}
		},
	}.explore(t)
}

// A call on a key that equals new, while a sweep drops it, and one that brings it back.
func TestInterleaveTakeSweep(t *testing.T) {
	k := at(0, 0)
	now := int64(0)
	program{
		name: "take, sweep", bound: interleave.Exhaustive, short: 2, limit: TokenBucket(Every(10), 2),
		now:      func(int) int64 { return now },
		provokes: []string{drops, inserts, awaits, follows, interleave.FailedSwaps, refused},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(k)
			now = 10
			s.kept[k] = 0
			s.Go(func() { s.take(k, 1); s.take(k, 1) })
			s.Go(func() { s.m.Sweep() })
			s.Go(func() { s.take(k, 1) })
		},
	}.explore(t)
}

// The same by a step of the background sweep.
func TestInterleaveTakeSweepStep(t *testing.T) {
	k := at(0, 0)
	now := int64(0)
	program{
		name: "take, step of a sweep", bound: interleave.Exhaustive, limit: TokenBucket(Every(10), 1),
		now:      func(int) int64 { return now },
		provokes: []string{drops, inserts, awaits, follows, refused},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(k)
			now = 10
			s.kept[k] = 0
			s.Go(func() { s.take(k, 1) })
			s.Go(func() { s.m.words.SweepStep() })
			s.Go(func() { s.take(k, 1) })
		},
	}.explore(t)
}

// A look at a key of a leaf that is rebuilt.
func TestInterleavePeekSweep(t *testing.T) {
	k, idle := at(0, 0), at(0, 1)
	now := int64(0)
	program{
		name: "peek, sweep", bound: interleave.Exhaustive, limit: TokenBucket(Every(10), 2),
		now:      func(int) int64 { return now },
		provokes: []string{drops, awaits, follows},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(idle)
			now = 10
			s.take(k, 1)
			s.Go(func() {
				if left := s.m.Peek(k).Remaining; left != 1 {
					panic(left)
				}
			})
			s.Go(func() { s.m.Sweep() })
		},
	}.explore(t)
}

// A key is dropped by a processor whose clock is ahead and comes back on one whose clock lags, and
// may be charged no earlier than it was forgotten.
func TestInterleaveClocksApart(t *testing.T) {
	k := at(0, 0)
	clocks := [...]int64{20, 18, 27}
	program{
		name: "clocks apart", bound: interleave.Exhaustive, limit: TokenBucket(Every(10), 2),
		now: func(g int) int64 {
			if g == interleave.Outside {
				return 0
			}
			return clocks[g]
		},
		provokes: []string{drops, inserts, "charged at the floor", interleave.FailedSwaps},
		setup: func(s *stage) {
			s.record(k, 2)
			for g, n := range []int64{1, 2} {
				s.Go(func() {
					for range 2 / n {
						if rc := s.record(k, n); rc.at > clocks[g] {
							s.Count("charged at the floor", 1)
						}
					}
				})
			}
			s.Go(func() { s.m.Sweep() })
			s.Check(s.bounded)
		},
	}.explore(t)
}

// Time passes while two calls are at work, and a sweep.
func TestInterleaveTimePasses(t *testing.T) {
	timePasses("time passes", interleave.Exhaustive).explore(t)
}

// The same without reduction, which it thereby checks on production code.
func TestInterleaveTimePassesPlain(t *testing.T) {
	timePasses("time passes, no reduction", 3).explore(t)
}

func timePasses(name string, bound int) program {
	k := at(0, 0)
	var now interleave.Int64
	return program{
		name: name, bound: bound, short: 2, limit: TokenBucket(Every(10), 1),
		now:      func(int) int64 { return now.Load() },
		provokes: []string{drops, inserts, interleave.FailedSwaps},
		setup: func(s *stage) {
			now.Store(0)
			s.record(k, 1)
			s.Go(func() { s.record(k, 1); s.record(k, 1) })
			s.Go(func() { now.Store(7); now.Store(10); s.m.Sweep(); now.Store(20) })
			s.Go(func() { s.record(k, 1) })
			s.Check(s.bounded)
		},
	}
}

// Time leaps, so that a sweep must come before any decision.
func TestInterleaveLeap(t *testing.T) {
	k := at(0, 0)
	limit := TokenBucket(Rate{1 << 26, 1<<26 + 1}, 2) // horizon: 34 s
	leap := limit.law().Horizon() / 4
	program{
		name: "leap of time", bound: interleave.Exhaustive, limit: limit,
		provokes: []string{interleave.Waits, drops, inserts},
		setup: func(s *stage) {
			s.m.TakeAt(0, k, 2)
			for _, by := range []time.Duration{1, 2} {
				s.Go(func() {
					at := time.Duration(leap) * by
					if d := s.m.TakeAt(at, k, 1); d.Allowed {
						s.kept[k]++
					}
				})
			}
			s.Go(func() { s.m.words.SweepStep() })
			s.Check(func() error { s.tally(); return s.m.table.Invariants() })
		},
	}.explore(t)
}
