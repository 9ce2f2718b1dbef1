//go:build interleave

package engine

import (
	"testing"

	"github.com/penstock-go/penstock/internal/interleave"
)

// batch makes one call for two keys.
func (s *stage) batch(keys ...int) {
	out := make([]bool, len(keys))
	s.m.AllowAll(keys, out)
	for i, key := range keys {
		if out[i] {
			s.kept[key]++
		}
	}
}

// Two batches with the same keys, of which one is new to the table.
func TestInterleaveBatches(t *testing.T) {
	k, other := at(0, 0), at(1, 0)
	program{
		name: "two batches", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{interleave.FailedSwaps, inserts},
		setup: func(s *stage) {
			s.take(k, 1)
			s.Go(func() { s.batch(k, other) })
			s.Go(func() { s.batch(other, k) })
		},
	}.explore(t)
}

// A batch beside a call for one of its keys and a sweep.
func TestInterleaveBatchSweep(t *testing.T) {
	k, other := at(0, 0), at(1, 0)
	program{
		name: "batch, take, sweep", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{interleave.FailedSwaps},
		setup: func(s *stage) {
			s.take(k, 1)
			s.take(other, 1)
			s.Go(func() { s.batch(k, other) })
			s.Go(func() { s.take(k, 1) })
			s.Go(func() { s.m.Sweep() })
		},
	}.explore(t)
}
