//go:build interleave

package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/interleave"
)

const (
	moves    = "moves between a log and a word"
	returned = "logs made anew"
)

// logsKept is conserved, with what happened to logs: each that was made but the first one is a key that
// came back.
func (s *stage) logsKept() error {
	if g := s.m.main.logs.Load(); g != nil {
		d := g.Take(at(3, 3), s.m.rule.Load().logLimit(), 1, func() int64 { return 0 })
		s.Count(returned, max(2, d.Generation)-2)
	}
	s.Count(moves, s.m.Stats().Table.Conversions-s.before.Conversions)
	return s.conserved()
}

// Calls on one log.
func TestInterleaveLog(t *testing.T) {
	k := at(0, 0)
	program{
		name: "log: three takes", bound: interleave.Exhaustive, limit: SlidingLog(3, time.Hour),
		provokes: []string{refused}, // nobody waits: nothing that others see happens under the lock
		setup: func(s *stage) {
			s.take(k, 1)
			s.Go(func() { s.take(k, 1); s.take(k, 1) })
			s.Go(func() { s.take(k, 1) })
			s.Go(func() { s.take(k, 1) })
		},
	}.explore(t)
}

// The first calls of a key make one log.
func TestInterleaveNewLog(t *testing.T) {
	k := at(0, 0)
	program{
		name: "log: first calls of a key", bound: interleave.Exhaustive, limit: SlidingLog(2, time.Hour),
		provokes: []string{interleave.Waits, refused},
		setup: func(s *stage) {
			s.m.table.CatchUp(0)
			for range 3 {
				s.Go(func() { s.take(k, 1) })
			}
		},
	}.explore(t)
}

// A log that equals new is dropped under a call, and comes back.
func TestInterleaveLogSweep(t *testing.T) {
	k := at(0, 0)
	now := int64(0)
	program{
		name: "log: take, sweep", bound: interleave.Exhaustive, limit: SlidingLog(2, 10),
		now:      func(int) int64 { return now },
		provokes: []string{interleave.Waits, refused, returned},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(k)
			now = 10
			s.kept[k] = 0
			s.Go(func() { s.take(k, 1); s.take(k, 1) })
			s.Go(func() { s.m.Sweep() })
			s.Go(func() { s.take(k, 1) })
			s.Check(s.logsKept)
		},
	}.explore(t)
}

// A log is reset under calls.
func TestInterleaveLogReset(t *testing.T) {
	k := at(0, 0)
	program{
		name: "log: take, reset", bound: interleave.Exhaustive, limit: SlidingLog(2, time.Hour),
		provokes: []string{interleave.Waits, refused, "forgotten"},
		setup: func(s *stage) {
			s.take(k, 1)
			s.Go(func() { s.take(k, 1); s.take(k, 1) })
			s.Go(func() { s.m.Reset(k) })
			s.Go(func() { s.take(k, 1) })
			s.Check(func() error {
				forgotten := s.kept[k] - (2 - s.m.Peek(k).Remaining)
				if forgotten < 0 || forgotten > 2 {
					return fmt.Errorf("%d permits were forgotten: a reset forgets 0 to 2", forgotten)
				}
				s.Count("forgotten", uint64(forgotten))
				return nil
			})
		},
	}.explore(t)
}

// Two new keys at a cap of one, the place of which can be forgotten.
func TestInterleaveLogCap(t *testing.T) {
	a, b, idle := at(0, 0), at(0, 1), at(0, 2)
	now := int64(0)
	program{
		name: "log: cap reached", bound: interleave.Exhaustive, limit: SlidingLog(2, 10),
		options: []Option{WithMaxKeys(1, CapDeny)}, now: func(int) int64 { return now },
		provokes: []string{interleave.Waits, refused, "one log"},
		setup: func(s *stage) {
			now = 0
			s.m.Allow(idle)
			now = 10
			s.Go(func() { s.claim(a); s.claim(a) })
			s.Go(func() { s.claim(b) })
			s.Check(func() error {
				g := s.m.main.logs.Load()
				if g.Len() > 1 || s.kept[a] > 0 && s.kept[b] > 0 {
					return fmt.Errorf("%d logs, %d permits of one key and %d of the other: there is room for one", g.Len(), s.kept[a], s.kept[b])
				}
				s.Count("one log", 1)
				return nil
			})
		},
	}.explore(t)
}

// A key moves from a word to a log and back, between calls.
func TestInterleaveLogMoves(t *testing.T) {
	k := at(0, 0)
	log := SlidingLog(2, time.Hour)
	program{
		name: "log: limit forth and back", bound: interleave.Exhaustive, limit: slow(2),
		provokes: []string{moves, interleave.Waits, refused},
		setup: func(s *stage) {
			s.take(k, 1)
			s.Go(func() { s.set(log); s.take(k, 1); s.set(slow(2)) })
			s.Go(func() { s.take(k, 1); s.take(k, 1) })
			s.Check(s.logsKept)
		},
	}.explore(t)
}

// The same under a sweep.
func TestInterleaveLogMovesSweep(t *testing.T) {
	k := at(0, 0)
	log := SlidingLog(2, time.Hour)
	program{
		name: "log: limit, take, sweep", bound: interleave.Exhaustive, limit: log,
		provokes: []string{moves, interleave.Waits, refused},
		setup: func(s *stage) {
			s.take(k, 1)
			s.Go(func() { s.set(slow(2)); s.take(k, 1); s.set(log) })
			s.Go(func() { s.take(k, 1) })
			s.Go(func() { s.m.Sweep() })
			s.Check(s.logsKept)
		},
	}.explore(t)
}

// A limiter is closed while its first log is made: no sweep of it comes any more.
func TestInterleaveLogClose(t *testing.T) {
	k := at(0, 0)
	program{
		name: "log: first call, close", bound: interleave.Exhaustive, limit: SlidingLog(2, time.Hour),
		provokes: []string{"timers in vain", "timers never set"},
		setup: func(s *stage) {
			s.m.table.CatchUp(0)
			s.Go(func() { s.take(k, 1) })
			s.Go(func() {
				if err := s.m.Close(); err != nil {
					panic(err)
				}
			})
			s.Check(func() error {
				for _, run := range s.Due() {
					run() // does nothing any more: one that sweeps sets the next timer
				}
				if len(s.Due()) > 0 {
					return errors.New("a limiter that is closed sweeps")
				}
				if s.Timers() > 0 {
					s.Count("timers in vain", 1)
				} else {
					s.Count("timers never set", 1)
				}
				return s.conserved()
			})
		},
	}.explore(t)
}
