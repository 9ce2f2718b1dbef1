package engine

import (
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/sched"
	"github.com/penstock-go/penstock/sharded"
)

// The way of a call:
//
//	1 identity   hash the key once                                  sharded
//	2 slot       known key: no lock; unknown: lock one leaf         sharded
//	3 word       load it                                            atomicstate
//	4 now        read the clock, after the load                     clock.go
//	5 next       pure transition; denied: return, nothing written   atomicstate
//	6 publish    compare-and-swap; failed: another call made
//	             progress; 3, 5 and 6 again with the time of 4, a few
//	             times and while Near holds; refused or lost at it:
//	             back to 3; moved: on to the copy; superseded: back to 2
//	7 Decision   by value                                           decision.go

// Allow takes one permit of key, or reports false.
func (m *Limiter[K]) Allow(key K) bool { return m.AllowN(key, 1) }

// AllowN takes n permits of key, all or none. n == 0 is allowed and changes nothing; n < 0 is
// not allowed. Under a [LeakyQueue] true is a place in the queue, and only [Limiter.Take] tells when
// its turn is.
func (m *Limiter[K]) AllowN(key K, n int64) bool {
	r := m.rule.Load()
	if m.resolver != nil {
		r = m.resolve(key)
	}
	if !m.alone || r.verdict != byWord || n <= 0 {
		return m.allowAnyhow(r, key, n)
	}
	k := m.hasher.Key(key) // 1
	word, _, ok, done := m.tryWord(r, k, n)
	if done {
		return ok
	}
	return m.allowWord(r, key, k, word, n)
}

// allowAnyhow is AllowN for all that is not one word.
func (m *Limiter[K]) allowAnyhow(r *rule, key K, n int64) bool {
	var d Decision
	m.takeBy(&d, r, key, n, readClock)
	return d.Allowed
}

// allowWord is AllowN for all that is not the straight way, which saw word. It is a function of its own
// for the sake of AllowN's frame.
func (m *Limiter[K]) allowWord(r *rule, key K, k sharded.Key, word uint64, n int64) bool {
	if word == atomicstate.Empty {
		return m.tally(m.chargeMissing(&m.main, r, key, k, word, n, readClock)).ok
	}
	return m.tally(m.charge(&m.main, r, key, k, n, readClock)).ok
}

// AllowBytes is l.Allow(string(key)) without making the string. key must not change during the
// call.
func AllowBytes(l *Limiter[string], key []byte) bool {
	// Safety: the string is only compared with others during the call; nothing keeps it.
	view := unsafe.String(unsafe.SliceData(key), len(key))
	r := l.rule.Load()
	switch {
	case !l.alone || l.resolver != nil:
	case r.verdict == byWord:
		k := l.hasher.Bytes(key)
		word, _, ok, done := l.tryWord(r, k, 1)
		if done {
			return ok
		}
		return l.allowWord(r, view, k, word, 1)
	case r.verdict == byLog:
		clock := func() int64 { return l.time.sure(readClock) }
		if d, known := sharded.TakeExistingLogBytes(l.logsAt(&l.main).Logs, key, r.logLimit(), 1, clock); known {
			l.stats.count(d.Allowed)
			return d.Allowed
		}
	}
	return l.Take(string(key), 1).Allowed // a resolver or a new log may keep the key
}

// Take takes n permits of key, all or none, and says what is left. n == 0 is allowed and
// changes nothing. n < 0 is an error of the caller: not allowed, RetryAfter [Never].
func (m *Limiter[K]) Take(key K, n int64) (d Decision) {
	m.takeBy(&d, m.ruleOf(key), key, n, readClock)
	return d
}

