package fair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// Errors of this package; test with errors.Is. Those that package engine has too wrap its own, so
// that a caller of both may test for those alone; the details are in a [*QueueFullError], a
// [*NeverError] or a [*DeadlineError], for errors.As.
var (
	// ErrClosed reports a call after [Limiter.Close], or one that waited when it was called. It is
	// an [engine.ErrClosed].
	ErrClosed error = &kind{"fair: the limiter is closed", engine.ErrClosed}
	// ErrQueueFull reports that as many of a tenant's calls, or permits, wait as its queue holds. It is
	// an [engine.ErrQueueFull].
	ErrQueueFull error = &kind{"fair: the tenant's queue is full", engine.ErrQueueFull}
	// ErrNever reports permits that the limit can never grant. It is an [engine.ErrNever].
	ErrNever error = &kind{"fair: the limit can never grant this", engine.ErrNever}
	// ErrPermits reports a negative number of permits.
	ErrPermits = errors.New("fair: negative number of permits")
	// ErrTenants reports one more tenant than [WithMaxTenants] allows to be held.
	ErrTenants = errors.New("fair: too many tenants")
	// ErrTenant reports a tenant that does not equal itself, such as a floating-point NaN.
	ErrTenant = errors.New("fair: the tenant does not equal itself")
	// ErrWeight reports a weight that is not from 1 to [MaxWeight].
	ErrWeight = errors.New("fair: invalid weight")
	// ErrOption reports an option with an unusable value.
	ErrOption = errors.New("fair: invalid option")
)

// kind is an error that is one of package engine's too, in this package's words.
type kind struct {
	text   string
	engine error
}

func (k *kind) Error() string { return k.text }
func (k *kind) Unwrap() error { return k.engine }

var errTenant = fmt.Errorf("%w: use a key that equals itself", ErrTenant)

// QueueFullError says how full a tenant's queue is. It is an [ErrQueueFull].
type QueueFullError struct {
	Waiters, MaxWaiters int           // calls that wait, and how many may
	Permits, MaxPermits int64         // permits that they wait for, and how many may be waited for
	Asked               int64         // permits of the refused call
	AtLeast             time.Duration // how long the call would have waited at least
}

// Error says what is full, and what to do.
func (e *QueueFullError) Error() string {
	return fmt.Sprintf("%v: %d calls of %d, %d permits of %d, %d more asked for, which would come in %v at the earliest: "+
		"wait until some have passed, or raise WithQueue",
		ErrQueueFull, e.Waiters, e.MaxWaiters, e.Permits, e.MaxPermits, e.Asked, e.AtLeast)
}

// Unwrap returns [ErrQueueFull].
func (e *QueueFullError) Unwrap() error { return ErrQueueFull }

// NeverError reports permits that the limit can never grant, such as more than its capacity. It is
// an [ErrNever].
type NeverError struct {
	Asked    int64 // permits of the call
	Capacity int64 // of the limit
}

// Error says what was asked for, and what to do.
func (e *NeverError) Error() string {
	return fmt.Sprintf("%v: %d permits, capacity %d: ask for fewer, or raise the limit", ErrNever, e.Asked, e.Capacity)
}

// Unwrap returns [ErrNever].
func (e *NeverError) Unwrap() error { return ErrNever }

// DeadlineError reports a call whose context ends before its permits can be granted. It is a
// [context.DeadlineExceeded].
type DeadlineError struct {
	AtLeast time.Duration // how long the call would have waited at least
	Left    time.Duration // how long the context lasts
}

// Error says how much time is missing.
func (e *DeadlineError) Error() string {
	return fmt.Sprintf("fair: permits in %v at the earliest, the context ends in %v: %v", e.AtLeast, e.Left, context.DeadlineExceeded)
}

// Timeout is true, as that of [context.DeadlineExceeded].
func (e *DeadlineError) Timeout() bool { return true }

// Unwrap returns [context.DeadlineExceeded].
func (e *DeadlineError) Unwrap() error { return context.DeadlineExceeded }
