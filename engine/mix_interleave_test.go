//go:build interleave

package engine

import "testing"

// Programs that are too large for every schedule: all with few preemptions are run.

// Calls, a new key that splits the leaf, a limit that changes and a sweep, all at once.
func TestInterleaveMix(t *testing.T) {
	k, idle := at(0, 0), at(1, 1)
	now := int64(0)
	program{
		name: "take, split, limit, sweep", bound: 1, limit: TokenBucket(Every(10), 3),
		now:      func(int) int64 { return now },
		provokes: []string{splits, rebuilds, conversions, drops, awaits, follows, staleLeaves},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(idle)
			now = 10
			s.take(k, 1)
			s.take(at(3, 2), 1)
			s.Go(func() { s.take(k, 1); s.take(k, 1) })
			s.Go(func() { s.take(at(2, 3), 1) })
			s.Go(func() { s.set(TokenBucket(Every(10), 2)); s.take(k, 1); s.set(TokenBucket(Every(10), 3)) })
			s.Go(func() { s.m.Sweep() })
		},
	}.explore(t)
}

// A promise is made and given up, permits are given back, the limit changes and a sweep is on its way.
func TestInterleaveMixPromises(t *testing.T) {
	k := at(0, 0)
	now := int64(0)
	program{
		name: "reserve, give back, limit, sweep", bound: 1, limit: TokenBucket(Every(10), 2),
		now:      func(int) int64 { return now },
		provokes: []string{promised, givenBack, conversions, drops, awaits, follows},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(at(0, 1))
			now = 20
			s.record(k, 1)
			_, r := s.m.TakeReceipt(k, 1)
			s.kept[k]++
			s.Go(func() { s.reserve(k).Cancel() })
			s.Go(func() { s.give(k, r) })
			s.Go(func() { s.set(TokenBucket(Every(10), 3)); s.record(k, 1); s.set(TokenBucket(Every(10), 2)) })
			s.Go(func() { s.m.Sweep() })
			s.Check(func() error { s.tally(); return s.m.table.Invariants() })
		},
	}.explore(t)
}

// A key moves between a log and a word while it is taken from, reset, and swept.
func TestInterleaveMixLogs(t *testing.T) {
	k := at(0, 0)
	now := int64(0)
	log, bucket := SlidingLog(2, 10), TokenBucket(Every(10), 2)
	program{
		name: "log: limit, two takes, sweep", bound: 2, limit: log,
		now:      func(int) int64 { return now },
		provokes: []string{moves, returned, refused},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(k)
			now = 20
			s.kept[k] = 0
			s.Go(func() { s.set(bucket); s.take(k, 1); s.set(log); s.take(k, 1) })
			s.Go(func() { s.take(k, 1); s.take(k, 1) })
			s.Go(func() { s.m.Sweep() })
			s.Check(s.logsKept)
		},
	}.explore(t)
}