// TakeAt is [Limiter.Take] at a time passed in, for tests, replays and callers that read their
// clock once for many calls. now is measured from an origin of the caller's choice, the same
// for all calls of a limiter; it may be negative. The limiter's time never moves back: it
// decides at the latest time that any call has passed in so far. A leap of now by a quarter
// of the limit's horizon (18 years for a rate of one token per a whole number of nanoseconds,
// at least 8 s for any rate) makes this call sweep the table first.
func (m *Limiter[K]) TakeAt(now time.Duration, key K, n int64) (d Decision) {
	m.takeBy(&d, m.ruleOf(key), key, n, m.time.give(now, m.table.Swept()))
	return d
}

// takeBy is Take by the main rule r and those of WithAlso. It writes to d, because a Decision is
// returned through memory, and each function between would copy it once more.
func (m *Limiter[K]) takeBy(d *Decision, r *rule, key K, n, given int64) {
	if m.alone && r.verdict == byWord && n > 0 {
		k := m.hasher.Key(key)
		if given == readClock {
			if word, now, ok, done := m.tryWord(r, k, n); done {
				decide(d, r, word, now, n, ok) // 7
				return
			}
		}
		out := m.charge(&m.main, r, key, k, n, given)
		m.stats.count(out.ok)
		decide(d, r, out.word, out.now, n, out.ok) // 7
		return
	}
	*d = m.takeAnyhow(r, key, n, given)
}

// takeAnyhow is takeBy for all that is not one word. It is a function of its own because receipts
// need a large frame, the clearing of which would cost takeBy as much as the rest of it.
func (m *Limiter[K]) takeAnyhow(r *rule, key K, n, given int64) (d Decision) {
	if m.alone {
		d, _ = m.takeOne(&m.main, r, key, n, given)
	} else {
		d, _ = m.takeSeveral(r, key, n, given)
	}
	m.stats.count(d.Allowed)
	return d
}

// result is what a call came to: the word and the time on which it was decided, and where the
// permits were taken.
type result struct {
	rule *rule
	word uint64
	now  int64
	ok   bool
	from source
}

// source is whose permits a call took.
type source uint8

const (
	fromKey      source = iota // the key's own
	fromOverflow               // of the bucket that new keys beyond the cap share
	fromNobody                 // none: uncounted
)

