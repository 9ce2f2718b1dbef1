package engine

import (
	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/sharded"
)

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

// chargeAfterTry is charge for a call that came back undone from a try, which saw word; it counts the call.
// It is a function of its own for the sake of AllowN's frame.
func (m *Limiter[K]) chargeAfterTry(r *rule, key K, k sharded.Key, word uint64, n int64) bool {
	if word == atomicstate.Empty {
		return m.tally(m.chargeMissing(&m.main, r, key, k, word, n, readClock)).ok
	}
	return m.tally(m.charge(&m.main, r, key, k, n, readClock)).ok
}

// charge takes n >= 1 permits of a key, known or not: by chargeWord, and by chargeMissing if it has no word.
func (m *Limiter[K]) charge(p *place[K], r *rule, key K, k sharded.Key, n, given int64) result {
	out, done := m.chargeWord(r, k, n, given)
	if !done {
		out = m.chargeMissing(p, r, key, k, out.word, n, given)
	}
	return out
}

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
