package engine

import (
	"github.com/penstock-go/penstock/internal/sched"
	"github.com/penstock-go/penstock/sharded"
)

// capCounters count the calls for new keys that met the cap on keys, by what became of them.
type capCounters struct {
	shared, denied, uncounted sched.Count
}

// chargeBeyondCap decides a call for a new key that found no room; out holds the word of a new
// key and the time.
func (m *Limiter[K]) chargeBeyondCap(p *place[K], r *rule, key K, k sharded.Key, out result, n, given int64) result {
	m.sweeper.Hurry() // other leaves may hold what can be forgotten
	switch {
	case m.policy == CapAllow:
		m.capped.uncounted.Add(1)
		out.ok, out.from = true, fromNobody
		return out
	case m.policy == CapShared && !k.IsOverflow():
		m.capped.shared.Add(1)
		shared := sharded.Overflow.WithIndex(p.index)
		out = m.charge(p, r, key, shared, n, given)
		out.from = fromOverflow
		return out
	}
	m.capped.denied.Add(1)
	out.word, out.from = emptied(r, out.word, out.now), fromNobody
	return out
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
