//go:build interleave

package engine

import (
	"testing"

	"github.com/penstock-go/penstock/internal/interleave"
)

// fill takes a permit of each of the keys that fill the one leaf of a new table, two of its lower half.
func (s *stage) fill() {
	for i, quarter := range []int{0, 1, 3} {
		s.take(at(quarter, i), 1)
	}
}

// A call on a key whose leaf is split by a new key, the directory being doubled.
func TestInterleaveTakeSplit(t *testing.T) {
	program{
		name: "take, split", bound: interleave.Exhaustive, limit: slow(3),
		provokes: []string{splits, doublings, awaits, follows, inserts},
		setup: func(s *stage) {
			s.fill()
			s.Go(func() { s.take(at(0, 0), 1); s.take(at(0, 0), 1) })
			s.Go(func() { s.take(at(3, 3), 1) })
		},
	}.explore(t)
}

// Two new keys in a leaf that is full.
func TestInterleaveTwoSplitOne(t *testing.T) {
	program{
		name: "two new keys, one full leaf", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{splits, doublings, staleLeaves, interleave.Waits, inserts},
		setup: func(s *stage) {
			s.fill()
			s.Go(func() { s.take(at(0, 3), 1) })
			s.Go(func() { s.take(at(3, 3), 1) })
		},
	}.explore(t)
}

// Two full leaves are split at once, one of which doubles the directory under the other.
func TestInterleaveTwoSplits(t *testing.T) {
	twoSplits("two leaves split", []string{splits, doublings, interleave.Waits, inserts}).explore(t)
}

// The same, and a call is on its way to a key of one of them.
func TestInterleaveTakeTwoSplits(t *testing.T) {
	twoSplits("take, two leaves split", []string{splits, doublings, awaits, follows, interleave.Waits, inserts}, at(0, 0)).explore(t)
}

func twoSplits(name string, provokes []string, taken ...int) program {
	return program{
		name: name, bound: interleave.Exhaustive, limit: slow(2), provokes: provokes,
		setup: func(s *stage) {
			s.fill()
			s.take(at(2, 3), 1) // splits
			s.take(at(0, 2), 1)
			s.take(at(3, 0), 1)
			for _, key := range append([]int{at(1, 3), at(2, 2)}, taken...) {
				s.Go(func() { s.take(key, 1) })
			}
		},
	}
}

// Two leaves become one under a call on a key of one of them, and a new key of the other.
func TestInterleaveTakeMerge(t *testing.T) {
	now := int64(0)
	program{
		name: "take, merge", bound: interleave.Exhaustive, short: 2, limit: TokenBucket(Every(10), 2),
		now:      func(int) int64 { return now },
		provokes: []string{merges, drops, awaits, follows, inserts, staleLeaves},
		setup: func(s *stage) {
			now = 0
			for i := range 4 {
				s.m.Allow(at(i, i))
			}
			s.m.Allow(at(0, 0))
			now = 10
			s.kept[at(0, 0)], s.kept[at(3, 2)] = 1, 0 // the first still owes one, and is copied
			s.Go(func() { s.take(at(0, 0), 1) })
			s.Go(func() { s.m.Sweep() })
			s.Go(func() { s.take(at(3, 2), 1) })
		},
	}.explore(t)
}
