package sharded

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/atomicstate"
)

// invariants returns what is wrong with a table at rest, for tests: the directory covers every coordinate,
// each entry points to the leaf of its prefix, each slot is in its leaf and reachable, at most one live
// slot a key and index, nothing can be forgotten before its leaf looks, and the count of keys is right.
func (t *Table) invariants() error {
	if err := t.dir.Load().invariants(); err != nil {
		return err
	}
	live := map[Key]int{}
	keys := 0
	var err error
	t.eachLeaf(func(l *leaf) {
		if err == nil {
			err = l.invariants()
		}
		if err == nil {
			err = t.looksInTime(l)
		}
		for i := range l.slots {
			s := &l.slots[i]
			if word := s.word.Load(); atomicstate.IsLive(word) {
				live[s.key()]++
				if !s.isOverflow() {
					keys++
				}
			}
		}
	})
	for k, n := range live {
		if n > 1 {
			return fmt.Errorf("key %x has %d live slots", k, n)
		}
	}
	if err == nil && keys != t.Len() {
		err = fmt.Errorf("%d keys are counted, and %d are held", t.Len(), keys)
	}
	return err
}

// invariants returns what is wrong with the entries of a directory at rest.
func (d *directory) invariants() error {
	for i := range d.leaves {
		l, at := d.leaves[i].Load(), uint64(i)<<d.shift
		switch {
		case at < l.prefix || at >= l.prefix+l.width():
			return fmt.Errorf("entry %d points to a foreign leaf", i)
		case l.depth > d.depth:
			return fmt.Errorf("entry %d points to a leaf deeper than the directory", i)
		case l.replaced:
			return fmt.Errorf("entry %d points to a replaced leaf", i)
		}
	}
	return nil
}

// invariants returns what is wrong with a published leaf at rest.
func (l *leaf) invariants() error {
	used := 0
	for i := range l.slots {
		s := &l.slots[i]
		word := s.word.Load()
		if word == atomicstate.Empty {
			continue
		}
		used++
		c := coordinate(s.hash)
		found, _ := l.find(s.identity)
		switch {
		case c < l.prefix || c >= l.prefix+l.width():
			return fmt.Errorf("slot %d stands in a foreign leaf", i)
		case found != &s.word:
			return fmt.Errorf("slot %d cannot be reached", i)
		case word == atomicstate.Moved:
			return fmt.Errorf("slot %d of a published leaf is frozen", i)
		}
	}
	if used != int(l.used) {
		return fmt.Errorf("%d slots are counted, and %d are in use", l.used, used)
	}
	return nil
}

// looksInTime returns an error if anything in a leaf at rest can be forgotten, now or later, while the leaf
// does not look.
func (t *Table) looksInTime(l *leaf) error {
	now := t.clock()
	if now >= l.retryForget || now >= t.sweepDue.Load() { // it looks; or words may be unreadable
		return nil
	}
	if c := t.survey(l, now, l.retryForget-1); c.forgettable > 0 {
		return fmt.Errorf("%d slots can be forgotten before %d, when their leaf looks", c.forgettable, l.retryForget)
	}
	return nil
}

// eachLeaf visits every leaf; nothing else may use the table meanwhile.
func (t *Table) eachLeaf(visit func(*leaf)) {
	for at := uint64(0); at <= math.MaxUint32; {
		l := t.dir.Load().leafAt(at)
		visit(l)
		at = l.prefix + l.width()
	}
}
