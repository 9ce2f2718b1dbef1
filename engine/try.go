package engine

import (
	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/sched"
	"github.com/penstock-go/penstock/sharded"
)

// tryWord is steps 2 to 6 once, for a known key on one of the limiter's own clocks. If anything is
// otherwise it reports done false, and has charged nothing: charge decides then. It exists for speed
// alone, and returns single values because a struct of mixed sizes is copied through memory in pieces
// that stall.
func (c *core) tryWord(r *rule, k sharded.Key, n int64) (word uint64, now int64, ok, done bool) {
	if c.contended.Load() && c.time.kind.Load() == clockMonotonic {
		return c.tryWordContended(r, k, n)
	}
	slot, word := c.table.Find(k, r.number) // 2, 3
	if !atomicstate.IsLive(word) || c.stats != nil {
		return word, 0, false, false
	}
	kind := c.time.kind.Load()
	switch kind { // 4
	case clockMonotonic:
		now = c.time.exact()
	case clockCoarse:
		now = c.time.coarse.now.Load()
	default:
		return word, 0, false, false
	}
	if now >= c.table.SweepDue() {
		return word, now, false, false
	}
	var next uint64 // 5
	if r.other == nil {
		next, ok = r.bucket.Take(word, now, n) // inlined
	} else {
		next, ok = r.other.Take(word, now, n)
	}
	switch {
	case !ok && kind == clockCoarse: // which refuses nobody
		return c.tryWordExact(r, slot, word, n)
	case !ok: // a sweep after a leap may have dropped the word
		return word, now, false, slot.Load() == word
	}
	if slot.CompareAndSwap(word, next) { // 6
		return next, now, true, true
	}
	if kind == clockMonotonic {
		c.contended.Store(true)
	}
	word, ok = c.tryWordAgain(r, slot, now, n)
	return word, now, ok, ok
}

// tryWordExact is tryWord after a refusal of the coarse clock: steps 4 to 6 at the exact time, with the word of
// then. The word has to be loaded before the kind of clock: else it may be of a time that was given meanwhile,
// at which more has been earned than at the exact one.
func (c *core) tryWordExact(r *rule, slot *sched.Uint64, word uint64, n int64) (seen uint64, now int64, ok, done bool) {
	now = c.time.exact()
	if now >= c.table.SweepDue() {
		return word, now, false, false
	}
	next, ok := r.take(word, now, n)
	if !ok {
		return word, now, false, slot.Load() == word
	}
	if slot.CompareAndSwap(word, next) {
		return next, now, true, true
	}
	return word, now, false, false
}

// tryWordAgain is tryWord after a lost compare-and-swap, at the same time. That swap has brought the word's
// cache line here: it is won in the few nanoseconds before another processor has fetched it back, and not
// while the clock is read. At a time that was read before the word no call is refused, since more may
// have been earned; what is allowed would be allowed later too.
func (c *core) tryWordAgain(r *rule, slot *sched.Uint64, now, n int64) (word uint64, ok bool) {
	for range mostTries {
		word = slot.Load()
		if !atomicstate.IsLive(word) || !c.table.Near(now) {
			return word, false
		}
		next, passes := r.take(word, now, n)
		if !passes {
			return word, false
		}
		if slot.CompareAndSwap(word, next) {
			return next, true
		}
	}
	return word, false
}

// mostTries bounds how often a call tries at one reading of the clock: the second try is the one that
// is nearly always won.
const mostTries = 4

// tryWordContended is tryWord while processors take the words of this limiter from each other. It reads the
// clock before it loads the word, so that nothing comes between the load, which fetches the word's cache
// line, and the swap: of two processors on one key each would lose half of its swaps else, and fetch the
// line twice. As in tryWordAgain nobody is refused at that time. After a while it lets the next call find out
// whether there is contention still.
func (c *core) tryWordContended(r *rule, k sharded.Key, n int64) (word uint64, now int64, ok, done bool) {
	now = c.time.exact()
	if now%calmNanos < calmNanos/calmShare {
		c.contended.Store(false)
	}
	slot, word := c.table.Find(k, r.number)
	if !atomicstate.IsLive(word) || !c.table.Near(now) {
		return word, now, false, false
	}
	next, ok := r.take(word, now, n)
	if !ok { // the word may be of a time that was given meanwhile
		return word, now, false, false
	}
	if slot.CompareAndSwap(word, next) {
		return next, now, true, true
	}
	word, ok = c.tryWordAgain(r, slot, now, n)
	return word, now, ok, ok
}

// A call in calmShare looks whether there is contention still; calmNanos are some hundred calls.
const (
	calmNanos = 1 << 15
	calmShare = 1 << 8
)
