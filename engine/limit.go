package engine

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
)

// Rate is an exact number of tokens in a period: PerSecond(10), or Rate{3, 2 * time.Second}.
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

// Algorithm is the name of a limiting algorithm.
type Algorithm string

// The algorithms of limits.
const (
	AlgorithmTokenBucket Algorithm = "token_bucket"
	AlgorithmGCRA        Algorithm = "gcra"
	AlgorithmSlidingLog  Algorithm = "sliding_log"
	AlgorithmUnlimited   Algorithm = "unlimited"
	AlgorithmBlocked     Algorithm = "blocked"
)

// Limit says what a key may do. It is an immutable value and may be compared with ==. Make
// one with a constructor such as [TokenBucket]; they accept any numbers, and [Limit.Validate],
// which [New] calls, says what is wrong with them. The zero Limit is invalid.
type Limit struct {
	algorithm Algorithm
	tokens    int64 // permits per period or window
	period    time.Duration
	burst     int64 // bucket capacity
}

// TokenBucket is a bucket of burst tokens that starts full and earns tokens continuously at
// rate r. In any interval it admits at most burst plus what the interval earns. A rate of 0
// tokens never refills; a burst of 0 admits nothing.
func TokenBucket(r Rate, burst int64) Limit {
	return Limit{AlgorithmTokenBucket, r.Tokens, r.Per, burst}
}

// GCRA is the generic cell rate algorithm with emission interval r.Per/r.Tokens and a
// tolerance of burst cells. It makes the same decisions as [TokenBucket] with the same
// numbers.
func GCRA(r Rate, burst int64) Limit {
	return Limit{AlgorithmGCRA, r.Tokens, r.Per, burst}
}

// SlidingLog admits at most limit permits in any window: an admission at s stops counting at
// s + window. It remembers every admission: memory per key grows with the limit as it fills.
func SlidingLog(limit int64, window time.Duration) Limit {
	return Limit{AlgorithmSlidingLog, limit, window, limit}
}

// Unlimited admits everything and keeps no state.
func Unlimited() Limit { return Limit{algorithm: AlgorithmUnlimited} }

// Blocked admits nothing and keeps no state.
func Blocked() Limit { return Limit{algorithm: AlgorithmBlocked} }

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
	// ErrTooLarge reports numbers that one word cannot hold with a relative error of the
	// rate below 1e-6.
	ErrTooLarge = atomicstate.ErrTooLarge
)

// Validate returns nil, or everything that is wrong with the limit, joined.
func (l Limit) Validate() error {
	switch l.algorithm {
	case AlgorithmUnlimited, AlgorithmBlocked:
		return nil
	case AlgorithmSlidingLog:
		return l.validateWindow()
	case AlgorithmTokenBucket, AlgorithmGCRA:
		return l.validateBucket()
	}
	return fmt.Errorf("%w: make it with TokenBucket or another constructor", ErrAlgorithm)
}

func (l Limit) validateBucket() error {
	var errs []error
	if l.tokens < 0 {
		errs = append(errs, fmt.Errorf("%w: %d tokens: use 0 or more", ErrRate, l.tokens))
	}
	if l.period <= 0 {
		errs = append(errs, fmt.Errorf("%w: period %v: use a period above 0", ErrRate, l.period))
	}
	if l.burst < 0 {
		errs = append(errs, fmt.Errorf("%w: %d: use 0 or more", ErrBurst, l.burst))
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	_, err := l.bucket()
	return err
}

func (l Limit) validateWindow() error {
	var errs []error
	if l.tokens < 0 {
		errs = append(errs, fmt.Errorf("%w: limit %d: use 0 or more", ErrWindow, l.tokens))
	}
	if l.period <= 0 {
		errs = append(errs, fmt.Errorf("%w: window %v: use a window above 0", ErrWindow, l.period))
	}
	return errors.Join(errs...)
}

// bucket compiles the limit; it must be of the bucket family.
func (l Limit) bucket() (*atomicstate.Bucket, error) {
	return atomicstate.NewBucket(l.tokens, l.period, l.burst)
}

// isBucket reports whether the limit is of the token bucket family.
func (l Limit) isBucket() bool {
	return l.algorithm == AlgorithmTokenBucket || l.algorithm == AlgorithmGCRA
}

// Algorithm returns the name of the limit's algorithm, "" for the zero Limit.
func (l Limit) Algorithm() Algorithm { return l.algorithm }

// Capacity returns how many permits a key never seen before may take at once: the burst, the
// limit of a window, math.MaxInt64 if unlimited, 0 if blocked.
func (l Limit) Capacity() int64 {
	if l.algorithm == AlgorithmUnlimited {
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
	if b := l.compiled(); b != nil {
		return b.RelativeError()
	}
	return 0
}

// Effective returns the rate that is enforced, as a reduced fraction, or the limit and window
// of a window algorithm.
func (l Limit) Effective() Rate {
	if b := l.compiled(); b != nil {
		tokens, per := b.Rate()
		return Rate{tokens, per}
	}
	return Rate{l.tokens, l.period}
}

// compiled returns the bucket of a valid limit of the bucket family, else nil.
func (l Limit) compiled() *atomicstate.Bucket {
	if !l.isBucket() {
		return nil
	}
	b, err := l.bucket()
	if err != nil {
		return nil
	}
	return b
}

// String returns the limit for people: algorithm, rate, burst.
func (l Limit) String() string {
	switch {
	case l.isBucket():
		return fmt.Sprintf("%s %d/%v burst %d", l.algorithm, l.tokens, l.period, l.burst)
	case l.algorithm == AlgorithmSlidingLog:
		return fmt.Sprintf("%s %d/%v", l.algorithm, l.tokens, l.period)
	case l.algorithm == "":
		return "invalid limit"
	}
	return string(l.algorithm)
}
