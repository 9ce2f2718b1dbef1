package engine

import (
	"time"

	"github.com/penstock-go/penstock/atomicstate"
)

// Never is the RetryAfter of a call that can never pass: it asks for more than the capacity,
// or for what will never be refilled. It is negative: whoever sleeps for it goes on at once.
const Never time.Duration = time.Duration(atomicstate.Never)

// Decision is the answer to one call.
type Decision struct {
	// Allowed reports whether the permits were taken.
	Allowed bool
	// Limit is the capacity in permits: the burst, or the limit of a window.
	Limit int64
	// Remaining is the number of whole permits that would still pass at once, 0 or more.
	Remaining int64
	// RetryAfter is 0 if allowed. If denied, it is the smallest duration after which the
	// same call would pass with no other traffic, at least 1 ns, or [Never]. Exceptions:
	// [Clock] on steps back, [WithMaxKeys] on new keys that find no room.
	RetryAfter time.Duration
	// Rule is which limit the other fields describe: 0 the main one, i the i-th of [WithAlso].
	Rule int
	// Delay is how long an allowed call must wait for its turn: 0 unless the limit is a
	// [LeakyQueue].
	Delay time.Duration
	// ResetAfter is the time after which the key equals a new one, 0 if it does now, or
	// [Never].
	ResetAfter time.Duration
}

// decision turns what the law says of a word into an answer.
func decision(s atomicstate.State, capacity int64) Decision {
	return Decision{
		Allowed:    s.Allowed,
		Limit:      capacity,
		Remaining:  s.Remaining,
		RetryAfter: time.Duration(s.RetryNanos),
		ResetAfter: time.Duration(s.ResetNanos),
	}
}
