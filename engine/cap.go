package engine

import (
	"sync/atomic"

	"github.com/penstock-go/penstock/sharded"
)

// capCounters count the calls for new keys that met the cap on keys, by what became of them.
type capCounters struct {
	shared, denied, uncounted atomic.Uint64
}

// chargeBeyondCap decides a call for a new key that found no room: fresh is the word of a new
// key at now.
func (c *core) chargeBeyondCap(r *rule, k sharded.Key, fresh uint64, now, n, given int64) charged {
	switch {
	case c.policy == CapAllow:
		c.capped.uncounted.Add(1)
		return charged{rule: r, word: fresh, now: now, ok: true}
	case c.policy == CapShared && k != sharded.Overflow:
		c.capped.shared.Add(1)
		return c.charge(sharded.Overflow, n, given)
	}
	c.capped.denied.Add(1)
	return charged{rule: r, word: emptied(r, fresh, now), now: now}
}

// emptied is the word of a key that has just used up all it has: a call refused for want of
// room is told to come back when n permits would have been earned from empty. When there will
// be room nobody can know.
func emptied(r *rule, fresh uint64, now int64) uint64 {
	if word, ok := r.law.Take(fresh, now, r.law.Capacity()); ok {
		return word
	}
	return fresh
}
