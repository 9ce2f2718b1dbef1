package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Why a call does not wait; test with errors.Is.
var (
	// ErrNever reports a call that can never pass: it asks for more than the capacity, for a
	// negative number of permits, or of a limit that earns nothing.
	ErrNever = errors.New("engine: can never pass")
	// ErrMaxWait reports a call that would wait for longer than [WithMaxWait] allows, or than can
	// be promised.
	ErrMaxWait = errors.New("engine: would wait too long")
	// ErrQueueFull reports a call that finds no place within [WithQueue], or in a [LeakyQueue].
	ErrQueueFull = errors.New("engine: queue full")
	// ErrNoRoom reports a new key for which [WithMaxKeys] leaves no room.
	ErrNoRoom = errors.New("engine: no room for a new key")
	// ErrClosed reports a call that waits on a limiter that is closed.
	ErrClosed = errors.New("engine: limiter is closed")
)

// WaitError is why a call did not wait. Nothing was taken.
type WaitError struct {
	// Err is [ErrNever], [ErrMaxWait], [ErrQueueFull], [ErrNoRoom], or context.DeadlineExceeded if
	// the context's deadline comes before the permits.
	Err error
	// Wait is how long it would have taken, as far as is known, or [Never].
	Wait time.Duration
}

// Error says why, and how long it would have taken.
func (e *WaitError) Error() string {
	if e.Wait == Never {
		return e.Err.Error()
	}
	return fmt.Sprintf("%v: the permits would come in %v", e.Err, e.Wait)
}

// Unwrap returns Err.
func (e *WaitError) Unwrap() error { return e.Err }

// Wait blocks until n permits of key are the caller's, and returns nil then, not before; calls on one
// key pass in the order in which they came, but for what is given up: see [Limiter.Reserve], of which
// it is the wait. It fails at once, and takes nothing,
//
//   - with the context's error, if that has ended;
//   - with a [*WaitError] if the permits would come after the context's deadline (a call whose time is
//     the deadline itself waits), later than [WithMaxWait], never, or find no place within [WithQueue];
//   - with [ErrClosed] if the limiter is closed.
//
// If the context ends, or the limiter is closed, before its time has come, it returns the context's
// error or ErrClosed, and gives its permits back as [Reservation.Cancel] does. n == 0 asks for nothing
// and is granted at once.
//
// Under a clock of [WithClock] a deadline is compared by the time that is left to it. A clock that is a
// [Waker] wakes the call; for any other the process's timers do, and the clock is asked then.
//
// Cost: if it need not wait, that of [Limiter.Allow] and a look at the context. If it waits, that of
// [Limiter.Reserve] and a timer, which is used again by later calls.
func (m *Limiter[K]) Wait(ctx context.Context, key K, n int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.closed.Load() {
		return ErrClosed
	}
	r := m.ruleOf(key)
	if m.alone && r.verdict == byWord && n > 0 && r.limit.algorithm != leakyQueue {
		if _, _, ok, done := m.tryWord(r, m.hasher.Key(key), n); done && ok {
			return nil
		}
	}
	return m.waitTurn(ctx, r, key, n)
}

// waitTurn is Wait for a call that may have to.
func (m *Limiter[K]) waitTurn(ctx context.Context, r *rule, key K, n int64) error {
	p := patience{m.maxWait, math.MaxInt64}
	if deadline, ok := ctx.Deadline(); ok {
		p.deadline = max(0, time.Until(deadline))
	}
	var b booking
	err := m.reserve(r, key, n, p, &b)
	m.stats.count(err == nil)
	if err != nil || !b.waits {
		return err
	}
	err = m.sleep(ctx, b.at)
	if err != nil && !m.unbook(key, n, &b) && m.time.sure(readClock) >= b.at {
		return nil // its time came first: the permits are the caller's
	}
	return err
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
	if w, ok := c.time.user.(Waker); ok {
		woken := make(chan struct{}, 1)
		asked := c.time.sure(readClock)
		stop := w.AfterFunc(d, func() { woken <- struct{}{} })
		defer stop()
		if c.time.sure(readClock) > asked {
			return nil // the wake may be set too late by what has passed
		}
		return await(ctx, c, woken)
	}
	if kind := c.time.kind.Load(); kind == clockUser || kind == clockGiven {
		d = max(d, minSleep)
	}
	t, ok := c.timers.Get().(*time.Timer)
	if ok {
		t.Reset(d)
	} else {
		t = time.NewTimer(d)
	}
	err := await(ctx, c, t.C)
	t.Stop()
	c.timers.Put(t)
	return err
}

// await blocks until woken, the end of the context, or Close.
func await[T any](ctx context.Context, c *core, woken <-chan T) error {
	select {
	case <-woken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return ErrClosed
	}
}
