// Package fair shares one limit among many tenants, each by its weight, so that a tenant that floods
// takes from nobody else's share.
//
//	limiter := fair.Must[string](engine.TokenBucket(engine.PerSecond(100), 10))
//	defer limiter.Close()
//	if err := limiter.SetWeight("gold", 5); err != nil {
//		return err
//	}
//	if err := limiter.Wait(ctx, tenant, 1); err != nil {
//		return err
//	}
//
// The order is that of start-time fair queueing: P. Goyal, H. M. Vin, H. Cheng, "Start-Time Fair
// Queueing: A Scheduling Algorithm for Integrated Services Packet Switching Networks", SIGCOMM 1996,
// with the permits of a call as the length of a packet and the limit as the server:
//
//	start  = max(virtual time, finish of the tenant's request before)
//	finish = start + permits/weight
//
// The request with the earliest start is next, of equal ones the one that came first; virtual time is
// its start. docs/fair.md has the bounds and what is not promised.
package fair

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// Limiter shares one limit among tenants of type T. A tenant needs no registration. [Limiter.Wait]
// blocks until it is the tenant's turn; [Limiter.Take] and [Limiter.Allow] answer at once. Both may
// be used on one Limiter, by the same tenants.
//
// Never more than the limit is granted, whatever its algorithm, and never later than at the first
// instant at which the limit allows what is next: nobody's share lies idle while others wait in Wait.
// While two tenants both wait without a break, the permits granted to each, divided by its weight,
// differ by no more than one request of each, so divided. A tenant that was idle has saved nothing up.
//
// A [engine.LeakyQueue] admits one call at a time here, each in its turn: who waits for it is
// queued by this package, fairly, and not by the limit.
//
// Cost: one lock for all. A call that finds nobody asking costs that, a reading of the clock and a
// call of the engine, and allocates nothing. Otherwise a wait, a grant, a cancelled wait and a Take cost
// O(log of the tenants held). Memory: a tenant is held while it asks for permits, or is ahead of
// its share while others ask: some 250 bytes; a call that waits takes some 200 bytes and its goroutine.
// While anyone waits there is one timer; there is no goroutine.
//
// Make one with [New] or [Must]; the zero value is not usable and a Limiter must not be copied. All
// methods are safe for concurrent use. In the terms of the Go memory model, each is synchronized
// before those that take the lock after it, and what ends a Wait before the return of that. No
// code of the user's runs under the lock but that of an [engine.Waker] (see [WithClock]) and of a context's
// Deadline.
type Limiter[T comparable] struct {
	permits int64         // that each tenant may wait for
	waiters int           // that may wait for each tenant
	hold    time.Duration // that claims outlive their retry-after; negative: by the limit

	mu     sync.Mutex // guards all below, but for alarm.read
	gate   *gate
	order  schedule[T]
	alarm  alarm
	queued int   // calls that wait
	asked  int64 // permits that they wait for
	closed bool
}

// New returns a limiter that shares l. Errors: those of [engine.Limit.Validate], [engine.ErrKeyType],
// [ErrOption] and [ErrWeight]; all that apply, joined.
func New[T comparable](l engine.Limit, opts ...Option) (*Limiter[T], error) {
	o, err := gather(opts)
	g, limitErr := newGate(l)
	if err := errors.Join(limitErr, checkTenants[T](), err); err != nil {
		return nil, err
	}
	m := &Limiter[T]{permits: o.permits, waiters: o.waiters, hold: -1, gate: g}
	if o.holdSet {
		m.hold = o.hold
	}
	m.order.init(o)
	m.alarm.init(o.clock, m.ring)
	return m, nil
}

// checkTenants reports a type of tenants that holds interfaces: comparing two may panic.
func checkTenants[T comparable]() error {
	limiter, err := engine.New[T](engine.Blocked())
	if err != nil {
		return err
	}
	return limiter.Close()
}

// Must is [New] for limits and options known to be right: it panics on an error.
func Must[T comparable](l engine.Limit, opts ...Option) *Limiter[T] {
	m, err := New[T](l, opts...)
	if err != nil {
		panic(err)
	}
	return m
}

