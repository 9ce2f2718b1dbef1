package engine

import (
	"context"
	"time"

	"github.com/penstock-go/penstock/internal/sched"
)

// sleeper is one call that waits. What wakes it is made by the call itself, never by the limiter or
// another call: under testing/synctest channels and timers belong to the bubble that made them, and a
// limiter may be older than that.
type sleeper struct {
	prev, next *sleeper
	timer      *time.Timer   // nil under a Waker
	woken      chan struct{} // nil but under a Waker
}

// wake ends the sleep early. A sleeper looks after it whether it was meant.
func (s *sleeper) wake() {
	if s.timer != nil {
		s.timer.Reset(0)
		return
	}
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// sleepers are the calls that wait, a ring around a head, so that Close can wake them.
type sleepers struct {
	mu   sched.Mutex
	head sleeper // of the ring, once somebody has waited
}

// add puts s into the ring.
func (l *sleepers) add(s *sleeper) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.head.next == nil {
		l.head.prev, l.head.next = &l.head, &l.head
	}
	s.prev, s.next = l.head.prev, &l.head
	s.prev.next, s.next.prev = s, s
}

// remove takes s out of the ring; nobody wakes it from then on.
func (l *sleepers) remove(s *sleeper) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.prev.next, s.next.prev = s.next, s.prev
}

// wakeAll wakes all that are in the ring.
func (l *sleepers) wakeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := l.head.next; s != nil && s != &l.head; s = s.next {
		s.wake()
	}
}

// sleep blocks until the limiter's time has reached at, or returns why it did not.
func (c *core) sleep(ctx context.Context, at int64) error {
	for {
		left := at - c.time.sure(readClock)
		if left <= 0 {
			return nil
		}
		err := c.sleepFor(ctx, time.Duration(left))
		if err != nil && c.time.sure(readClock) < at {
			return err
		}
	}
}

// minSleep is the least sleep by the process's timers where time may stand still: on a user's clock,
// or until the process's own has made up the times that were given.
const minSleep = time.Millisecond

// sleepFor blocks for d of the limiter's time, as far as that can be foretold.
func (c *core) sleepFor(ctx context.Context, d time.Duration) error {
	var s sleeper
	if w, ok := c.time.user.(Waker); ok {
		s.woken = make(chan struct{}, 1)
		asked := c.time.sure(readClock)
		stop := w.AfterFunc(d, s.wake)
		defer stop()
		if c.time.sure(readClock) > asked {
			return nil // the wake may be set too late by what has passed
		}
		return await(ctx, c, &s, s.woken)
	}
	if kind := c.time.kind.Load(); kind == clockUser || kind == clockGiven {
		d = max(d, minSleep)
	}
	s.timer = time.NewTimer(d)
	defer s.timer.Stop()
	return await(ctx, c, &s, s.timer.C)
}

// await blocks until woken, the end of the context, or Close.
func await[T any](ctx context.Context, c *core, s *sleeper, woken <-chan T) error {
	c.sleepers.add(s)
	defer c.sleepers.remove(s)
	if c.closed.Load() { // Close wakes those whom it finds, which it looks for after it has said so
		return ErrClosed
	}
	select {
	case <-woken:
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.closed.Load() {
		return ErrClosed
	}
	return nil
}
