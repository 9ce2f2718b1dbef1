//go:build interleave

package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/interleave"
)

// The first time that is given while the limiter is closed, which ends its coarse clock. From then on
// time is not behind what was given.
func TestInterleaveGiveClose(t *testing.T) {
	k, other := at(0, 0), at(1, 0)
	program{
		name: "first time given, close", bound: interleave.Exhaustive, limit: slow(2), provokes: []string{interleave.FailedSwaps},
		options: []Option{WithCoarseClock(time.Second)},
		setup: func(s *stage) {
			s.Go(func() { s.m.TakeAt(9*time.Hour, k, 1) })
			s.Go(func() { s.m.time.stopTicking() })
			s.Check(func() error {
				s.m.Allow(other)
				if now := s.m.time.settled(); now != int64(9*time.Hour) {
					return fmt.Errorf("time is %v, after 9h was given", time.Duration(now))
				}
				return s.m.table.Invariants()
			})
		},
	}.explore(t)
}

// A batch beside the first times that are given: whoever sees a charge made at one of them is not
// refused at an earlier time.
func TestInterleaveBatchGive(t *testing.T) {
	k := at(0, 0)
	program{
		name: "batch, first time given", bound: interleave.Exhaustive, limit: slow(2), provokes: []string{interleave.FailedSwaps},
		setup: func(s *stage) {
			s.take(k, 1)
			var out [1]bool
			s.Go(func() { s.m.AllowAll([]int{k}, out[:]) })
			s.Go(func() { s.m.TakeAt(9*time.Hour, k, 1) })
			s.Check(func() error {
				if !out[0] {
					return fmt.Errorf("refused, though one of two permits is left before and after")
				}
				return s.m.table.Invariants()
			})
		},
	}.explore(t)
}

// A new key beside the first time that is given, which is behind the clock: the key is charged at the time at
// which its call began or later, so nothing has been earned since.
func TestInterleaveNewKeyGive(t *testing.T) {
	k, other := at(0, 0), at(1, 0)
	program{
		name: "new key, first time given", bound: interleave.Exhaustive, limit: TokenBucket(Every(time.Hour), 2),
		now:      func(int) int64 { return int64(5 * time.Hour) },
		provokes: []string{interleave.FailedSwaps},
		setup: func(s *stage) {
			s.Go(func() {
				if !s.m.AllowN(k, 2) {
					panic("a new key was refused")
				}
			})
			s.Go(func() { s.m.TakeAt(0, other, 1) })
			s.Check(func() error {
				if s.m.Allow(k) {
					return fmt.Errorf("three of two permits passed at one time of the clock")
				}
				return s.m.table.Invariants()
			})
		},
	}.explore(t)
}
