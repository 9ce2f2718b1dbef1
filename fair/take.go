package fair

import (
	"time"

	"github.com/penstock-go/penstock/engine"
)

// Allow takes one permit for a tenant, or reports false. See [Limiter.Take].
func (m *Limiter[T]) Allow(tenant T) bool { return m.Take(tenant, 1).Allowed }

// Take takes n permits for a tenant, all or none, without waiting. Besides what the limit refuses to
// anybody, a tenant is refused what others asked for before it, in the order of shares. Others ask
//
//   - if they wait in [Limiter.Wait]: then a call is refused unless it starts before all of those;
//   - if their last Take was refused, which makes a claim: to the permits of that call, at its place in the
//     order. A call passes if the limit has that many permits more than n, for all claims of others
//     that start before it. Claims that start together do not hold each other back.
//
// A claim ends when a call of its tenant passes, and lapses when none was made in its RetryAfter and
// [WithHold] after the last refusal. Until then the tenant, coming back, has its place before all that
// start later, however often they ask. A tenant that is not ahead of its share starts at virtual time,
// before all that are ahead of theirs: what those claim does not hold it back.
//
// Nothing lies idle if no claim is alive: a tenant that is alone may use the whole limit, and owes
// nobody for it later. A claim that nobody comes back for costs at most what the limit, being full,
// earns until it lapses, and nothing if somebody asks who is within his share.
//
// A refused call takes nothing. RetryAfter is when the limit will have earned what is asked for
// before the call, and n: exactly, as the engine's, if nobody else asks; the call passes earlier if
// claims lapse, and later if callers of Wait, or tenants that are behind it in their share, ask
// meanwhile. It is [engine.Never] if n is more than the limit can ever grant or below 0, if the tenant
// does not equal itself, and after Close; such a call makes no claim. Remaining counts what is not
// claimed by others. n == 0 is allowed and changes nothing.
func (m *Limiter[T]) Take(tenant T, n int64) engine.Decision {
	now := m.lock()
	defer m.unlock()
	if m.closed || n < 0 || !equal(tenant, tenant) {
		return engine.Decision{Limit: m.gate.capacity, RetryAfter: engine.Never}
	}
	if n == 0 {
		d := m.gate.limiter.PeekAt(time.Duration(now), 0)
		d.Allowed, d.RetryAfter = true, 0
		return d
	}
	ahead, turn := m.turn(tenant, n)
	var d engine.Decision
	if turn {
		d = m.attempt(now, tenant, n, ahead)
	} else {
		d = m.refuse(now, n, ahead)
	}
	if !d.Allowed && d.RetryAfter != engine.Never {
		m.order.claim(tenant, n, min(lastNanos, later(later(now, d.RetryAfter), m.holdFor())))
		m.serve(now) // it may have claimed more before
	}
	return d
}

// turn reports whether a call for n permits may pass now, if the limit has them and so many more as
// others claim before it. If somebody who waits goes first, ahead counts his permits too.
func (m *Limiter[T]) turn(tenant T, n int64) (ahead int64, ok bool) {
	if m.order.quiet() {
		return 0, true
	}
	t := m.order.tenants[tenant]
	start := m.order.startOf(t, n)
	ahead = m.order.claimedBefore(start, t)
	if next := m.order.waiting.top(); next != nil && !start.before(next.start) {
		return add(ahead, next.first.n), false
	}
	return ahead, true
}

// attempt takes n >= 1 permits for a tenant whose turn it is, if the limit has reserved ones more.
func (m *Limiter[T]) attempt(now int64, tenant T, n, reserved int64) engine.Decision {
	d := m.gate.admit(now, n, reserved)
	if d.Allowed && !m.order.quiet() {
		m.order.pass(tenant, n)
		m.serve(now) // it may have claimed more than it took
	}
	return d
}

// refuse is the answer to a call that has to let others go first.
func (m *Limiter[T]) refuse(now, n, ahead int64) engine.Decision {
	look, _ := m.gate.look(now)
	retry := m.gate.earliest(now, ahead, n)
	if retry != engine.Never {
		retry = max(1, retry)
	}
	return engine.Decision{Limit: m.gate.capacity, RetryAfter: retry, ResetAfter: look.ResetAfter}
}

// holdFor returns how long a claim outlives its retry-after.
func (m *Limiter[T]) holdFor() time.Duration {
	if m.hold >= 0 {
		return m.hold
	}
	if d := m.gate.earning(m.gate.capacity); d != engine.Never {
		return min(d, maxDefaultHold)
	}
	return maxDefaultHold
}
