package atomicstate

import "errors"

// Errors of limits that cannot be compiled; test with errors.Is.
var (
	// ErrRate reports a rate with negative tokens or without a positive period.
	ErrRate = errors.New("atomicstate: invalid rate")
	// ErrBurst reports a negative burst.
	ErrBurst = errors.New("atomicstate: invalid burst")
	// ErrTooLarge reports a rate and burst that one word cannot hold even with the
	// nearest slower fraction (relative error 1e-6 or more).
	ErrTooLarge = errors.New("atomicstate: limit does not fit in one word")
)
