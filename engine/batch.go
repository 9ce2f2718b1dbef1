package engine

import (
	"fmt"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/sched"
	"github.com/penstock-go/penstock/sharded"
)

// batchSize is how many keys of a batch are looked up together: some more than the misses of the
// caches that a processor waits for at a time (10 to 20), and few enough to stay in the nearest one.
const batchSize = 32

// AllowAll is [Limiter.Allow] for each of keys, in their order: out[i] is the answer for keys[i]. A key
// may stand there more than once. out must be as long as keys or longer; AllowAll panics if it is not.
// It returns how many were allowed. It is no transaction: each key is decided by itself.
//
// Cost: less than Allow for each. The clock is read twice for 32 keys, and where the words lie in memory
// that the processor's caches do not hold, the waits for it overlap.
// It allocates nothing. It gains nothing with [WithAlso], a resolver, [WithClock], or a limit that is a
// [SlidingLog].
func (m *Limiter[K]) AllowAll(keys []K, out []bool) (allowed int) {
	if len(out) < len(keys) {
		panic(fmt.Sprintf("engine: AllowAll: out is %d long, and there are %d keys: make it as long", len(out), len(keys)))
	}
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
	var b batch
	for i, key := range keys {
		b.keys[i] = m.hasher.Key(key)
	}
	for i := range keys {
		m.table.Touch(b.keys[i])
	}
	now := m.time.exact()
	for i := range keys {
		out[i] = m.tryWordAt(r, &b, i, now)
	}
	now = m.time.exact() // after every word was read
	for i, key := range keys {
		if !out[i] && !m.surelyRefused(r, &b, i, now) {
			out[i] = m.chargeAfterTry(r, key, b.keys[i], b.words[i], 1)
		}
		if out[i] {
			allowed++
		}
	}
	return allowed
}

// batch is what is known of the keys of a batch.
type batch struct {
	keys  [batchSize]sharded.Key
	slots [batchSize]*sched.Uint64
	words [batchSize]uint64
}

// tryWordAt is tryWord for one permit at a time that was read a moment before the word is: it does not
// say that a call is refused, since more may have been earned, and what it allows would be allowed later
// too.
func (c *core) tryWordAt(r *rule, b *batch, i int, now int64) bool {
	slot, word := c.table.Find(b.keys[i], r.number)
	b.slots[i], b.words[i] = slot, word
	if !atomicstate.IsLive(word) || !c.table.Near(now) {
		return false
	}
	next, ok := r.take(word, now, 1)
	return ok && slot.CompareAndSwap(word, next)
}

// surelyRefused reports whether the word that was read is refused one permit at a time that was read
// after it, and is still there. A word that was charged at a time given by a caller, later than the clock,
// does not say so; if no time was given by now, it was not.
func (c *core) surelyRefused(r *rule, b *batch, i int, now int64) bool {
	if !atomicstate.IsLive(b.words[i]) || now >= c.table.SweepDue() || c.time.kind.Load() != clockMonotonic {
		return false
	}
	_, ok := r.take(b.words[i], now, 1)
	return !ok && b.slots[i].Load() == b.words[i]
}
