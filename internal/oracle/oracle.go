// Package oracle holds the simplest correct models of the rate limit
// algorithms. They are what the fast implementations are compared with, call
// by call: rational numbers, plain slices, no tricks, no concern for speed.
//
// The rules that all models share:
//
//   - Times are nanoseconds from any origin, the whole int64 range; a model
//     that was never called equals a new one.
//   - Time never moves back. The effective time of a call is the largest time
//     of any Take so far that asked for 1 to capacity permits, allowed or not,
//     and of the call itself. A Take outside of that range is answered without
//     a look at its time, and Peek, Remaining and ResetAfter only read.
//   - A denied call changes nothing else, so it costs nothing later.
//   - n < 0 is denied with Never; n == 0 is allowed and changes nothing.
//   - n permits are taken at once or not at all.
//   - Retry-after is the smallest whole number of nanoseconds (>= 1) after
//     which the same call would pass if nobody else called: 0 when it passes
//     now, Never when it can never pass. Waits beyond the int64 range are
//     reported as [math.MaxInt64].
//
// Models are not safe for concurrent use.
package oracle

import (
	"math"
	"math/big"
)

// Never is the retry-after of a call that can never pass, and the reset-after
// of a state that will never equal a new one again.
const Never int64 = -1

// Model is one key's state under one limit.
type Model interface {
	// Take asks for n permits at time now (ns) and charges them if it is allowed.
	Take(now, n int64) (allowed bool, retryAfterNanos int64)
	// Peek is the answer that Take would give; it changes nothing.
	Peek(now, n int64) (allowed bool, retryAfterNanos int64)
	// Remaining is the largest n that Peek would allow at time now.
	Remaining(now int64) int64
	// ResetAfter is the time from now until the state equals a new one, in ns:
	// 0 if it does already, Never if it never will.
	ResetAfter(now int64) int64
}

// latest is the largest time seen. Its zero value has seen nothing.
type latest struct {
	seen  bool
	nanos int64
}

// effective returns now, or the largest time seen if that is later.
func (l *latest) effective(now int64) int64 {
	if l.seen && l.nanos > now {
		return l.nanos
	}
	return now
}

// see notes the effective time of a call and returns it.
func (l *latest) see(now int64) int64 {
	l.nanos, l.seen = l.effective(now), true
	return l.nanos
}

// elapsed returns now - then for then <= now. Two int64 may be 2^64 - 1 apart,
// which is what a uint64 holds: the wrapped difference is the true one.
func elapsed(now, then int64) uint64 {
	return uint64(now) - uint64(then)
}

// clampInt64 returns x as an int64, or MaxInt64 if it is larger.
func clampInt64(x *big.Int) int64 {
	if !x.IsInt64() {
		return math.MaxInt64
	}
	return x.Int64()
}

// floorMod returns t modulo m in [0, m), m > 0, also for negative t.
func floorMod(t, m int64) int64 {
	r := t % m
	if r < 0 {
		r += m
	}
	return r
}

// floorDiv returns t / m rounded towards negative infinity, m > 0.
func floorDiv(t, m int64) int64 {
	q := t / m
	if t%m < 0 {
		q--
	}
	return q
}
