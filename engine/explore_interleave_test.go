//go:build interleave

package engine

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/internal/interleave"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/penstock-go/penstock/sharded"
	"github.com/stretchr/testify/require"
)

// What programs provoke, besides what package interleave counts. Most are the table's own counters.
const (
	inserts     = "inserts"
	drops       = "keys dropped"
	conversions = "conversions"
	splits      = "splits"
	rebuilds    = "rebuilds"
	merges      = "merges"
	doublings   = "doublings"
	awaits      = "waits for a rebuild"
	follows     = "copies met before the rebuild was over"
	staleLeaves = "stale leaves"
	secondLooks = "keys found on the second look"
	givenBack   = "permits given back"
	refused     = "calls refused"
)

// program is one whose goroutines use a limiter of integer keys, the number of which is their hash:
// see at.
type program struct {
	name     string
	bound    int // on preemptions
	short    int // the same with -short, of the longest programs, which `make interleave` runs whole; 0: the same
	limit    Limit
	options  []Option
	now      func(g int) int64 // nil: time stands still at 0
	setup    func(s *stage)
	provokes []string
}

// stage is what a program works on.
type stage struct {
	*interleave.Run
	m        *Limiter[int]
	kept     map[int]int64              // permits that were admitted and not given back, by key
	admitted map[int][]oracle.Admission // the same, with their times
	most     int64                      // permits that a key may have been admitted at one instant
	before   sharded.Counters           // when the goroutines started
}

// explore runs a program, and reports.
func (p program) explore(t *testing.T) {
	t.Helper()
	if testing.Short() && p.short > 0 {
		p.bound = p.short
	}
	report := interleave.Explore(&interleave.Program{
		Name: p.name, Bound: p.bound, Provokes: p.provokes,
		Setup: func(r *interleave.Run) {
			s := &stage{Run: r, most: p.limit.Capacity(), kept: map[int]int64{}, admitted: map[int][]oracle.Admission{}}
			if p.now != nil {
				r.Clock(p.now)
			}
			s.m = exactHashes(Must[int](p.limit, p.options...))
			s.Check(s.conserved)
			p.setup(s)
			s.before = s.m.Stats().Table
		},
	})
	t.Logf("%v", &report)
	require.NoError(t, report.Err)
}

// exactHashes makes each key its own hash. The seeds of a hasher are random, and an execution must be
// the same each time.
func exactHashes(m *Limiter[int]) *Limiter[int] {
	hasher := reflect.ValueOf(&m.hasher).Elem()
	for field, value := range map[string]uint64{"pad": 0, "mul": 1, "mul2": 1} {
		f := hasher.FieldByName(field)
		*(*uint64)(unsafe.Pointer(f.UnsafeAddr())) = value
	}
	return m
}

// at is the i-th key of a quarter of the table: keys of one quarter share a leaf until that is split
// more than twice. Keys of the same i begin their probe at the same slot.
func at(quarter, i int) int {
	return []int{0x10000000, 0x80000000, 0xB0000000, 0xF0000000}[quarter]<<32 | i<<30
}

// take takes n permits of key, on a clock that stands still.
func (s *stage) take(key int, n int64) {
	if s.m.AllowN(key, n) {
		s.kept[key] += n
	} else {
		s.Count(refused, 1)
	}
}

// record takes n permits of key and keeps the time at which they were charged.
func (s *stage) record(key int, n int64) receipt {
	d, rc := s.m.takeOne(&s.m.main, s.m.ruleOf(key), key, n, readClock)
	if d.Allowed {
		s.admitted[key] = append(s.admitted[key], oracle.Admission{At: rc.at, N: n})
	}
	return rc
}

// give gives a permit of key back.
func (s *stage) give(key int, r *Receipt[int]) {
	if r.Refund(1) {
		s.kept[key]--
		s.Count(givenBack, 1)
	}
}

// conserved checks that each key has left what it has not used, on a clock that stands still; and
// the invariants of the table.
func (s *stage) conserved() error {
	s.tally()
	if err := s.m.table.Invariants(); err != nil {
		return err // a call might not come back
	}
	var errs []error
	for key, kept := range s.kept {
		capacity := s.m.Limit().Capacity()
		if left := s.m.Peek(key).Remaining; left != max(0, capacity-kept) {
			errs = append(errs, fmt.Errorf("key %x has %d permits left; of %d %d were admitted", key, left, capacity, kept))
		}
		if kept > s.most {
			errs = append(errs, fmt.Errorf("key %x admitted %d permits at one instant; its burst is %d", key, kept, s.most))
		}
	}
	return errors.Join(errs...)
}

// bounded checks the law of the bucket, on the times of the charges; and the invariants of the table.
func (s *stage) bounded() error {
	s.tally()
	errs := []error{s.m.table.Invariants()}
	l := s.m.Limit()
	for key, admitted := range s.admitted {
		if err := oracle.Bound(l.tokens, l.period, l.burst, admitted); err != nil {
			errs = append(errs, fmt.Errorf("key %x: %w", key, err))
		}
	}
	return errors.Join(errs...)
}

// tally counts what happened in the table since the goroutines started.
func (s *stage) tally() {
	c, b := s.m.Stats().Table, s.before
	for what, n := range map[string]uint64{
		inserts: c.Inserts - b.Inserts, drops: c.Drops - b.Drops, conversions: c.Conversions - b.Conversions,
		splits: c.Splits - b.Splits, rebuilds: c.Rebuilds - b.Rebuilds, merges: c.Merges - b.Merges,
		doublings: c.Doublings - b.Doublings, awaits: c.Awaits - b.Awaits, follows: c.Follows - b.Follows,
		staleLeaves: c.StaleLeaves - b.StaleLeaves,
	} {
		s.Count(what, n)
	}
}

// slow is a bucket that earns nothing while a program lasts.
func slow(burst int64) Limit { return TokenBucket(Every(time.Hour), burst) }
