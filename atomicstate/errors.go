package atomicstate

import "errors"

// Errors of limits that cannot be compiled; test with errors.Is.
var (
	// ErrRate reports a rate with negative tokens or without a positive period.
	ErrRate = errors.New("atomicstate: invalid rate")
	// ErrBurst reports a negative burst.
	ErrBurst = errors.New("atomicstate: invalid burst")
	// ErrWindow reports a negative limit of a window, or a window that is not positive.
	ErrWindow = errors.New("atomicstate: invalid window")
	// ErrTooLarge reports numbers that one word cannot hold: a rate and burst for which even
	// the nearest slower fraction is off by 1e-6 or more, or too large a limit of a window.
	ErrTooLarge = errors.New("atomicstate: limit does not fit in one word")
)
