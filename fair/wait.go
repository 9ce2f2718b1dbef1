package fair

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// Wait blocks until n permits are the tenant's, and then returns nil. It returns an error, and takes
// nothing, at once
//
//   - if ctx has ended: ctx.Err();
//   - if n is below 0: [ErrPermits]; n == 0 is granted at once;
//   - if the limit can never grant n: [NeverError], an [ErrNever];
//   - if ctx has a deadline before which the limit cannot grant n, after what waits for the
//     same tenant already, even if it granted nothing to others: [DeadlineError], a
//     [context.DeadlineExceeded]. It is measured on the process's clock, also with [WithClock]; a
//     permit that is due in the deadline's own nanosecond is in time;
//   - if the tenant's queue is full: [QueueFullError], an [ErrQueueFull];
//   - or [ErrClosed], [ErrTenants], [ErrTenant].
//
// Else it waits: in the order in which they came among those of the tenant, by the tenants' shares
// among those of others. It then ends with ctx.Err() if ctx ends before the grant, and its place in
// the queue is free when it returns; with ErrClosed on [Limiter.Close]; and with ErrNever if
// [Limiter.SetLimit] makes it hopeless. If it returns nil the permits were taken, even if ctx has ended
// at the same time.
func (m *Limiter[T]) Wait(ctx context.Context, tenant T, n int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w, err := m.join(ctx, tenant, n)
	if w == nil {
		return err
	}
	select {
	case <-w.ready:
		return w.err
	case <-ctx.Done():
		return m.leave(w, ctx.Err())
	}
}

// join takes n permits at once, or puts a call into its tenant's queue and returns it.
func (m *Limiter[T]) join(ctx context.Context, tenant T, n int64) (*waiter[T], error) {
	now := m.lock()
	defer m.unlock()
	switch {
	case m.closed:
		return nil, ErrClosed
	case n < 0:
		return nil, ErrPermits
	case n == 0:
		return nil, nil
	case !equal(tenant, tenant):
		return nil, errTenant
	}
	if reserved, turn := m.turn(tenant, n); turn && m.attempt(now, tenant, n, reserved).Allowed {
		return nil, nil
	}
	if err := m.refusal(ctx, now, tenant, n); err != nil {
		return nil, err
	}
	t := m.order.hold(tenant)
	if t == nil {
		return nil, ErrTenants
	}
	w := &waiter[T]{n: n, ready: make(chan struct{})}
	claimed := t.standing == claiming
	m.order.enter(t, w)
	m.queued++
	m.asked += n
	if claimed || m.order.waiting.top() == t && t.first == w {
		m.serve(now)
	}
	return w, nil
}

// refusal is why a call that cannot pass now may not wait either, nil if it may.
func (m *Limiter[T]) refusal(ctx context.Context, now int64, tenant T, n int64) error {
	if n > m.gate.capacity {
		return &NeverError{Asked: n, Capacity: m.gate.capacity}
	}
	var waiters int
	var permits int64
	if t := m.order.tenants[tenant]; t != nil {
		waiters, permits = t.waiters, t.permits
	}
	if end, limited := ctx.Deadline(); limited {
		least, left := m.gate.earliest(now, permits, n), time.Until(end)
		if least != engine.Never && left < least {
			return &DeadlineError{AtLeast: least, Left: left}
		}
	}
	if waiters >= m.waiters || n > m.permits-permits {
		return &QueueFullError{
			Waiters: waiters, MaxWaiters: m.waiters, Permits: permits, MaxPermits: m.permits,
			Asked: n, AtLeast: m.gate.earliest(now, permits, n),
		}
	}
	return nil
}

// leave ends a wait whose context has ended, unless it was granted before.
func (m *Limiter[T]) leave(w *waiter[T], err error) error {
	now := m.lock()
	defer m.unlock()
	if w.queued && errors.Is(err, context.DeadlineExceeded) {
		m.serve(now) // what is due at the deadline is in time
	}
	if !w.queued {
		return w.err
	}
	next := m.order.waiting.top() == w.tenant && w.tenant.first == w
	m.order.leave(w)
	m.queued--
	m.asked -= w.n
	if next {
		m.serve(now)
	}
	return err
}

// serve grants, one after the other, whatever is next and can be granted, and sets the alarm for
// what is next then.
func (m *Limiter[T]) serve(now int64) {
	for t := m.order.waiting.top(); t != nil; t = m.order.waiting.top() {
		w := t.first
		reserved := m.order.claimedBefore(t.start, nil)
		d := m.gate.admit(now, w.n, reserved)
		if d.Allowed {
			m.finish(m.order.grant(t), nil)
			continue
		}
		if d.RetryAfter == engine.Never && reserved == 0 {
			m.order.leave(w)
			m.finish(w, &NeverError{Asked: w.n, Capacity: m.gate.capacity})
			continue
		}
		m.alarm.set(m.next(now, d.RetryAfter, reserved))
		return
	}
	m.alarm.clear()
	m.order.rest()
}

// next is when a refused waiter is looked at again: after retry, or when a claim that may be before it
// lapses.
func (m *Limiter[T]) next(now int64, retry time.Duration, reserved int64) int64 {
	due := int64(lastNanos)
	if retry != engine.Never {
		due = later(now, retry)
	}
	if reserved > 0 {
		due = min(due, later(m.order.lapsing.top().untilNanos, 1))
	}
	return due
}

// lastNanos is the end of time, as the engine's: one below the largest integer, so that what ends then
// has ended at the largest.
const lastNanos = math.MaxInt64 - 1

// later returns now + d, the end of time if that is beyond it. d is not negative.
func later(now int64, d time.Duration) int64 {
	if now > 0 {
		return add(now, int64(d))
	}
	return now + int64(d)
}

// finish tells a call that its wait is over, and why; nil if it was granted.
func (m *Limiter[T]) finish(w *waiter[T], err error) {
	m.queued--
	m.asked -= w.n
	w.err = err
	close(w.ready)
}

// failAll ends the waits for which why has an error.
func (m *Limiter[T]) failAll(why func(*waiter[T]) error) {
	var failed []*waiter[T]
	for _, t := range m.order.waiting.items {
		for w := t.first; w != nil; w = w.next {
			if w.err = why(w); w.err != nil {
				failed = append(failed, w)
			}
		}
	}
	for _, w := range failed {
		m.order.leave(w)
		m.finish(w, w.err)
	}
}
