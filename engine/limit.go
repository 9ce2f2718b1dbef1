package engine

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
)

// Rate is an exact number of tokens in a period: PerSecond(10), or Rate{Tokens: 3, Per: 2 * time.Second}.
// It is kept as a fraction, never as a float or as nanoseconds per token.
type Rate struct {
	Tokens int64         // 0 or more
	Per    time.Duration // above 0
}

// PerSecond is n tokens a second.
func PerSecond(n int64) Rate { return Rate{n, time.Second} }

// PerMinute is n tokens a minute.
func PerMinute(n int64) Rate { return Rate{n, time.Minute} }

// PerHour is n tokens an hour.
func PerHour(n int64) Rate { return Rate{n, time.Hour} }

// Every is one token every d.
func Every(d time.Duration) Rate { return Rate{1, d} }

// String returns the rate as tokens/period, such as 10/1s.
func (r Rate) String() string { return fmt.Sprintf("%d/%v", r.Tokens, r.Per) }

// Limit says what a key may do. It is an immutable value and may be compared with ==. Make
// one with a constructor such as [TokenBucket]; they accept any numbers, and [Limit.Validate],
// which [New] calls, says what is wrong with them. The zero Limit is invalid.
type Limit struct {
	algorithm algorithmNumber
	tokens    int64 // permits per period or window
	period    time.Duration
	burst     int64 // bucket capacity, or the limit of a window again
}

// TokenBucket is a bucket of burst tokens that starts full and earns tokens continuously at
// rate r. In any interval it admits at most burst plus what the interval earns. A rate of 0
// tokens never refills; a burst of 0 admits nothing.
func TokenBucket(r Rate, burst int64) Limit {
	return Limit{tokenBucket, r.Tokens, r.Per, burst}
}

// GCRA is the generic cell rate algorithm with emission interval r.Per/r.Tokens and a
// tolerance of burst cells. It makes the same decisions as [TokenBucket] with the same
// numbers.
func GCRA(r Rate, burst int64) Limit {
	return Limit{gcra, r.Tokens, r.Per, burst}
}

// LeakyBucket is the leaky bucket as a meter: each permit adds to a bucket that leaks at rate r
// and holds capacity; what would overflow is refused. It makes the same decisions as
// [TokenBucket] with the same numbers.
func LeakyBucket(r Rate, capacity int64) Limit {
	return Limit{leakyBucket, r.Tokens, r.Per, capacity}
}

// LeakyQueue is the leaky bucket as a queue: permits leave one after the other, evenly spaced at
// rate r, and the decision of a call that passes says in Delay how long to wait for its turn. At
// most capacity permits are in the queue, the one whose turn it is among them; more are refused.
// Use [Limiter.Take], whose Delay is how long to wait, or [Limiter.Wait]: Allow cannot say that a call
// that passes has to wait.
func LeakyQueue(r Rate, capacity int64) Limit {
	return Limit{leakyQueue, r.Tokens, r.Per, capacity}
}

// FixedWindow admits at most limit permits in each window [k*window, (k+1)*window), aligned at
// the origin of the limiter's clock, not at the first call. Around the end of a window twice the
// limit may pass in a moment.
func FixedWindow(limit int64, window time.Duration) Limit {
	return Limit{fixedWindow, limit, window, limit}
}

// SlidingWindow estimates a sliding window from the counts of two windows aligned at the origin
// of the limiter's clock: a call of n passes if prev*(window-e)/window + curr + n <= limit, e
// being the time into the present window. The weight is exact, not rounded.
func SlidingWindow(limit int64, window time.Duration) Limit {
	return Limit{slidingWindow, limit, window, limit}
}

// SlidingLog admits at most limit permits in any window: an admission at s stops counting at
// s + window. It remembers every admission: memory per key grows with the limit as it fills.
func SlidingLog(limit int64, window time.Duration) Limit {
	return Limit{slidingLog, limit, window, limit}
}

// Unlimited admits everything and keeps no state.
func Unlimited() Limit { return Limit{algorithm: unlimited} }

// Blocked admits nothing and keeps no state.
func Blocked() Limit { return Limit{algorithm: blocked} }

// Errors of limits; test with errors.Is.
var (
	// ErrAlgorithm reports a Limit that no constructor made.
	ErrAlgorithm = errors.New("engine: limit without an algorithm")
	// ErrRate reports a rate with negative tokens or without a positive period.
	ErrRate = errors.New("engine: invalid rate")
	// ErrBurst reports a negative burst.
	ErrBurst = errors.New("engine: invalid burst")
	// ErrWindow reports a negative limit of a window or a window that is not positive.
	ErrWindow = errors.New("engine: invalid window")
	// errTooManyLimits reports a limiter that has met more different limits than it keeps.
	errTooManyLimits = fmt.Errorf("%w: more than %d different limits: a limit never met before is not taken", ErrOption, maxLimits)
	// ErrTooLarge reports numbers that one word cannot hold with a relative error of the
	// rate below 1e-6.
	ErrTooLarge = atomicstate.ErrTooLarge
)

// Validate returns nil, or everything that is wrong with the limit, joined.
func (l Limit) Validate() error {
	if l.algorithm == invalid || int(l.algorithm) >= len(algorithms) {
		return fmt.Errorf("%w: make it with TokenBucket or another constructor", ErrAlgorithm)
	}
	a := algorithms[l.algorithm]
	var errs []error
	if a.validate != nil {
		errs = a.validate(l)
	}
	if errs == nil && a.law != nil {
		if _, err := a.law(l); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// law compiles the limit, nil if it is invalid or not of one word.
func (l Limit) law() atomicstate.Law {
	if int(l.algorithm) >= len(algorithms) || algorithms[l.algorithm].law == nil {
		return nil
	}
	law, err := algorithms[l.algorithm].law(l)
	if err != nil {
		return nil
	}
	return law
}

// Algorithm returns the name of the limit's algorithm, "" for the zero Limit.
func (l Limit) Algorithm() Algorithm { return algorithms[l.algorithm].name }

// Capacity returns how many permits a key never seen before may take at once: the burst, the
// limit of a window, math.MaxInt64 if unlimited, 0 if blocked.
func (l Limit) Capacity() int64 {
	if l.algorithm == unlimited {
		return math.MaxInt64
	}
	return l.burst
}

// Exact reports whether the limit is enforced exactly. If not, the nearest slower rate that
// one word can hold is: see [Limit.Error] and [Limit.Effective].
func (l Limit) Exact() bool { return l.Error() == 0 }

// Error returns the relative error of the enforced rate: 0 <= e < 1e-6, always to the slower
// side. An invalid limit has none.
func (l Limit) Error() float64 {
	if law, ok := l.law().(rated); ok {
		return law.RelativeError()
	}
	return 0
}

// Effective returns the rate that is enforced, as a reduced fraction, or the limit and window
// of a window algorithm.
func (l Limit) Effective() Rate {
	if law, ok := l.law().(rated); ok {
		tokens, per := law.Rate()
		return Rate{tokens, per}
	}
	return Rate{l.tokens, l.period}
}

// String returns the limit for people: algorithm, rate, burst.
func (l Limit) String() string {
	a := algorithms[l.algorithm]
	switch {
	case l.algorithm == invalid:
		return "invalid limit"
	case l.period == 0 && l.burst == 0:
		return string(a.name)
	case a.burst:
		return fmt.Sprintf("%s %d/%v burst %d", a.name, l.tokens, l.period, l.burst)
	}
	return fmt.Sprintf("%s %d/%v", a.name, l.tokens, l.period)
}
