//go:build interleave

package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/interleave"
)

// set changes the limit of all keys.
func (s *stage) set(l Limit) {
	if err := s.m.SetLimit(l); err != nil {
		panic(err)
	}
}

// The burst goes from 2 to 1 and back, between calls: what was used stays used.
func TestInterleaveLimitForthAndBack(t *testing.T) {
	k := at(0, 0)
	program{
		name: "limit forth and back", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{conversions, interleave.FailedSwaps, interleave.Waits, refused},
		setup: func(s *stage) {
			s.take(k, 1)
			s.Go(func() { s.set(slow(1)); s.take(k, 1); s.set(slow(2)) })
			s.Go(func() { s.take(k, 1); s.take(k, 1) })
		},
	}.explore(t)
}

// The same while a sweep rebuilds the leaf and drops what was superseded.
func TestInterleaveLimitAndSweep(t *testing.T) {
	k, idle := at(0, 0), at(0, 1)
	now := int64(0)
	program{
		name: "limit, take, sweep", bound: interleave.Exhaustive, short: 2, limit: TokenBucket(Every(10), 2),
		now:      func(int) int64 { return now },
		provokes: []string{conversions, awaits, follows, drops, interleave.Waits, refused, interleave.FailedSwaps},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(idle)
			now = 10
			s.take(k, 1)
			s.Go(func() { s.set(TokenBucket(Every(20), 1)); s.take(k, 1); s.set(TokenBucket(Every(10), 2)); s.take(k, 1) })
			s.Go(func() { s.take(k, 1) })
			s.Go(func() { s.m.Sweep() })
		},
	}.explore(t)
}

// Two calls under two limits of one key, again and again: both are charged.
func TestInterleaveTwoLimits(t *testing.T) {
	k := at(0, 0)
	program{
		name: "two limits at once", bound: interleave.Exhaustive, limit: slow(4),
		provokes: []string{conversions, interleave.Waits, interleave.FailedSwaps},
		setup: func(s *stage) {
			one := s.m.rule.Load()
			s.set(slow(5))
			s.most = 5
			for _, r := range []*rule{one, s.m.rule.Load()} {
				s.Go(func() {
					for range 2 {
						if d, _ := s.m.takeOne(&s.m.main, r, k, 1, readClock); d.Allowed {
							s.kept[k]++
						}
					}
				})
			}
		},
	}.explore(t)
}

// Two keys are taken from together, in either order, and there is one permit of each.
func TestInterleaveTakeAll(t *testing.T) {
	x, y := at(0, 0), at(0, 1)
	program{
		name: "all or nothing", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{givenBack, interleave.FailedSwaps, refused},
		setup: func(s *stage) {
			s.take(x, 1)
			s.take(y, 1)
			for g, keys := range [][]int{{x, y}, {y, x}} {
				s.Go(func() {
					d, _ := TakeAll(1, s.m.Part(keys[0]), s.m.Part(keys[1]))
					switch {
					case d.Allowed:
						s.kept[x]++
						s.kept[y]++
					case s.Locks(g) > 0: // that of the ledger: what was charged was given back
						s.Count(givenBack, 1)
					default:
						s.Count(refused, 1)
					}
				})
			}
		},
	}.explore(t)
}

// The same by two limits of one key, beside calls on each.
func TestInterleaveAlso(t *testing.T) {
	k := at(0, 0)
	program{
		name: "two limits of a key", bound: interleave.Exhaustive, limit: slow(3), options: []Option{WithAlso(slow(2))},
		provokes: []string{interleave.FailedSwaps, refused, inserts, interleave.Waits},
		setup: func(s *stage) {
			s.m.table.CatchUp(0)
			s.most = 2
			for range 2 {
				s.Go(func() { s.take(k, 1); s.take(k, 1) })
			}
			s.Check(func() error {
				s.tally()
				if d := s.m.Peek(k); s.kept[k] > 2 || d.Remaining != 2-s.kept[k] {
					return fmt.Errorf("%d permits are left of 2, and %d were admitted", d.Remaining, s.kept[k])
				}
				return s.m.table.Invariants()
			})
		},
	}.explore(t)
}

// What was taken is given back while others take, and the key is dropped and comes back.
func TestInterleaveRefund(t *testing.T) {
	k := at(0, 0)
	program{
		name: "take, give back, sweep", bound: 2, limit: slow(2),
		provokes: []string{givenBack, interleave.FailedSwaps, drops, awaits, follows, refused},
		setup: func(s *stage) {
			s.take(k, 1)
			s.Go(func() {
				if d, r := s.m.TakeReceipt(k, 1); d.Allowed {
					s.kept[k]++
					s.give(k, r)
				}
			})
			s.Go(func() { s.take(k, 1) })
			s.Go(func() { s.m.time.advance(0); s.m.Reset(at(0, 1)); s.m.Sweep() })
			s.m.Allow(at(0, 1))
		},
	}.explore(t)
}

