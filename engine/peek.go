package engine

import (
	"math"
	"time"

	"github.com/penstock-go/penstock/sharded"
)

// Peek returns what Take(key, 1) would answer now, and charges nothing. It makes no slot for a
// key never seen before.
func (m *Limiter[K]) Peek(key K) Decision { return m.peekAt(key, 1, readClock) }

// PeekAt is [Limiter.Peek] at a time passed in, with the rules of [Limiter.TakeAt].
func (m *Limiter[K]) PeekAt(now time.Duration, key K) Decision {
	return m.peekAt(key, 1, m.time.give(now, m.used()))
}

func (m *Limiter[K]) peekAt(key K, n, given int64) Decision {
	if m.logs != nil {
		return m.logs.peek(&m.core, key, n, given)
	}
	return m.peek(m.hasher.Key(key), n, given)
}

// peek describes a call of n >= 0 permits.
func (c *core) peek(k sharded.Key, n, given int64) Decision {
	r := c.rule.Load()
	if r.verdict != byLaw {
		return fixed(r.verdict, n)
	}
	for {
		due := c.table.SweepDue()
		word, law, known := c.table.Lookup(k)
		now := c.time.now(given)
		if now >= c.table.SweepDue() {
			c.table.CatchUp(now)
			continue
		}
		if due != c.table.SweepDue() { // swept in between: after a leap the word is unreadable
			continue
		}
		if c.time.mayLag(given) {
			now = max(now, c.time.exact())
		}
		switch {
		case !known && k != sharded.Overflow && !c.table.HasRoom(k, now):
			return c.peekBeyondCap(r, n, now, given)
		case !known:
			word = r.law.Fresh(now)
		case law != r.law: // not converted to this rule yet
			word = r.law.Carry(law.Usage(word, now), now)
		}
		return decision(r.law.Inspect(word, now, n), r.law.Capacity())
	}
}

// peekBeyondCap describes a call for a new key that would find no room.
func (c *core) peekBeyondCap(r *rule, n, now, given int64) Decision {
	switch c.policy {
	case CapShared:
		return c.peek(sharded.Overflow, n, given)
	case CapDeny:
		return decision(r.law.Inspect(emptied(r, r.law.Fresh(now), now), now, n), r.law.Capacity())
	}
	return decision(r.law.Inspect(r.law.Fresh(now), now, n), r.law.Capacity())
}

// decide makes the answer to a call of n >= 1 permits from what it came to.
func (c *core) decide(out charged, n int64) Decision {
	if out.rule.verdict != byLaw {
		return fixed(out.rule.verdict, n)
	}
	if out.ok {
		n = 0 // what is left after the charge
	}
	d := decision(out.rule.law.Inspect(out.word, out.now, n), out.rule.law.Capacity())
	d.Allowed = out.ok
	return d
}

// fixed is the answer of a rule that does not look at the key.
func fixed(v verdict, n int64) Decision {
	if v == always {
		return Decision{Allowed: true, Limit: math.MaxInt64, Remaining: math.MaxInt64}
	}
	if n == 0 {
		return Decision{Allowed: true}
	}
	return Decision{RetryAfter: Never}
}