// tryWord is the straight way of a call: steps 2 to 6 once, for a known key on one of the limiter's
// own clocks. It reports done false, and has done nothing, if anything is
// otherwise; chargeWord handles all. It exists for speed alone, and returns single values because
// a struct of mixed sizes is copied through memory in pieces that stall.
func (c *core) tryWord(r *rule, k sharded.Key, n int64) (word uint64, now int64, ok, done bool) {
	if c.contended.Load() && c.time.kind.Load() == clockMonotonic {
		return c.tryContended(r, k, n)
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
	if !ok { // coarse time refuses nobody; a sweep after a leap may have dropped the word
		return word, now, false, kind == clockMonotonic && slot.Load() == word
	}
	if slot.CompareAndSwap(word, next) { // 6
		return next, now, true, true
	}
	if kind == clockMonotonic {
		c.contended.Store(true)
	}
	word, ok = c.tryAgain(r, slot, now, n)
	return word, now, ok, ok
}

// tryAgain is tryWord after a lost compare-and-swap, at the same time. That swap has brought the word's
// cache line here: it is won in the few nanoseconds before another processor has fetched it back, and not
// while the clock is read. At a time that was read before the word no call is refused, since more may
// have been earned; what is allowed would be allowed later too.
func (c *core) tryAgain(r *rule, slot *sched.Uint64, now, n int64) (word uint64, ok bool) {
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

// tryContended is tryWord while processors take the words of this limiter from each other. It reads the
// clock before it loads the word, so that nothing comes between the load, which fetches the word's cache
// line, and the swap: of two processors on one key each would lose half of its swaps else, and fetch the
// line twice. As in tryAgain nobody is refused at that time. After a while it lets the next call find out
// whether there is contention still.
func (c *core) tryContended(r *rule, k sharded.Key, n int64) (word uint64, now int64, ok, done bool) {
	now = c.time.exact()
	if now%calmNanos < calmNanos/calmShare {
		c.contended.Store(false)
	}
	slot, word := c.table.Find(k, r.number)
	if !atomicstate.IsLive(word) || !c.table.Near(now) {
		return word, now, false, false
	}
	next, ok := r.take(word, now, n)
	if !ok {
		return word, now, false, false
	}
	if slot.CompareAndSwap(word, next) {
		return next, now, true, true
	}
	word, ok = c.tryAgain(r, slot, now, n)
	return word, now, ok, ok
}

// A call in calmShare looks whether there is contention still; calmNanos are some hundred calls.
const (
	calmNanos = 1 << 15
	calmShare = 1 << 8
)

// chargeWord takes n >= 1 permits of a key that has a live word under r. It reports false if it
// has none; the word in its place is returned.
func (c *core) chargeWord(r *rule, k sharded.Key, n, given int64) (result, bool) {
	for {
		slot, word := c.table.Find(k, r.number) // 2, 3
		if word == atomicstate.Moved {
			slot, word = c.table.Follow(k, r.number)
		}
		for atomicstate.IsLive(word) {
			var now int64 // 4
			if c.time.isMonotonic(given) {
				now = c.time.exact()
			} else {
				now = c.time.nowSlow(given)
			}
			if now >= c.table.SweepDue() {
				c.table.CatchUp(now)
				break
			}
			var next uint64 // 5
			var ok bool
			if r.other == nil {
				next, ok = r.bucket.Take(word, now, n) // inlined
			} else {
				next, ok = r.other.Take(word, now, n)
			}
			if !ok && c.time.mayLag(given) {
				now = max(now, c.time.exact())
				next, ok = r.law.Take(word, now, n)
			}
			if !ok {
				if seen := slot.Load(); seen != word { // a sweep after a leap of time may have dropped it
					word = seen
					continue
				}
				return result{rule: r, word: word, now: now}, true
			}
			if slot.CompareAndSwap(word, next) { // 6
				return result{rule: r, word: next, now: now, ok: true}, true
			}
			c.stats.retry()
			word = slot.Load()
		}
		if !atomicstate.IsLive(word) && word != atomicstate.Moved { // else on to the copy
			return result{rule: r, word: word}, false
		}
	}
}

// charge takes n >= 1 permits of a key, known or not.
func (m *Limiter[K]) charge(p *place[K], r *rule, key K, k sharded.Key, n, given int64) result {
	out, done := m.chargeWord(r, k, n, given)
	if !done {
		out = m.chargeMissing(p, r, key, k, out.word, n, given)
	}
	return out
}

// chargeMissing is step 2 for a key without a live word: word stands in its place, if anything.
func (m *Limiter[K]) chargeMissing(p *place[K], r *rule, key K, k sharded.Key, word uint64, n, given int64) result {
	for {
		out, done := m.insert(p, r, key, k, word, n, given)
		if done {
			return out
		}
		if out, done = m.chargeWord(r, k, n, given); done {
			return out
		}
		word = out.word
	}
}

// insert makes a word for a key that has none under r; it reports false if the call is to start
// again.
func (m *Limiter[K]) insert(p *place[K], r *rule, key K, k sharded.Key, word uint64, n, given int64) (result, bool) {
	if word == atomicstate.Moved {
		m.table.Await(k)
		return result{}, false
	}
	outcome, word, now := m.table.Insert(k, r.number, m.time.sure(given), n, func(at int64) (int64, bool) {
		return p.evacuate(k, key, at)
	})
	switch outcome {
	case sharded.Leapt:
		m.table.CatchUp(max(now, m.time.sure(given)))
	case sharded.Charged, sharded.Denied:
		m.sweeper.Kick()
		return result{rule: r, word: word, now: now, ok: outcome == sharded.Charged}, true
	case sharded.Full:
		return m.chargeBeyondCap(p, r, key, k, result{rule: r, word: word, now: now}, n, given), true
	}
	return result{}, false
}
