package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
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
	// Asked is how many permits the call was for.
	Asked int64
	// Wait is how long it would have taken, as far as is known, or [Never].
	Wait time.Duration
	// Most is how long it might have taken: what [WithMaxWait] allows, or what was left until the
	// deadline. It is 0 if the call was refused for another reason.
	Most time.Duration
}

// Error says what was asked for and why it was refused, and how long it would have taken.
func (e *WaitError) Error() string {
	prefix := ""
	if !strings.HasPrefix(e.Err.Error(), "engine: ") {
		prefix = "engine: "
	}
	text := fmt.Sprintf("%s%v: %d permits asked for", prefix, e.Err, e.Asked)
	if e.Wait != Never {
		text += fmt.Sprintf(", which would come in %v", e.Wait)
	}
	switch {
	case e.Most <= 0:
	case errors.Is(e.Err, ErrMaxWait):
		text += fmt.Sprintf("; WithMaxWait allows %v", e.Most)
	default:
		text += fmt.Sprintf("; the context ends in %v", e.Most)
	}
	return text
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
