package engine

import (
	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/sharded"
)

// batchSize is how many keys of a batch are looked up together: some more than the misses of the
// caches that a processor waits for at a time (10 to 20), and few enough to stay in the nearest one.
const batchSize = 32

// AllowAll is [Limiter.Allow] for each of keys, in their order: out[i] is the answer for keys[i]. A key
// may stand there more than once. out must be as long as keys or longer; AllowAll panics if it is not.
// It returns how many were allowed. It is no transaction: each key is decided by itself.
//
// Cost: less than Allow for each. The clock is read once for 32 keys, and again before one is refused;
// and where the words lie in memory that the processor's caches do not hold, the waits for it overlap.
// It allocates nothing. It gains nothing with [WithAlso], a resolver, [WithClock], or a limit that is a
// [SlidingLog].
func (m *Limiter[K]) AllowAll(keys []K, out []bool) (allowed int) {
	out = out[:len(keys)]
	for len(keys) > 0 {
		n := min(len(keys), batchSize)
		allowed += m.allowBatch(keys[:n], out[:n])
		keys, out = keys[n:], out[n:]
	}
	return allowed
}

// allowBatch is AllowAll for at most batchSize keys.
func (m *Limiter[K]) allowBatch(keys []K, out []bool) (allowed int) {
	r := m.rule.Load()
	if m.resolver != nil || !m.alone || r.verdict != byWord || m.stats != nil || m.time.kind.Load() != clockMonotonic {
		for i, key := range keys {
			if out[i] = m.Allow(key); out[i] {
				allowed++
			}
		}
		return allowed
	}
	var found [batchSize]sharded.Key
	for i, key := range keys {
		found[i] = m.hasher.Key(key)
	}
	for i := range keys {
		m.table.Touch(found[i])
	}
	now := m.time.exact()
	for i, key := range keys {
		out[i] = m.tryWordAt(r, found[i], now) || m.allowWord(r, key, found[i], 1)
		if out[i] {
			allowed++
		}
	}
	return allowed
}

// tryWordAt is tryWord for one permit at a time that was read a moment before the word was: it
// never refuses, since more may have been earned, and what it allows would be allowed later too.
func (c *core) tryWordAt(r *rule, k sharded.Key, now int64) bool {
	slot, word := c.table.Find(k, r.number)
	if !atomicstate.IsLive(word) || now >= c.table.SweepDue() {
		return false
	}
	var next uint64
	var ok bool
	if r.other == nil {
		next, ok = r.bucket.Take(word, now, 1) // inlined
	} else {
		next, ok = r.other.Take(word, now, 1)
	}
	return ok && slot.CompareAndSwap(word, next)
}
