//go:build interleave

package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/interleave"
)

// A new key splits its leaf, and its call stops on the way. Time leaps twice as far as a sweep allows, and each
// time the other keys of the leaf use what they have earned, so that no sweep forgets them: at the time at
// which the split began their words can not be read any more.
func TestInterleaveSplitStalls(t *testing.T) {
	stalls("split stalls", at(3, 3), []int{at(0, 0), at(1, 1), at(3, 2)}, 2, splits).explore(t)
}

// The same for a new key that finds room: when its word is published, it has to be readable.
func TestInterleaveInsertStalls(t *testing.T) {
	stalls("new key stalls", at(0, 3), []int{at(0, 0)}, 5).explore(t)
}

// stalls is a program in which a key is made while others are used for some quarters of the horizon.
func stalls(name string, made int, used []int, quarters int64, provokes ...string) program {
	limit := TokenBucket(Every(1<<58), 4) // a full debt lasts for half of the horizon
	quarter := limit.law().Horizon() / 4  // which earns two permits
	var now interleave.Int64
	return program{
		name: name, bound: 2, limit: limit,
		now:      func(int) int64 { return now.Load() },
		provokes: append(provokes, inserts, "sweeps"),
		setup: func(s *stage) {
			now.Store(0)
			for _, k := range used {
				s.take(k, 4)
			}
			sweeps := s.m.Stats().Table.Sweeps
			s.Go(func() { s.take(made, 1) })
			s.Go(func() {
				for i := range quarters {
					now.Store((i + 1) * quarter)
					for _, k := range used {
						s.m.AllowN(k, 2)
					}
				}
			})
			s.Check(func() error {
				s.tally()
				s.Count("sweeps", s.m.Stats().Table.Sweeps-sweeps)
				for _, k := range used {
					if d := s.m.Peek(k); d.Remaining != 0 || d.ResetAfter != time.Duration(4)<<58 {
						return fmt.Errorf("key %x has %d permits left, and all again in %d; it has used all that it earned",
							k, d.Remaining, d.ResetAfter)
					}
				}
				if d := s.m.Peek(made); d.Remaining < 3 {
					return fmt.Errorf("the new key has %d of 4 permits left; it has used 1", d.Remaining)
				}
				return s.m.table.Invariants()
			})
		},
	}
}
