package engine

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
)

// Law returns the limit as pure functions over one word whose times are counted in ticks of the
// given length, for words that live elsewhere than in a Limiter: see package store. maxUnits bounds
// burst*W of a bucket (see package atomicstate), 0 for the widest; where a rate does not fit exactly
// in that, the nearest slower one is taken, as in [Limit.Error]. It returns nil without an error for
// limits that keep no word: [Unlimited], [Blocked], [SlidingLog]. Errors: those of [Limit.Validate];
// [ErrRate] and [ErrTooLarge] if the rate has no fraction in ticks; [ErrWindow] if a window is not a
// whole number of them.
func (l Limit) Law(tick time.Duration, maxUnits int64) (atomicstate.Law, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if algorithms[l.algorithm].law == nil {
		return nil, nil
	}
	ticks, err := l.inTicks(tick)
	if err != nil {
		return nil, err
	}
	law, err := algorithms[l.algorithm].law(ticks)
	if err != nil || maxUnits <= 0 {
		return law, err
	}
	switch law := law.(type) {
	case *atomicstate.Bucket:
		return law.Within(maxUnits)
	case *atomicstate.LeakyQueue:
		return law.Within(maxUnits)
	}
	return law, nil
}

// inTicks returns the limit with its period in ticks in place of nanoseconds.
func (l Limit) inTicks(tick time.Duration) (Limit, error) {
	if tick <= 0 {
		return l, fmt.Errorf("%w: ticks of %v: use a tick above 0", ErrRate, tick)
	}
	if !algorithms[l.algorithm].burst {
		if l.period%tick != 0 {
			return l, fmt.Errorf("%w: window %v where time is counted in ticks of %v: use a multiple", ErrWindow, l.period, tick)
		}
		l.period /= tick
		return l, nil
	}
	common := tick // the greatest common divisor with the period
	for rest := l.period; rest != 0; {
		common, rest = rest, common%rest
	}
	high, tokens := bits.Mul64(uint64(l.tokens), uint64(tick/common))
	if high != 0 || tokens > math.MaxInt64 {
		return l, fmt.Errorf("%w: %d tokens per %v where time is counted in ticks of %v: use a rounder rate",
			ErrTooLarge, l.tokens, l.period, tick)
	}
	l.tokens, l.period = int64(tokens), l.period/common
	return l, nil
}

// Share returns the limit that each of n processes may enforce on its own so that all of them
// together keep to l: the rate and the burst, or the limit of a window, divided by n. Bursts and
// limits of windows are rounded down, but not below one permit, so that n above the capacity exceeds it.
// n below 1 counts as 1.
func (l Limit) Share(n int64) Limit {
	n = max(1, n)
	whole := func(x int64) int64 { return max(x/n, min(x, 1)) }
	switch l.algorithm {
	case tokenBucket, gcra, leakyBucket, leakyQueue:
		l.burst = whole(l.burst)
		if l.period > time.Duration(math.MaxInt64/n) { // too long to divide: the slower side
			l.tokens, l.period = l.tokens/n, max(l.period, 1)
			return l
		}
		l.period *= time.Duration(n)
	case fixedWindow, slidingWindow, slidingLog:
		l.tokens, l.burst = whole(l.tokens), whole(l.burst)
	}
	return l
}
