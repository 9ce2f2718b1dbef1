package engine

import (
	"fmt"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
)

// Algorithm is the name of a limiting algorithm.
type Algorithm string

// The algorithms of limits.
const (
	AlgorithmTokenBucket   Algorithm = "token_bucket"
	AlgorithmGCRA          Algorithm = "gcra"
	AlgorithmLeakyBucket   Algorithm = "leaky_bucket"
	AlgorithmLeakyQueue    Algorithm = "leaky_queue"
	AlgorithmFixedWindow   Algorithm = "fixed_window"
	AlgorithmSlidingWindow Algorithm = "sliding_window"
	AlgorithmSlidingLog    Algorithm = "sliding_log"
	AlgorithmUnlimited     Algorithm = "unlimited"
	AlgorithmBlocked       Algorithm = "blocked"
)

// algorithmNumber is the row of an algorithm in the table below. It is as wide as the other
// fields of a Limit, so that a Limit has no padding and hashes in one piece.
type algorithmNumber uint64

const (
	invalid algorithmNumber = iota
	tokenBucket
	gcra
	leakyBucket
	leakyQueue
	fixedWindow
	slidingWindow
	slidingLog
	unlimited
	blocked
)

// algorithms is all that the engine knows of each: to add one, write its law in package
// atomicstate, a constructor in limit.go, and a row here.
var algorithms = [...]struct {
	name     Algorithm
	burst    bool                                 // has a burst besides its rate
	validate func(Limit) []error                  // everything that is wrong with the numbers
	law      func(Limit) (atomicstate.Law, error) // nil: not an algorithm of one word
}{
	invalid:       {},
	tokenBucket:   {AlgorithmTokenBucket, true, validateBucket, bucketLaw},
	gcra:          {AlgorithmGCRA, true, validateBucket, bucketLaw},
	leakyBucket:   {AlgorithmLeakyBucket, true, validateBucket, bucketLaw},
	leakyQueue:    {AlgorithmLeakyQueue, true, validateBucket, queueLaw},
	fixedWindow:   {AlgorithmFixedWindow, false, validateWindow, fixedWindowLaw},
	slidingWindow: {AlgorithmSlidingWindow, false, validateWindow, slidingWindowLaw},
	slidingLog:    {AlgorithmSlidingLog, false, validateWindow, nil},
	unlimited:     {name: AlgorithmUnlimited},
	blocked:       {name: AlgorithmBlocked},
}

// rated is a law with a rate that may be a nearby fraction of the one asked for.
type rated interface {
	RelativeError() float64
	Rate() (tokens int64, per time.Duration)
}

func bucketLaw(l Limit) (atomicstate.Law, error) {
	return atomicstate.NewBucket(l.tokens, l.period, l.burst)
}

func queueLaw(l Limit) (atomicstate.Law, error) {
	return atomicstate.NewLeakyQueue(l.tokens, l.period, l.burst)
}

func fixedWindowLaw(l Limit) (atomicstate.Law, error) {
	return atomicstate.NewFixedWindow(l.tokens, l.period)
}

func slidingWindowLaw(l Limit) (atomicstate.Law, error) {
	return atomicstate.NewSlidingWindow(l.tokens, l.period)
}

func validateBucket(l Limit) (errs []error) {
	if l.tokens < 0 {
		errs = append(errs, fmt.Errorf("%w: %d tokens: use 0 or more", ErrRate, l.tokens))
	}
	if l.period <= 0 {
		errs = append(errs, fmt.Errorf("%w: period %v: use a period above 0", ErrRate, l.period))
	}
	if l.burst < 0 {
		errs = append(errs, fmt.Errorf("%w: %d: use 0 or more", ErrBurst, l.burst))
	}
	return errs
}

func validateWindow(l Limit) (errs []error) {
	if l.tokens < 0 {
		errs = append(errs, fmt.Errorf("%w: limit %d: use 0 or more", ErrWindow, l.tokens))
	}
	if l.period <= 0 {
		errs = append(errs, fmt.Errorf("%w: window %v: use a window above 0", ErrWindow, l.period))
	}
	return errs
}
