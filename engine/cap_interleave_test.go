//go:build interleave

package engine

import (
	"errors"
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/internal/interleave"
	"github.com/penstock-go/penstock/sharded"
)

// shared stands for the bucket that new keys beyond the cap share.
const shared = -1

const (
	fromShared = "calls on the shared bucket"
	uncounted  = "calls uncounted"
)

// claim takes a permit of key and keeps whose it was.
func (s *stage) claim(key int) {
	d, rc := s.m.takeOne(&s.m.main, s.m.ruleOf(key), key, 1, readClock)
	switch {
	case !d.Allowed:
		s.Count(refused, 1)
	case rc.from == fromOverflow:
		s.kept[shared]++
		s.Count(fromShared, 1)
	case rc.from == fromNobody:
		s.Count(uncounted, 1)
	default:
		s.kept[key]++
	}
}

// capped checks that no more keys are held than may be, and that each, and the shared bucket, has left
// what it has not used.
func (s *stage) capped() error {
	s.tally()
	errs := []error{s.m.table.Invariants()}
	most := s.m.table.MaxKeys()
	if n := s.m.table.Len(); int64(n) > most {
		errs = append(errs, fmt.Errorf("%d keys are held", n))
	}
	for key, kept := range s.kept {
		k := s.m.hasher.Key(key)
		if key == shared {
			k = sharded.Overflow
		}
		left := s.most
		if word, law, held := s.m.table.Lookup(k); held {
			left = law.Inspect(word, s.m.time.settled(), 0).Remaining
		}
		if left != s.most-kept {
			errs = append(errs, fmt.Errorf("key %x has %d permits left of %d, and %d were admitted", key, left, s.most, kept))
		}
	}
	return errors.Join(errs...)
}

// Two new keys, and room for one.
func TestInterleaveCap(t *testing.T) {
	a, b := at(0, 0), at(0, 1)
	for policy, provokes := range map[CapPolicy][]string{
		CapShared: {fromShared, inserts, interleave.FailedSwaps, interleave.Waits},
		CapDeny:   {refused, inserts, interleave.Waits},
		CapAllow:  {uncounted, inserts, interleave.Waits},
	} {
		program{
			name: fmt.Sprint("cap reached, policy ", policy), bound: interleave.Exhaustive, limit: slow(2),
			options: []Option{WithMaxKeys(1, policy)}, provokes: provokes,
			setup: func(s *stage) {
				s.m.table.CatchUp(0)
				s.Go(func() { s.claim(a); s.claim(a) })
				s.Go(func() { s.claim(b) })
				s.Go(func() { s.claim(b) })
				s.Check(s.capped)
			},
		}.explore(t)
	}
}

// Two new keys, and a place that can be forgotten.
func TestInterleaveCapMakesRoom(t *testing.T) {
	a, b, idle := at(0, 0), at(0, 1), at(0, 2)
	now := int64(0)
	program{
		name: "cap reached, room to make", bound: interleave.Exhaustive, limit: TokenBucket(Every(10), 2),
		options: []Option{WithMaxKeys(1, CapDeny)}, now: func(int) int64 { return now },
		provokes: []string{refused, drops, inserts, interleave.Waits, staleLeaves},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(idle)
			now = 10
			s.Go(func() { s.claim(a) })
			s.Go(func() { s.claim(b) })
			s.Check(s.capped)
		},
	}.explore(t)
}

// A place is freed by a sweep while the key that holds it comes back and another one asks for it.
func TestInterleaveCapSweep(t *testing.T) {
	a, b := at(0, 0), at(0, 1)
	now := int64(0)
	program{
		name: "cap reached, sweep", bound: interleave.Exhaustive, limit: TokenBucket(Every(10), 2),
		options: []Option{WithMaxKeys(1, CapShared)}, now: func(int) int64 { return now },
		provokes: []string{fromShared, drops, inserts, interleave.Waits, awaits, interleave.FailedSwaps},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(a)
			now = 10
			s.Go(func() { s.claim(a) })
			s.Go(func() { s.claim(b) })
			s.Go(func() { s.m.Sweep() })
			s.Check(s.capped)
		},
	}.explore(t)
}

// Two new keys in two leaves, and room for one: no lock keeps them apart.
func TestInterleaveCapOfTwoLeaves(t *testing.T) {
	a, b := at(0, 3), at(3, 0)
	program{
		name: "cap reached, two leaves", bound: interleave.Exhaustive, limit: slow(2),
		options: []Option{WithMaxKeys(5, CapDeny)}, provokes: []string{refused, inserts, interleave.FailedSwaps},
		setup: func(s *stage) {
			for i := range 4 {
				s.claim(at(i, i)) // the fourth splits
			}
			s.Go(func() { s.claim(a) })
			s.Go(func() { s.claim(b) })
			s.Check(s.capped)
		},
	}.explore(t)
}
