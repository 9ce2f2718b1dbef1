package engine

import (
	"time"
	"unsafe"

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
//
// How far a function goes on it is told by its name:
//
//	try...       the fast way, for one word: once, for a known key on one of the
//	             limiter's own clocks. It may come back undone; then nothing is
//	             charged, and the sure way follows                    try.go
//	charge...    the sure way, for one word: any key, any clock, again and again
//	             until the call is decided                            charge.go
//	...Slow      the rest, which is not one word: a log, several limits, a limit
//	             that looks at no key, no permits asked for           below

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
		return m.allowSlow(r, key, n)
	}
	k := m.hasher.Key(key) // 1
	word, _, ok, done := m.tryWord(r, k, n)
	if done {
		return ok
	}
	return m.chargeAfterTry(r, key, k, word, n)
}

// allowSlow is AllowN for what is not one word.
func (m *Limiter[K]) allowSlow(r *rule, key K, n int64) bool {
	return m.takeSlow(r, key, n, readClock).Allowed
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
		return l.chargeAfterTry(r, view, k, word, 1)
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
func (m *Limiter[K]) Take(key K, n int64) Decision {
	r := m.ruleOf(key)
	if !m.alone || r.verdict != byWord || n <= 0 {
		return m.takeSlow(r, key, n, readClock)
	}
	k := m.hasher.Key(key)
	word, now, ok, done := m.tryWord(r, k, n)
	switch {
	case ok && done && r.other == nil && !r.delays(): // decide in short, for its frame costs a twelfth of the call
		return r.passed(word, now) // 7
	case done:
		return decide(r, word, now, n, ok) // 7
	}
	return m.chargeAndDecide(r, key, k, n, readClock)
}

// TakeAt is [Limiter.Take] at a time passed in, for tests, replays and callers that read their
// clock once for many calls. now is measured from an origin of the caller's choice, the same
// for all calls of a limiter; it may be negative. The limiter's time never moves back: it
// decides at the latest time that any call has passed in so far. A leap of now by a quarter
// of the limit's horizon (18 years for a rate of one token per a whole number of nanoseconds,
// at least 8 s for any rate) makes this call sweep the table first.
func (m *Limiter[K]) TakeAt(now time.Duration, key K, n int64) Decision {
	r, given := m.ruleOf(key), m.time.give(now, m.table.Swept())
	if !m.alone || r.verdict != byWord || n <= 0 {
		return m.takeSlow(r, key, n, given)
	}
	return m.chargeAndDecide(r, key, m.hasher.Key(key), n, given)
}

// chargeAndDecide is the sure way of Take and TakeAt, for one word.
func (m *Limiter[K]) chargeAndDecide(r *rule, key K, k sharded.Key, n, given int64) Decision {
	out := m.tally(m.charge(&m.main, r, key, k, n, given))
	return decide(r, out.word, out.now, n, out.ok) // 7
}

// takeSlow is Take and TakeAt for what is not one word. It is a function of its own because receipts
// need a large frame, the clearing of which would cost Take as much as the rest of it.
func (m *Limiter[K]) takeSlow(r *rule, key K, n, given int64) (d Decision) {
	if m.alone {
		d, _ = m.takeOne(&m.main, r, key, n, given)
	} else {
		d, _ = m.takeSeveral(r, key, n, given)
	}
	m.stats.count(d.Allowed)
	return d
}
