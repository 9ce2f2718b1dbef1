package engine

import (
	"math"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/sharded"
)

// One rule at one place: take, peek, refund. What is more than one is in several.go.

// receipt says where the permits of one rule's charge came from, so that they can be given back.
type receipt struct {
	rule       *rule
	charged    bool   // whether there is anything to give back
	at         int64  // when the permits act
	generation uint64 // of the key's log
	epoch      uint64 // of the table of words, before the charge
	from       source
}

// takeOne takes n permits of key by one rule.
func (m *Limiter[K]) takeOne(p *place[K], r *rule, key K, n, given int64) (Decision, receipt) {
	switch {
	case n < 0:
		return Decision{Limit: r.limit.Capacity(), RetryAfter: Never}, receipt{}
	case n == 0:
		return m.peekOne(p, r, key, 0, given), receipt{}
	case r.verdict == byLog:
		return m.takeLog(p, r, key, n, given)
	case r.verdict != byWord:
		return fixed(r.verdict, n), receipt{rule: r}
	}
	epoch := m.table.Epoch()
	k := m.hasher.Key(key).WithIndex(p.index)
	out := m.charge(p, r, key, k, n, given)
	d := decide(r, out.word, out.now, n, out.ok) // 7
	at := out.now + max(0, int64(d.Delay))       // Never in a queue that stands still
	return d, receipt{rule: r, charged: out.ok && out.from != fromNobody, at: at, from: out.from, epoch: epoch}
}

// decide makes the answer to a call of n >= 1 permits from what it came to.
func decide(r *rule, word uint64, now, n int64, ok bool) (d Decision) {
	if ok && r.other == nil {
		d = r.passed(word, now)
	} else {
		d.Allowed, d.Limit = ok, r.limit.burst
		asked := n
		if ok {
			asked = 0 // describe what is left after the charge
		}
		s := r.law.Inspect(word, now, asked)
		d.Remaining, d.RetryAfter, d.ResetAfter = s.Remaining, time.Duration(s.RetryNanos), time.Duration(s.ResetNanos)
	}
	if ok && r.delays() {
		d.Delay = time.Duration(r.law.Delay(word, now, n))
	}
	return d
}

// fixed is the answer of a rule that does not look at the key.
func fixed(v verdict, n int64) Decision {
	switch {
	case v == always:
		return Decision{Allowed: true, Limit: math.MaxInt64, Remaining: math.MaxInt64}
	case n == 0:
		return Decision{Allowed: true}
	}
	return Decision{RetryAfter: Never}
}

// peekOne describes a call of n >= 0 permits by one rule.
func (m *Limiter[K]) peekOne(p *place[K], r *rule, key K, n, given int64) Decision {
	switch r.verdict {
	case byWord:
		return m.peekWord(p, r, key, m.hasher.Key(key).WithIndex(p.index), n, given)
	case byLog:
		return m.peekLog(p, r, key, n, given)
	}
	return fixed(r.verdict, n)
}

// peekWord describes a call of n >= 0 permits on a key's word.
func (m *Limiter[K]) peekWord(p *place[K], r *rule, key K, k sharded.Key, n, given int64) Decision {
	look := m.lookup(k, given)
	if !look.known {
		return m.peekNew(p, r, key, k, n, look.now, given)
	}
	return describe(r, convert(look.law, look.word, r, look.now), look.now, n)
}

// sight is a word found and a time at which it can be read.
type sight struct {
	word  uint64
	law   atomicstate.Law
	known bool // whether there is a word
	now   int64
}

// lookup finds the word of a key, whatever its limit, and then reads the clock.
func (c *core) lookup(k sharded.Key, given int64) (s sight) {
	for {
		due := c.table.SweepDue()
		s.word, s.law, s.known = c.table.Lookup(k)
		s.now = c.time.sure(given)
		if s.now >= c.table.SweepDue() {
			c.table.CatchUp(s.now)
			continue
		}
		if due == c.table.SweepDue() { // else swept in between: after a leap the word is unreadable
			return s
		}
	}
}

// describe answers a call of n >= 0 permits on a word that it does not charge.
func describe(r *rule, word uint64, now, n int64) Decision {
	d := decision(r.law.Inspect(word, now, n), r.law.Capacity())
	if d.Allowed && n > 0 {
		d.Delay = time.Duration(r.law.Delay(word, now, 0))
	}
	return d
}

// peekNew describes a call of n permits for a key without a word.
func (m *Limiter[K]) peekNew(p *place[K], r *rule, key K, k sharded.Key, n, now, given int64) Decision {
	word := r.law.Fresh(now)
	if g := p.logs.Load(); g != nil && !k.IsOverflow() {
		if used, ok := g.UsedBy(key, now); ok { // not moved yet
			word = r.law.Carry(permits(used), now)
			return describe(r, word, now, n)
		}
	}
	if k.IsOverflow() || m.table.HasRoom(k, now) || n == 0 || n > r.law.Capacity() {
		return describe(r, word, now, n)
	}
	switch m.policy {
	case CapShared:
		return m.peekWord(p, r, key, sharded.Overflow.WithIndex(p.index), n, given)
	case CapDeny:
		word = emptied(r, word, now)
	}
	return describe(r, word, now, n)
}

// refundOne gives back n permits of a charge by one rule, of which held were not given back before,
// and reports whether it did.
func (m *Limiter[K]) refundOne(p *place[K], key K, n, held int64, rc receipt) bool {
	switch {
	case !rc.charged || n <= 0:
		return false
	case rc.rule.verdict == byLog:
		return m.refundLog(p, key, n, rc)
	}
	k := m.hasher.Key(key).WithIndex(p.index)
	if rc.from == fromOverflow {
		k = sharded.Overflow.WithIndex(p.index)
	}
	return m.table.Refund(k, rc.rule.number, atomicstate.Act{At: rc.at, N: held}, n, rc.epoch)
}

// refundLog is refundOne for a rule of logs.
func (m *Limiter[K]) refundLog(p *place[K], key K, n int64, rc receipt) bool {
	g, now := m.logsAt(p), m.time.settled()
	if rc.from == fromOverflow {
		return g.overflow.Refund(struct{}{}, rc.generation, rc.at, n, now)
	}
	return g.Refund(key, rc.generation, rc.at, n, now)
}
