package cases

import (
	"fmt"
	"math/big"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
)

// Limiter is what a case calls.
type Limiter interface {
	TakeAt(now time.Duration, key string, n int64) engine.Decision
	Close() error
}

// Build makes a fresh limiter from a spec.
type Build func(spec limits.Spec) (Limiter, error)

// Engine builds limiters of the engine.
func Engine(spec limits.Spec) (Limiter, error) {
	limit, err := limits.Build(spec)
	if err != nil {
		return nil, err
	}
	return engine.New[string](limit)
}

// Mismatch is an answer that is not the one wanted.
type Mismatch struct {
	ID        string
	Algorithm string
	Call      int // from 1; 0 if the limiter could not be built
	Got, Want string
}

// String writes the mismatch as one line.
func (m Mismatch) String() string {
	if m.Call == 0 {
		return fmt.Sprintf("FAIL %s (%s): %s; want %s", m.ID, m.Algorithm, m.Got, m.Want)
	}
	return fmt.Sprintf("FAIL %s (%s) call %d: got %s; want %s", m.ID, m.Algorithm, m.Call, m.Got, m.Want)
}

// Judge runs the case with each of its algorithms, on a fresh limiter each,
// and returns every mismatch; none means that the case passes.
//
// An allowed call must say retry-after 0. A denied call must say exactly the
// retry-after wanted. If none is given, it must be longer than 0 and no longer
// than it takes to earn n from empty, or never if n can never pass.
//
// A limit that the engine refuses to build passes only if no call of the case
// could ever pass under it.
func Judge(c Case, build Build) []Mismatch {
	var out []Mismatch
	for _, algorithm := range c.Algorithms() {
		out = append(out, judgeOne(c, algorithm, build)...)
	}
	return out
}

func judgeOne(c Case, algorithm string, build Build) []Mismatch {
	spec := c.Spec(algorithm)
	limiter, err := build(spec)
	if err != nil {
		if nothingEverPasses(c) && limits.IsBuilt(algorithm) {
			return nil
		}
		return []Mismatch{{c.ID, algorithm, 0, err.Error(), "a limiter"}}
	}
	var out []Mismatch
	for i, call := range c.Calls {
		got := limiter.TakeAt(time.Duration(*call.AtNanos), *call.Key, *call.N)
		if want, ok := check(spec, call, got); !ok {
			out = append(out, Mismatch{c.ID, algorithm, i + 1, answer(got.Allowed, got.RetryAfter), want})
		}
	}
	if err := limiter.Close(); err != nil {
		out = append(out, Mismatch{c.ID, algorithm, 0, err.Error(), "a limiter that closes"})
	}
	return out
}

func nothingEverPasses(c Case) bool {
	for _, call := range c.Calls {
		if *call.WantAllow || call.WantRetryAfterNanos == nil || time.Duration(*call.WantRetryAfterNanos) != engine.Never {
			return false
		}
	}
	return true
}

// check tells whether an answer is right, and which would have been.
func check(spec limits.Spec, call Call, got engine.Decision) (want string, ok bool) {
	switch {
	case *call.WantAllow:
		return answer(true, 0), got.Allowed && got.RetryAfter == 0
	case call.WantRetryAfterNanos != nil:
		exact := time.Duration(*call.WantRetryAfterNanos)
		return answer(false, exact), !got.Allowed && got.RetryAfter == exact
	}
	longest := timeToEarn(spec, *call.N)
	if longest == engine.Never {
		return answer(false, engine.Never), !got.Allowed && got.RetryAfter == engine.Never
	}
	return fmt.Sprintf("denied, retry-after from 1ns to %v", longest),
		!got.Allowed && got.RetryAfter > 0 && got.RetryAfter <= longest
}

// timeToEarn is how long a key that has nothing left needs at most until n can
// pass, Never if they never can.
func timeToEarn(spec limits.Spec, n int64) time.Duration {
	capacity := spec.Tokens
	if limits.HasBurst(spec.Algorithm) {
		capacity = spec.Burst
	}
	switch {
	case n < 0 || n > capacity || spec.Tokens <= 0:
		return engine.Never
	case !limits.HasBurst(spec.Algorithm):
		return spec.Per
	}
	// ceil(n * per / tokens), which may not fit in 64 bits on the way.
	nanos := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(spec.Per)))
	nanos.Add(nanos, big.NewInt(spec.Tokens-1)).Div(nanos, big.NewInt(spec.Tokens))
	if !nanos.IsInt64() {
		return 1<<63 - 1
	}
	return time.Duration(nanos.Int64())
}

func answer(allowed bool, retryAfter time.Duration) string {
	switch {
	case allowed && retryAfter == 0:
		return "allowed"
	case allowed:
		return fmt.Sprintf("allowed, retry-after %dns", retryAfter.Nanoseconds())
	case retryAfter == engine.Never:
		return "denied, retry-after never"
	}
	return fmt.Sprintf("denied, retry-after %dns", retryAfter.Nanoseconds())
}
