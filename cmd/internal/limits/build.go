package limits

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// The names of the algorithms that are built.
const (
	TokenBucket = "token_bucket"
	GCRA        = "gcra"
	SlidingLog  = "sliding_log"
)

// Spec is a limit by name. For SlidingLog, Tokens is the limit, Per the
// window, and Burst has no meaning.
type Spec struct {
	Algorithm string
	Tokens    int64
	Per       time.Duration
	Burst     int64
}

// builders is the one list of what is built: to add an algorithm, add a line.
var builders = map[string]func(Spec) engine.Limit{
	TokenBucket: func(s Spec) engine.Limit {
		return engine.TokenBucket(engine.Rate{Tokens: s.Tokens, Per: s.Per}, s.Burst)
	},
	GCRA: func(s Spec) engine.Limit {
		return engine.GCRA(engine.Rate{Tokens: s.Tokens, Per: s.Per}, s.Burst)
	},
	SlidingLog: func(s Spec) engine.Limit { return engine.SlidingLog(s.Tokens, s.Per) },
}

// planned are names that are known but not built yet.
var planned = []string{"fixed_window", "leaky_bucket", "leaky_queue", "sliding_counter", "sliding_window"}

// NotBuiltError says that there is no such algorithm, and which there are.
type NotBuiltError struct{ Algorithm string }

func (e *NotBuiltError) Error() string {
	what := "is not known"
	if slices.Contains(planned, e.Algorithm) {
		what = "is planned, but not built yet"
	}
	return fmt.Sprintf("algorithm %q %s; built are %s", e.Algorithm, what, strings.Join(Names(), ", "))
}

// Names lists the algorithms that are built, sorted.
func Names() []string {
	names := make([]string, 0, len(builders))
	for name := range builders {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// HasBurst tells whether the algorithm takes a burst beside its rate.
func HasBurst(algorithm string) bool { return algorithm == TokenBucket || algorithm == GCRA }

// Build returns the limit that the spec names. The error is a *NotBuiltError,
// or says what the engine cannot take.
func Build(s Spec) (engine.Limit, error) {
	build, ok := builders[s.Algorithm]
	if !ok {
		return engine.Limit{}, &NotBuiltError{s.Algorithm}
	}
	limit := build(s)
	if err := limit.Validate(); err != nil {
		return engine.Limit{}, err
	}
	return limit, nil
}

// IsBuilt tells whether the named algorithm is built.
func IsBuilt(algorithm string) bool {
	_, ok := builders[algorithm]
	return ok
}
