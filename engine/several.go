package engine

import "time"

// maxRules is how many limits one key of a limiter can be under: the main one and those of
// WithAlso. It bounds the receipts that a call keeps on its stack.
const maxRules = 8

// receipts are those of one call on one limiter, by rule.
type receipts [maxRules]receipt

// takeSeveral takes n permits of key by all rules, main and those of WithAlso, or by none. All are
// asked first, and a call that any would refuse charges nothing. Between that and the charge others
// may be faster: then what was charged is given back.
func (m *Limiter[K]) takeSeveral(main *rule, key K, n, given int64) (all Decision, done receipts) {
	d := m.peekRules(main, key, n, given)
	if !d.Allowed || n <= 0 {
		return d, done
	}
	for i := range 1 + len(m.also) {
		p, r := m.ruleAt(main, i)
		one, rc := m.takeOne(p, r, key, n, given)
		one.Rule = i
		if !one.Allowed {
			m.giveBack(key, n, n, &done)
			return one, receipts{}
		}
		done[i] = rc //nolint:gosec // New holds the rules to maxRules
		all = tighter(all, one, i == 0)
	}
	return all, done
}

// ruleAt returns the i-th place of a key and its rule; 0 is the main one.
func (m *Limiter[K]) ruleAt(main *rule, i int) (*place[K], *rule) {
	if i == 0 {
		return &m.main, main
	}
	return &m.also[i-1].place, m.also[i-1].rule
}

// peekRules describes a call of n permits under all rules of key.
func (m *Limiter[K]) peekRules(main *rule, key K, n, given int64) (all Decision) {
	if n < 0 {
		return Decision{Limit: main.limit.Capacity(), RetryAfter: Never}
	}
	for i := range 1 + len(m.also) {
		p, r := m.ruleAt(main, i)
		one := m.peekOne(p, r, key, n, given)
		one.Rule = i
		all = tighter(all, one, i == 0)
	}
	return all
}

// giveBack gives back n permits of each charge, of which held were not given back before.
func (m *Limiter[K]) giveBack(key K, n, held int64, done *receipts) (gave bool) {
	for i := range 1 + len(m.also) {
		p, _ := m.ruleAt(nil, i)
		gave = m.refundOne(p, key, n, held, done[i]) || gave
	}
	return gave
}

// tighter joins the answers of two limits to one call. A refusal beats a permission, the longer
// wait the shorter one, then less left more, the smaller limit the larger and the longer reset the
// shorter; of equals the first. The longest delay counts.
func tighter(a, b Decision, first bool) Decision {
	if first {
		return b
	}
	delay := max(a.Delay, b.Delay)
	if stricter(b, a) {
		a = b
	}
	if a.Allowed {
		a.Delay = delay
	}
	return a
}

// stricter reports whether b is a stricter answer than a.
func stricter(b, a Decision) bool {
	switch {
	case a.Allowed != b.Allowed:
		return a.Allowed
	case a.RetryAfter != b.RetryAfter:
		return longer(b.RetryAfter, a.RetryAfter)
	case a.Remaining != b.Remaining:
		return b.Remaining < a.Remaining
	case a.Limit != b.Limit:
		return b.Limit < a.Limit
	}
	return longer(b.ResetAfter, a.ResetAfter)
}

// longer reports whether b is a longer wait than a.
func longer(b, a time.Duration) bool { return a != Never && (b == Never || b > a) }

// Part is a key of a limiter, to be taken from together with others by [TakeAll]. Make one with
// [Limiter.Part].
type Part struct{ of member }

// member is a limiter and a key of it, whatever the key's type.
type member interface {
	peek(n, given int64) Decision
	take(n, given int64) (Decision, receipts)
	giveBack(n int64, done *receipts)
	give(now time.Duration) int64
}

// keyed is a member.
type keyed[K comparable] struct {
	limiter *Limiter[K]
	key     K
}

// Part returns key as a part of a call of [TakeAll]. It makes one small object; keep it where
// the same key is used again.
func (m *Limiter[K]) Part(key K) Part { return Part{&keyed[K]{m, key}} }

func (p *keyed[K]) peek(n, given int64) Decision {
	return p.limiter.peekRules(p.limiter.ruleOf(p.key), p.key, n, given)
}

func (p *keyed[K]) take(n, given int64) (Decision, receipts) {
	d, done := p.limiter.takeSeveral(p.limiter.ruleOf(p.key), p.key, n, given)
	p.limiter.stats.count(d.Allowed)
	return d, done
}

func (p *keyed[K]) giveBack(n int64, done *receipts) { p.limiter.giveBack(p.key, n, n, done) }

func (p *keyed[K]) give(now time.Duration) int64 {
	return p.limiter.time.give(now, p.limiter.table.Swept())
}

// TakeAll takes n permits of every part, or of none: of an address, a user and the whole service,
// say. All are asked first; a call that any part would refuse charges nothing. If others are
// faster between that and the charge, what was charged already is given back, exactly as far as
// time has not given it back by itself; until then others may be refused for it, but never admitted
// beyond any part's limit. The order of the parts changes no answer. It returns the answer of the
// strictest part (of refusals the one with the longest wait, [Never] being the longest; of
// permissions the one with the least left) and that part's index, -1 if there are no parts: then
// the call is allowed. A part counts a call in its own [Stats] only if all parts were asked and
// would have passed.
func TakeAll(n int64, parts ...Part) (Decision, int) {
	return takeAll(n, parts, func(member) int64 { return readClock })
}

// TakeAllAt is [TakeAll] at a time passed in, with the rules of [Limiter.TakeAt].
func TakeAllAt(now time.Duration, n int64, parts ...Part) (Decision, int) {
	return takeAll(n, parts, func(p member) int64 { return p.give(now) })
}

func takeAll(n int64, parts []Part, at func(member) int64) (Decision, int) {
	for i, part := range parts {
		if part.of == nil { // made by nobody's Part: there is nothing to take
			return Decision{RetryAfter: Never}, i
		}
	}
	if n < 0 && len(parts) == 0 {
		return Decision{RetryAfter: Never}, -1
	}
	d, which := strictest(parts, func(p member) Decision { return p.peek(n, at(p)) })
	if !d.Allowed || n <= 0 {
		return d, which
	}
	var few [4]receipts
	done := few[:0]
	for i, part := range parts {
		one, rc := part.of.take(n, at(part.of))
		if !one.Allowed {
			for j := range done {
				parts[j].of.giveBack(n, &done[j])
			}
			return one, i
		}
		done = append(done, rc)
		if i == 0 || stricter(one, d) {
			which = i
		}
		d = tighter(d, one, i == 0)
	}
	return d, which
}

// strictest asks all parts and returns the strictest answer and whose it is.
func strictest(parts []Part, ask func(member) Decision) (d Decision, which int) {
	d, which = Decision{Allowed: true}, -1
	for i, part := range parts {
		one := ask(part.of)
		if i == 0 || stricter(one, d) {
			d, which = one, i
		}
	}
	return d, which
}
