package engine

import (
	"time"

	"github.com/penstock-go/penstock/atomicstate"
)

// Peek returns what Take(key, 1) would answer now, and charges nothing. It makes no slot for a
// key never seen before.
func (m *Limiter[K]) Peek(key K) Decision { return m.peekAt(key, readClock) }

// PeekAt is [Limiter.Peek] at a time passed in, with the rules of [Limiter.TakeAt].
func (m *Limiter[K]) PeekAt(now time.Duration, key K) Decision {
	return m.peekAt(key, m.time.give(now, m.table.Swept()))
}

func (m *Limiter[K]) peekAt(key K, given int64) Decision {
	return m.peekRules(m.ruleOf(key), key, 1, given)
}

// convert is the word of a key under the rule r, which its call would convert it to.
func convert(from atomicstate.Law, word uint64, r *rule, now int64) uint64 {
	if from == r.law {
		return word
	}
	return atomicstate.Convert(from, word, r.law, now)
}

// permits is a usage of whole permits.
func permits(n int64) atomicstate.Usage { return atomicstate.Usage{Units: uint64(n), PerPermit: 1} }
