//go:build interleave

package engine

import (
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/internal/interleave"
	"github.com/penstock-go/penstock/internal/oracle"
)

const promised = "promises"

// reserve takes a permit of key, or the promise of one, and writes down when it acts.
func (s *stage) reserve(key int) *Reservation[int] {
	r := s.m.Reserve(key, 1)
	if !r.OK() {
		panic(r.Err())
	}
	if r.booking.waits {
		s.Count(promised, 1)
	}
	s.admitted[key] = append(s.admitted[key], oracle.Admission{At: r.at(), N: 1})
	return r
}

// at is when a reservation acts.
func (r *Reservation[K]) at() int64 {
	if r.booking.waits {
		return r.booking.at
	}
	return r.booking.main.at
}

// cancel gives up a reservation, which does not act then.
func (s *stage) cancel(key int, r *Reservation[int]) {
	if !r.Cancel() {
		if r.booking.waits {
			panic("too late to give up a promise, and time stands still")
		}
		return // granted at once, and the key's limit changed since
	}
	s.Count(givenBack, 1)
	for i, a := range s.admitted[key] {
		if a.At == r.at() {
			s.admitted[key] = append(s.admitted[key][:i], s.admitted[key][i+1:]...)
			return
		}
	}
}

// promisesKept checks the law on all that acts, two more reservations among it; and that no more than left
// reservations stand before the first of these.
func (s *stage) promisesKept(key, left int) error {
	first := s.reserve(key)
	s.reserve(key)
	if most := int64(10 * left); first.at() > most {
		return fmt.Errorf("the next permit acts at %d; it could at %d", first.at(), most)
	}
	return s.bounded()
}

// A promise is given up while another is made.
func TestInterleaveReserveCancel(t *testing.T) {
	k := at(0, 0)
	program{
		name: "reserve, cancel", bound: interleave.Exhaustive, limit: TokenBucket(Every(10), 1),
		provokes: []string{promised, givenBack, interleave.Waits},
		setup: func(s *stage) {
			s.record(k, 1)
			s.Go(func() { s.cancel(k, s.reserve(k)) })
			s.Go(func() { s.reserve(k) })
			s.Check(func() error { return s.promisesKept(k, 3) })
		},
	}.explore(t)
}

// All promises are given up: the next one is as if they had never been.
func TestInterleaveCancelAll(t *testing.T) {
	k := at(0, 0)
	program{
		name: "two reserve and cancel", bound: interleave.Exhaustive, limit: TokenBucket(Every(10), 1),
		provokes: []string{promised, givenBack, interleave.Waits},
		setup: func(s *stage) {
			s.record(k, 1)
			for range 2 {
				s.Go(func() { s.cancel(k, s.reserve(k)) })
			}
			s.Check(func() error { return s.promisesKept(k, 1) })
		},
	}.explore(t)
}

// Takes pass beside a promise and its end, and the sweep.
func TestInterleaveReserveSweep(t *testing.T) {
	k := at(0, 0)
	now := int64(0)
	program{
		name: "reserve, cancel, take, sweep", bound: interleave.Exhaustive, short: 2, limit: TokenBucket(Every(10), 2),
		now:      func(int) int64 { return now },
		provokes: []string{promised, givenBack, interleave.FailedSwaps, interleave.Waits, drops, awaits, follows},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(at(0, 1))
			now = 20
			s.record(k, 1)
			s.Go(func() {
				if r := s.reserve(k); r.booking.waits {
					s.cancel(k, r)
				}
			})
			s.Go(func() { s.record(k, 1) })
			s.Go(func() { s.m.Sweep() })
			s.Check(func() error { return s.promisesKept(k, 4) })
		},
	}.explore(t)
}

// The limit changes under a promise that is given up. A promise that is kept acts besides what the new
// limit admits, so here all are given up.
func TestInterleaveReserveLimit(t *testing.T) {
	k := at(0, 0)
	program{
		name: "reserve, change of limit, cancel", bound: interleave.Exhaustive, limit: TokenBucket(Every(10), 1),
		provokes: []string{promised, conversions, givenBack, interleave.Waits},
		setup: func(s *stage) {
			s.record(k, 1)
			s.Go(func() { s.cancel(k, s.reserve(k)) })
			s.Go(func() { s.set(TokenBucket(Every(10), 2)); s.record(k, 1) })
			s.Check(func() error { return s.promisesKept(k, 4) })
		},
	}.explore(t)
}

// A key is reset while a promise of it is made and given up: from then on it has one burst.
func TestInterleaveReserveReset(t *testing.T) {
	k := at(0, 0)
	program{
		name: "reserve, reset, cancel", bound: interleave.Exhaustive, limit: TokenBucket(Every(10), 1),
		provokes: []string{promised, "reset", interleave.FailedSwaps},
		setup: func(s *stage) {
			var done interleave.Bool
			after := int64(0) // permits taken by a call that began when the reset had ended
			s.m.Allow(k)
			s.Go(func() {
				r := s.reserve(k)
				r.Cancel()
			})
			s.Go(func() { s.m.Reset(k); done.Store(true) })
			s.Go(func() {
				if done.Load() && s.m.Allow(k) {
					after++
				}
			})
			s.Check(func() error {
				s.Count("reset", uint64(after))
				if left := s.m.Peek(k).Remaining; after+left > 1 {
					return fmt.Errorf("%d permits may act at the instant of the reset, of 1", after+left)
				}
				return s.m.table.Invariants()
			})
		},
	}.explore(t)
}

// A promise of a log is given up while its key moves to a word: nothing is minted.
func TestInterleaveReserveLog(t *testing.T) {
	k := at(0, 0)
	program{
		name: "log: reserve, limit, cancel", bound: interleave.Exhaustive, limit: SlidingLog(2, 10),
		provokes: []string{promised, moves, givenBack, interleave.Waits},
		setup: func(s *stage) {
			s.take(k, 2)
			s.Go(func() {
				if s.reserve(k).Cancel() {
					s.Count(givenBack, 1)
				}
			})
			s.Go(func() { s.set(TokenBucket(Every(5), 3)); s.take(k, 1) })
			s.Check(func() error {
				s.Count(moves, s.m.Stats().Table.Conversions)
				if left := s.m.Peek(k).Remaining; s.kept[k]+left > 3 {
					return fmt.Errorf("%d permits were admitted and %d are left, of 3", s.kept[k], left)
				}
				return s.m.table.Invariants()
			})
		},
	}.explore(t)
}
