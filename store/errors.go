package store

import "errors"

// Errors of calls; test with errors.Is. None of them means that a limit was exceeded: that is a
// Decision. They come from [Limiter] under [Closed], and as the Cause of a [Decision] under [Open]
// and [LocalShare].
var (
	// ErrUnavailable reports a store that could not be asked or would not answer. Nothing was charged.
	ErrUnavailable = errors.New("store: unavailable, nothing was charged")
	// ErrBreakerOpen reports, together with ErrUnavailable, a call that was not made because the calls
	// before it failed.
	ErrBreakerOpen = errors.New("store: circuit breaker is open")
	// ErrThrottled reports, together with ErrUnavailable, a store that takes no more calls for this
	// key. It does not count against the store's node.
	ErrThrottled error = &narrower{"store: too many calls for one key", ErrUnavailable}
	// ErrContended reports that other processes were faster at every try. Nothing was charged.
	ErrContended = errors.New("store: lost the race for the key at every try, nothing was charged")
	// ErrUnknownOutcome reports a call without an answer: it may have charged, or may do so yet.
	ErrUnknownOutcome = errors.New("store: no answer, the permits may have been charged or not")
	// ErrNotSupported reports a limit that the store cannot enforce.
	ErrNotSupported = errors.New("store: not supported")
	// ErrClosed reports a call after Close.
	ErrClosed = errors.New("store: closed")
	// ErrOption reports an option with an unusable value.
	ErrOption = errors.New("store: invalid option")
)

// narrower is an error that is another one too.
type narrower struct {
	text string
	is   error
}

func (e *narrower) Error() string { return e.text }

func (e *narrower) Unwrap() error { return e.is }
