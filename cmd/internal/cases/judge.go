package cases

import (
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
)

// Limiter is what a case calls.
type Limiter interface {
	TakeAt(now time.Duration, key string, n int64) engine.Decision
	Close() error
}

// Failing is a limiter whose calls can fail, as those on a store: Err is the
// error of the last call, nil if it was answered.
type Failing interface {
	Limiter
	Err() error
}

// Build makes a fresh limiter from a spec.
type Build func(spec limits.Spec) (Limiter, error)

// Setting is where cases are judged, and how.
type Setting struct {
	Build  Build
	Orders int // of interleaving, see Judge
	// Tick is the resolution of the limiter's clock; up to 1 ns it is exact. Of
	// a coarser one see player.
	Tick time.Duration
	// Origin is about the time of the limiter at which a case begins, used with
	// a Tick only: it is the next multiple of the limit's period at or before it.
	Origin time.Duration
}

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
	Order     string // of the interleaved copies; "" if the case ran alone
	Copy      int    // from 1: the case itself; 0 if it ran alone
	Call      int    // from 1; 0 if the limiter could not be built or closed
	Got, Want string
}

// String writes the mismatch as one line.
func (m Mismatch) String() string {
	text := fmt.Sprintf("FAIL %s (%s)", m.ID, m.Algorithm)
	if m.Order != "" {
		text += fmt.Sprintf(" in the order %q", m.Order)
	}
	if m.Copy > 0 {
		text += fmt.Sprintf(" copy %d", m.Copy)
	}
	if m.Call == 0 {
		return fmt.Sprintf("%s: %s; want %s", text, m.Got, m.Want)
	}
	return fmt.Sprintf("%s call %d: got %s; want %s", text, m.Call, m.Got, m.Want)
}

// Judge runs the case with each of its algorithms, on a fresh limiter each,
// and returns every mismatch; none means that the case passes.
//
// An allowed call must say retry-after 0. A denied call must say exactly the
// retry-after wanted. If none is given, it must be longer than 0 and no longer
// than a key with nothing left needs for n, or never if n can never pass.
//
// A limit that the engine refuses to build passes only if no call of the case
// could ever pass under it.
//
// What passes alone runs once more in each of so many orders of interleaving
// with copies of itself; see interleavings. Of each order the first wrong
// answer is returned.
func Judge(c Case, build Build, orders int) []Mismatch {
	return JudgeIn(c, Setting{Build: build, Orders: orders})
}

// JudgeIn is Judge in a setting. On a clock coarser than the times of a case,
// the case is not interleaved: what is rounded would be so for all copies.
func JudgeIn(c Case, in Setting) []Mismatch {
	var out []Mismatch
	for _, algorithm := range c.Algorithms() {
		wrong := judgeOne(c, algorithm, in)
		if len(wrong) == 0 && c.OnTicks(in.Tick) {
			wrong = judgeInterleaved(c, algorithm, in)
		}
		out = append(out, wrong...)
	}
	return out
}

func judgeOne(c Case, algorithm string, in Setting) []Mismatch {
	spec := c.Spec(algorithm)
	limiter, err := in.Build(spec)
	if err != nil {
		if refusedRightly(c, err) {
			return nil
		}
		return []Mismatch{{ID: c.ID, Algorithm: algorithm, Got: err.Error(), Want: "a limiter"}}
	}
	var out []Mismatch
	p := newPlayer(c, spec, in, limiter)
	for i, call := range c.Calls {
		got, want, ok := p.play(call, *call.Key)
		if !ok {
			out = append(out, Mismatch{ID: c.ID, Algorithm: algorithm, Call: i + 1, Got: got, Want: want})
		}
		if p.err != nil {
			break
		}
	}
	if err := limiter.Close(); err != nil {
		out = append(out, Mismatch{ID: c.ID, Algorithm: algorithm, Got: err.Error(), Want: "a limiter that closes"})
	}
	return out
}

// refusedRightly tells whether a limit may have failed to be built with err.
func refusedRightly(c Case, err error) bool {
	var unknown *limits.UnknownError
	return !errors.As(err, &unknown) && nothingEverPasses(c)
}

func nothingEverPasses(c Case) bool {
	for _, call := range c.Calls {
		if *call.WantAllow || call.WantRetryAfterNanos == nil || time.Duration(*call.WantRetryAfterNanos) != engine.Never {
			return false
		}
	}
	return true
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