// Two receipts are given back at once, and a call takes what comes.
func TestInterleaveTwoRefunds(t *testing.T) {
	k := at(0, 0)
	program{
		name: "two give back", bound: interleave.Exhaustive, limit: slow(3),
		provokes: []string{givenBack, interleave.FailedSwaps, interleave.Waits},
		setup: func(s *stage) {
			s.take(k, 1)
			for range 2 {
				_, r := s.m.TakeReceipt(k, 1)
				s.kept[k]++
				s.Go(func() { s.give(k, r) })
			}
			s.Go(func() { s.take(k, 1) })
		},
	}.explore(t)
}

// One receipt is given back by two.
func TestInterleaveOneReceipt(t *testing.T) {
	k := at(0, 0)
	program{
		name: "one receipt, two give back", bound: interleave.Exhaustive, limit: slow(3),
		provokes: []string{givenBack, interleave.FailedSwaps},
		setup: func(s *stage) {
			s.take(k, 2)
			_, r := s.m.TakeReceipt(k, 1)
			s.kept[k]++
			for range 2 {
				s.Go(func() { s.give(k, r) })
			}
			s.Check(func() error {
				if s.kept[k] != 2 {
					return fmt.Errorf("%d of 3 permits are left over by one receipt for 1", s.kept[k])
				}
				return s.conserved()
			})
		},
	}.explore(t)
}

// A key is reset while it is taken from, and what was taken is given back. From then on it has one burst.
func TestInterleaveReset(t *testing.T) {
	k := at(0, 0)
	program{
		name: "take, reset, give back", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{givenBack, interleave.FailedSwaps, "forgotten"},
		setup: func(s *stage) {
			var done interleave.Bool
			after := int64(0) // permits taken by calls that began when the reset had ended
			s.take(k, 1)
			s.Go(func() {
				for range 2 {
					if late := done.Load(); s.m.Allow(k) {
						s.kept[k]++
						if late {
							after++
						}
					}
				}
			})
			s.Go(func() { s.m.Reset(k); done.Store(true) })
			s.Go(func() {
				if d, r := s.m.TakeReceipt(k, 1); d.Allowed {
					s.kept[k]++
					s.give(k, r)
				}
			})
			s.Check(func() error {
				s.tally()
				left := s.m.Peek(k).Remaining
				forgotten := s.kept[k] - (2 - left)
				if forgotten < 0 || forgotten > 2 || after+left > 2 {
					return fmt.Errorf("%d permits were forgotten, and %d may act after the reset: it forgets 0 to 2, and then 2 may act",
						forgotten, after+left)
				}
				s.Count("forgotten", uint64(forgotten))
				return s.m.table.Invariants()
			})
		},
	}.explore(t)
}

// All keys of a full leaf come under another limit: room is made before any of them is superseded.
func TestInterleaveLimitInAFullLeaf(t *testing.T) {
	program{
		name: "limit, full leaf", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{conversions, splits, interleave.Waits},
		setup: func(s *stage) {
			s.fill()
			s.Go(func() { s.set(slow(3)); s.take(at(0, 0), 1); s.take(at(1, 1), 1) })
			s.Go(func() { s.take(at(1, 1), 1) })
			s.most = 3
		},
	}.explore(t)
}

// A call is on its way to the slot of a key that comes under another limit and back, and a new key begins its
// probe at that slot, with the same number of permits used.
func TestInterleaveSupersededSlot(t *testing.T) {
	k, other := at(0, 0), at(0, 0)+1
	program{
		name: "limit, new key, take", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{conversions, inserts, interleave.FailedSwaps},
		setup: func(s *stage) {
			one := s.m.rule.Load()
			s.take(k, 1)
			s.set(slow(3))
			s.most = 3
			s.Go(func() {
				if d, _ := s.m.takeOne(&s.m.main, one, k, 1, readClock); d.Allowed {
					s.kept[k]++
				}
			})
			s.Go(func() {
				s.take(k, 1)
				if d, _ := s.m.takeOne(&s.m.main, one, other, 1, readClock); d.Allowed {
					s.kept[other]++
				}
			})
		},
	}.explore(t)
}

// Two goroutines are the first to need a rule: the key is under one limit, not two.
func TestInterleaveNewRule(t *testing.T) {
	k := at(0, 0)
	wide := TokenBucket(Every(2*time.Hour), 3)
	program{
		name: "a rule never met", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{interleave.Waits, conversions, secondLooks},
		setup: func(s *stage) {
			s.take(k, 1)
			s.most = 3
			for range 2 {
				s.Go(func() {
					s.set(wide)
					s.take(k, 1)
				})
			}
			s.Check(func() error {
				if r := s.m.rule.Load(); r.number != 1 {
					return fmt.Errorf("the second limit has the number %d", r.number)
				}
				s.Count(secondLooks, 1)
				return s.conserved()
			})
		},
	}.explore(t)
}
