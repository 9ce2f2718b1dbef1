package sharded

import (
	"math"

	"github.com/penstock-go/penstock/atomicstate"
)

// census is what a read-only look at a leaf found.
type census struct {
	used        int   // slots that hold anything
	forgettable int   // slots that equal new or are superseded
	aged        int   // words that must go before they become unreadable
	nextForget  int64 // earliest time at which a slot that matters now can equal new
}

// survey counts, read only, what a rebuild at now would forget. base is a time at which
// every word of the leaf was readable.
func (t *Table) survey(l *leaf, base, now int64) census {
	c := census{nextForget: math.MaxInt64}
	for i := range l.slots {
		s := &l.slots[i]
		word := s.word.Load()
		if word == atomicstate.Empty {
			continue
		}
		c.used++
		switch word {
		case atomicstate.Superseded:
			c.forgettable++
		case atomicstate.Moved: // replaced meanwhile
		default:
			law := t.law(limitOf(s.check))
			if !law.EqualsNew(word, base, now) {
				c.nextForget = min(c.nextForget, until(law, word, now))
				continue
			}
			c.forgettable++
			if law.Aged(word, now) {
				c.aged++
			}
		}
	}
	return c
}

// until returns the time at which word equals new, saturated.
func until(law atomicstate.Law, word uint64, now int64) int64 {
	wait := law.Inspect(word, now, 0).ResetNanos
	if wait == atomicstate.Never || now > math.MaxInt64-wait {
		return math.MaxInt64
	}
	return now + wait
}

// grow makes room in a full leaf: it forgets what equals new, and splits the leaf when
// too much is left. It reports false if the leaf cannot be split any further. The caller
// holds l's lock, and must start again from the directory.
func (t *Table) grow(l *leaf, now int64) bool {
	if now >= l.retryForget { // else nothing can be forgotten
		c := t.survey(l, now, now)
		if int(l.used)-c.forgettable <= l.splitLive() {
			t.rebuild(l, now, now)
			return true
		}
		if c.forgettable == 0 { // else a call may have charged one of those meanwhile
			l.retryForget = c.nextForget
		}
	}
	if l.depth == maxDepth {
		return false
	}
	t.split(l, now)
	return true
}

// rebuild replaces l by a leaf of the same prefix without what equals new at now. The
// caller holds l's lock.
func (t *Table) rebuild(l *leaf, base, now int64) (dropped int) {
	fresh := newLeaf(l.depth, l.prefix) // before the first word is frozen
	post := t.announce(l, fresh, fresh)
	defer post.withdraw()
	floor, dropped := t.freeze(l, base, now, fresh, fresh)
	fresh.floor = floor
	t.publish(fresh)
	l.replaced = true
	t.counters.rebuilds.Add(1)
	return dropped
}

// split replaces l by two leaves, one for each half of its prefix. The caller holds l's
// lock.
func (t *Table) split(l *leaf, now int64) {
	low := newLeaf(l.depth+1, l.prefix)
	high := newLeaf(l.depth+1, l.prefix+l.width()/2)
	post := t.announce(l, low, high)
	defer post.withdraw()
	low.floor, _ = t.freeze(l, now, now, low, high)
	high.floor = low.floor
	low.retryForget, high.retryForget = l.retryForget, l.retryForget
	t.publish(low, high)
	l.replaced = true
	t.counters.splits.Add(1)
}

// merge joins two neighbours into one leaf. The caller holds both locks.
func (t *Table) merge(low, high *leaf, base, now int64) (dropped int) {
	both := newLeaf(low.depth-1, low.prefix)
	posts := [2]*post{t.announce(low, both, both), t.announce(high, both, both)}
	defer posts[0].withdraw()
	defer posts[1].withdraw()
	floorLow, droppedLow := t.freeze(low, base, now, both, both)
	floorHigh, droppedHigh := t.freeze(high, base, now, both, both)
	both.floor = max(floorLow, floorHigh)
	t.publish(both)
	low.replaced, high.replaced = true, true
	t.counters.merges.Add(1)
	return droppedLow + droppedHigh
}

// freeze swaps every word of l to Moved and judges what the swap returned: superseded words
// and those that equal new are dropped, the others are copied to the half they belong to.
// A take between copy and swap would be lost, as would one between judgement and swap, so
// the swap comes first. It returns the new floor and how many keys were forgotten.
func (t *Table) freeze(l *leaf, base, now int64, low, high *leaf) (floor int64, dropped int) {
	floor = l.floor
	halves := [2]*leaf{low, high}
	for i := range l.slots {
		s := &l.slots[i]
		if s.word.Load() == atomicstate.Empty { // only holders of the lock fill it
			continue
		}
		word := s.word.Swap(atomicstate.Moved)
		if t.pause != nil {
			t.pause()
		}
		switch {
		case word == atomicstate.Superseded:
		case t.law(limitOf(s.check)).EqualsNew(word, base, now):
			floor = max(floor, now)
			if !s.isOverflow() {
				dropped++
			}
		default:
			half := low
			if low != high {
				half = halves[l.side(s.hash)]
			}
			half.insert(s.identity, word)
		}
	}
	t.keys.Add(-int64(dropped))
	t.counters.drops.Add(uint64(dropped))
	return floor, dropped
}
