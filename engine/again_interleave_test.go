//go:build interleave

package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/interleave"
)

// laterTime counts what passed after a look at the clock that came after a lost swap.
const laterTime = "passed at a second look at the clock"

// Time passes between a call's look at the clock and its next try: it is not refused at the time of the
// first one, at which nothing has been earned yet.
func TestInterleaveTimePassesAtALostSwap(t *testing.T) {
	k := at(0, 0)
	var now interleave.Int64
	var looks int
	program{
		name: "time passes at a lost swap", bound: interleave.Exhaustive, limit: TokenBucket(Every(10), 3),
		now: func(g int) int64 {
			if g == 0 {
				looks++
			}
			return now.Load()
		},
		provokes: []string{interleave.FailedSwaps, laterTime},
		setup: func(s *stage) {
			now.Store(0)
			s.take(k, 1)
			looks = 0
			s.Go(func() {
				s.take(k, 1)
				if looks > 1 {
					s.Count(laterTime, 1)
				}
			})
			s.Go(func() {
				s.take(k, 1)
				now.Store(10)
				s.take(k, 1)
			})
			s.Check(func() error {
				s.tally()
				if kept := s.kept[k]; kept != 4 {
					return fmt.Errorf("%d permits were admitted until 10; 4 were due to 4 calls", kept)
				}
				if left := s.m.Peek(k).Remaining; left != 0 {
					return fmt.Errorf("%d permits are left of 4", left)
				}
				return s.m.table.Invariants()
			})
		},
	}.explore(t)
}

// Time leaps there, twice as far as a sweep allows, and each time the key uses what it has earned: no sweep
// forgets it, and at the time of the first try its word can not be read any more.
func TestInterleaveLeapAtALostSwap(t *testing.T) {
	k := at(0, 0)
	limit := TokenBucket(Every(1<<58), 4) // a full debt lasts for half of the horizon
	quarter := limit.law().Horizon() / 4
	var now interleave.Int64
	program{
		name: "leap at a lost swap", bound: interleave.Exhaustive, limit: limit,
		now:      func(int) int64 { return now.Load() },
		provokes: []string{interleave.FailedSwaps, refused, "sweeps"},
		setup: func(s *stage) {
			now.Store(0)
			s.take(k, 3)
			sweeps := s.m.Stats().Table.Sweeps
			s.Go(func() { s.take(k, 1) })
			s.Go(func() {
				for i := range int64(2) {
					now.Store((i + 1) * quarter)
					n := int64(4)
					for n > 0 && !s.m.AllowN(k, n) {
						n--
					}
				}
			})
			s.Check(func() error {
				s.Count("sweeps", s.m.Stats().Table.Sweeps-sweeps)
				d := s.m.Peek(k)
				if d.Remaining != 0 || d.ResetAfter != time.Duration(4)<<58 {
					return fmt.Errorf("%d permits are left, and all again in %d; the key has used all that it earned", d.Remaining, d.ResetAfter)
				}
				return s.m.table.Invariants()
			})
		},
	}.explore(t)
}
