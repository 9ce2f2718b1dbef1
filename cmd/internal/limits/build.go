package limits

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// The names of the algorithms.
const (
	TokenBucket   = string(engine.AlgorithmTokenBucket)
	GCRA          = string(engine.AlgorithmGCRA)
	LeakyBucket   = string(engine.AlgorithmLeakyBucket)
	LeakyQueue    = string(engine.AlgorithmLeakyQueue)
	FixedWindow   = string(engine.AlgorithmFixedWindow)
	SlidingWindow = string(engine.AlgorithmSlidingWindow)
	SlidingLog    = string(engine.AlgorithmSlidingLog)

	// SlidingCounter is another name of SlidingWindow.
	SlidingCounter = "sliding_counter"
)

// Spec is a limit by name. For the windows, Tokens is the limit, Per the
// window, and Burst has no meaning.
type Spec struct {
	Algorithm string
	Tokens    int64
	Per       time.Duration
	Burst     int64
}

// algorithm is all that the command knows of an algorithm.
type algorithm struct {
	name    string
	alias   string // another name, "" if there is none
	burst   bool   // takes a burst beside its rate
	words   func(Spec) string
	longest func(s Spec, n int64) time.Duration // see LongestWait
	build   func(Spec) engine.Limit
}

// algorithms is the one list: to add an algorithm, add a row.
var algorithms = []algorithm{
	{TokenBucket, "", true, rateAndBurst, timeToEarn, bucket(engine.TokenBucket)},
	{GCRA, "", true, rateAndBurst, timeToEarn, bucket(engine.GCRA)},
	{LeakyBucket, "", true, rateAndBurst, timeToEarn, bucket(engine.LeakyBucket)},
	{LeakyQueue, "", true, rateAndBurst, timeToEarn, bucket(engine.LeakyQueue)},
	{FixedWindow, "", false, inWindow("%d in each %s"), windows(1), window(engine.FixedWindow)},
	{SlidingWindow, SlidingCounter, false, inWindow("about %d in any %s"), windows(2), window(engine.SlidingWindow)},
	{SlidingLog, "", false, inWindow("%d in any %s"), windows(1), window(engine.SlidingLog)},
}

func bucket(create func(engine.Rate, int64) engine.Limit) func(Spec) engine.Limit {
	return func(s Spec) engine.Limit { return create(engine.Rate{Tokens: s.Tokens, Per: s.Per}, s.Burst) }
}

func window(create func(int64, time.Duration) engine.Limit) func(Spec) engine.Limit {
	return func(s Spec) engine.Limit { return create(s.Tokens, s.Per) }
}

func rateAndBurst(s Spec) string {
	return fmt.Sprintf("%s burst %d", Rate{s.Tokens, s.Per}, s.Burst)
}

func inWindow(format string) func(Spec) string {
	return func(s Spec) string { return fmt.Sprintf(format, s.Tokens, FormatDuration(s.Per)) }
}

// UnknownError says that there is no such algorithm, and which there are.
type UnknownError struct{ Algorithm string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("algorithm %q is not known; use one of %s", e.Algorithm, strings.Join(Names(), ", "))
}

// find returns the row of the algorithm with a name or alias, nil if there is
// none.
func find(name string) *algorithm {
	i := slices.IndexFunc(algorithms, func(a algorithm) bool { return a.name == name || a.alias != "" && a.alias == name })
	if i < 0 {
		return nil
	}
	return &algorithms[i]
}

// Names lists the algorithms, without the aliases.
func Names() []string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = a.name
	}
	return names
}

// HasBurst tells whether the algorithm takes a burst beside its rate.
func HasBurst(name string) bool {
	a := find(name)
	return a != nil && a.burst
}

// String writes the limit for people, without the name of its algorithm:
// 10/1s burst 20, or 10 in any 1s.
func (s Spec) String() string {
	if a := find(s.Algorithm); a != nil {
		return a.words(s)
	}
	return rateAndBurst(s)
}

// Build returns the limit that the spec names. The error is an *UnknownError,
// or says what the engine cannot take.
func Build(s Spec) (engine.Limit, error) {
	a := find(s.Algorithm)
	if a == nil {
		return engine.Limit{}, &UnknownError{s.Algorithm}
	}
	limit := a.build(s)
	if err := limit.Validate(); err != nil {
		return engine.Limit{}, err
	}
	return limit, nil
}