// SetLimit changes the shared limit at once. What was used stays used, as with
// [engine.Limiter.SetLimit]. Calls that wait for more than the new capacity fail with [ErrNever], the
// others keep their places. Cost: a step for each call that waits. Errors: those of [engine.Limiter.SetLimit].
func (m *Limiter[T]) SetLimit(l engine.Limit) error {
	now := m.lock()
	defer m.unlock()
	if m.closed {
		return ErrClosed
	}
	if err := m.gate.set(l); err != nil {
		return err
	}
	m.failAll(func(w *waiter[T]) error {
		if w.n <= m.gate.capacity {
			return nil
		}
		return &NeverError{Asked: w.n, Capacity: m.gate.capacity}
	})
	m.serve(now)
	return nil
}

// Limit returns the shared limit.
func (m *Limiter[T]) Limit() engine.Limit {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gate.limiter.Limit()
}

// SetWeight gives a tenant a weight of its own, from 1 to [MaxWeight], until [Limiter.RemoveWeight].
// It holds from the tenant's next grant on: those that wait keep their order among themselves, and
// what the tenant is ahead of its share stays so many permits. Weights set are remembered, at some
// 20 bytes and the tenant's own size each. Errors: [ErrWeight], [ErrTenant].
func (m *Limiter[T]) SetWeight(tenant T, w int64) error {
	if err := checkWeight(w); err != nil {
		return fmt.Errorf("SetWeight(%v): %w", tenant, err)
	}
	if !equal(tenant, tenant) {
		return errTenant
	}
	now := m.lock()
	defer m.unlock()
	m.order.weights[tenant] = uint64(w)
	m.reweigh(now, tenant)
	return nil
}

// RemoveWeight forgets the weight set for a tenant: it has that of [WithWeight] again.
func (m *Limiter[T]) RemoveWeight(tenant T) {
	now := m.lock()
	defer m.unlock()
	delete(m.order.weights, tenant)
	m.reweigh(now, tenant)
}

func (m *Limiter[T]) reweigh(now int64, tenant T) {
	m.order.reweigh(tenant)
	m.serve(now)
}

// Weight returns a tenant's weight.
func (m *Limiter[T]) Weight(tenant T) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(m.order.weightOf(tenant))
}

// Len returns how many calls of Wait wait.
func (m *Limiter[T]) Len() int { return m.Stats().Waiting }

// Stats is what a limiter holds at one instant.
type Stats struct {
	Waiting int   // calls of Wait that wait
	Permits int64 // permits that they wait for
	Tenants int   // tenants held: those that wait, claim, or are in debt
	Claims  int   // of them, those whose last Take was refused and may be made again: see [Limiter.Take]
	Weights int   // weights set by SetWeight
}

// Stats returns what the limiter holds.
func (m *Limiter[T]) Stats() Stats {
	m.lock()
	defer m.unlock()
	return Stats{
		Waiting: m.queued, Permits: m.asked, Tenants: len(m.order.tenants),
		Claims: len(m.order.lapsing.items), Weights: len(m.order.weights),
	}
}

// Close ends all waits, with [ErrClosed]. From then on Wait returns ErrClosed, Take refuses with
// [engine.Never], and no timer is left. Close may be called again and always returns nil. A limiter
// that is dropped while nobody waits leaks nothing without it.
func (m *Limiter[T]) Close() error {
	now := m.lock()
	defer m.unlock()
	m.closed = true
	m.failAll(func(*waiter[T]) error { return ErrClosed })
	m.order.lapse(math.MaxInt64)
	m.serve(now)
	return nil
}

// lock reads the clock, takes the lock, and returns the time.
func (m *Limiter[T]) lock() int64 {
	read := m.alarm.read()
	m.mu.Lock()
	now := m.alarm.settle(read)
	m.order.lapse(now)
	return now
}

// unlock releases the lock. If the alarm was set meanwhile and a clock of the user's has moved on to it
// already, perhaps before it was set, it rings now.
func (m *Limiter[T]) unlock() {
	due, check := m.alarm.due, m.alarm.fresh && m.alarm.user != nil
	m.alarm.fresh = false
	m.mu.Unlock()
	if check && m.alarm.read() >= due {
		m.ring()
	}
}

// ring is called when the alarm does. A timer that has been replaced may still call it: then it finds
// nothing due, and sets the alarm anew.
func (m *Limiter[T]) ring() {
	now := m.lock()
	defer m.unlock()
	m.alarm.clear()
	m.serve(now)
}

// equal is ==, and so false for a NaN and itself.
func equal[T comparable](a, b T) bool { return a == b }
