package engine

import (
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/sharded"
)

// The way of a call:
//
//	1 identity   hash the key once                                  sharded
//	2 slot       known key: no lock; unknown: lock one leaf         sharded
//	3 word       load it                                            atomicstate
//	4 now        read the clock, after the load, on every attempt   clock.go
//	5 next       pure transition; denied: return, nothing written   atomicstate
//	6 publish    compare-and-swap; failed: back to 3, another call
//	             made progress; moved or superseded: back to 2
//	7 Decision   by value                                           decision.go

// Allow takes one permit of key, or reports false.
func (m *Limiter[K]) Allow(key K) bool { return m.AllowN(key, 1) }

// AllowN takes n permits of key, all or none. n == 0 is allowed and changes nothing; n < 0 is
// not allowed.
func (m *Limiter[K]) AllowN(key K, n int64) bool {
	if m.logs != nil {
		return m.Take(key, n).Allowed
	}
	return m.tally(m.charge(m.hasher.Key(key), n, readClock)).ok // 1
}

// AllowBytes is l.Allow(string(key)) without making the string.
func AllowBytes(l *Limiter[string], key []byte) bool {
	if l.logs != nil {
		return takeLogBytes(l, key, 1)
	}
	return l.tally(l.charge(l.hasher.Bytes(key), 1, readClock)).ok
}

// Take takes n permits of key, all or none, and says what is left. n == 0 is allowed and
// changes nothing. n < 0 is an error of the caller: not allowed, RetryAfter [Never].
func (m *Limiter[K]) Take(key K, n int64) Decision { return m.takeAt(key, n, readClock) }

// TakeAt is [Limiter.Take] at a time passed in, for tests, replays and callers that read their
// clock once for many calls. now is measured from an origin of the caller's choice, the same
// for all calls of a limiter; it may be negative. The limiter's time never moves back: it
// decides at the latest time that any call has passed in so far. A leap of now by a quarter
// of the limit's horizon (18 years for a rate of one token per a whole number of nanoseconds,
// at least 8 s for any rate) makes this call sweep the table first.
func (m *Limiter[K]) TakeAt(now time.Duration, key K, n int64) Decision {
	return m.takeAt(key, n, m.time.give(now, m.used()))
}

func (m *Limiter[K]) takeAt(key K, n, given int64) Decision {
	var d Decision
	switch {
	case n < 0:
		d = Decision{Limit: m.rule.Load().limit.Capacity(), RetryAfter: Never}
	case n == 0:
		d = m.peekAt(key, 0, given)
	case m.logs != nil:
		d = m.logs.take(&m.core, key, n, given)
	default:
		return m.decide(m.tally(m.charge(m.hasher.Key(key), n, given)), n) // 7
	}
	m.stats.count(d.Allowed)
	return d
}

// charged is what a call came to: the word and the time on which it was decided.
type charged struct {
	rule *rule
	word uint64
	now  int64
	ok   bool
}

// charge takes n permits of k by the limiter's rule.
func (c *core) charge(k sharded.Key, n, given int64) charged {
	r := c.rule.Load()
	if r.verdict != byLaw || n <= 0 {
		return charged{rule: r, ok: n == 0 || n > 0 && r.verdict == always}
	}
	for {
		slot, word := c.table.Find(k, r.number) // 2, 3
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
				next, ok = r.bucket.Take(word, now, n) // inlined, unlike r.take
			} else {
				next, ok = r.other.Take(word, now, n)
			}
			if !ok && c.time.mayLag(given) {
				now = max(now, c.time.exact())
				next, ok = r.take(word, now, n)
			}
			if !ok {
				if seen := slot.Load(); seen != word { // a sweep after a leap of time may have dropped it
					word = seen
					continue
				}
				return charged{rule: r, word: word, now: now}
			}
			if slot.CompareAndSwap(word, next) { // 6
				return charged{rule: r, word: next, now: now, ok: true}
			}
			c.stats.retry()
			word = slot.Load()
		}
		if !atomicstate.IsLive(word) {
			if out, done := c.chargeSlow(r, k, word, n, given); done {
				return out
			}
		}
	}
}

// chargeSlow is step 2 for a key without a live word; it reports false if the call is to start
// again.
func (c *core) chargeSlow(r *rule, k sharded.Key, word uint64, n, given int64) (charged, bool) {
	if word == atomicstate.Moved {
		c.table.Await(k)
		return charged{}, false
	}
	now := c.time.now(given)
	if c.time.mayLag(given) { // the table reads the exact clock, and says so if a sweep is due
		now = max(now, c.time.exact())
	}
	if now >= c.table.SweepDue() {
		c.table.CatchUp(now)
		return charged{}, false
	}
	outcome, word, now := c.table.Insert(k, r.number, now, n)
	switch outcome {
	case sharded.Charged, sharded.Denied:
		c.sweeper.Kick()
		return charged{rule: r, word: word, now: now, ok: outcome == sharded.Charged}, true
	case sharded.Full:
		return c.chargeBeyondCap(r, k, word, now, n, given), true
	}
	return charged{}, false
}
