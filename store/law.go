package store

import (
	"fmt"
	"math"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/engine"
)

// Kind is the shape of a law's state.
type Kind uint8

const (
	// KindBucket is a debt: token bucket, GCRA, leaky bucket as a meter and as a queue.
	KindBucket Kind = iota + 1
	// KindFixedWindow is the count of one window.
	KindFixedWindow
	// KindSlidingWindow is the counts of two windows.
	KindSlidingWindow
)

// Numbers are those of a limit compiled for a store. Times are in ticks, and windows are
// [k*Window, (k+1)*Window) since 1970-01-01 UTC.
//
//	bucket, with TAT = now*Rate + debt, in units (an integer without a bound):
//	    debt    = max(0, TAT - now*Rate)
//	    allowed = debt + n*Unit <= Units;   then TAT = now*Rate + debt + n*Unit
//	    equals new when debt is 0, in ceil(debt/Rate) ticks
//	fixed window, with the count of the window k = floor(now/Window), 0 if what is kept is of an
//	earlier one:
//	    allowed = curr + n <= Limit;        then curr += n
//	    equals new at (k+1)*Window
//	sliding window, with the count prev of the window k-1 also, and e = now - k*Window:
//	    allowed = prev*(Window-e) <= (Limit - curr - n)*Window and Limit - curr - n >= 0
//	    equals new at (k+2)*Window; at (k+1)*Window if curr is 0
type Numbers struct {
	Kind Kind          // which of the fields below count
	Tick time.Duration // the unit of time
	// Limit is the capacity in permits, 0 or more.
	Limit int64
	// Rate is the units of a bucket that are earned in a tick, 0 to 2^26; Unit the units of one
	// permit, 1 to 2^60; Units = Limit*Unit its capacity, at most 2^60 and Info.MaxUnits. Rate and
	// Unit have no common divisor.
	Rate, Unit, Units int64
	// Window is the length of a window, above 0.
	Window int64
}

// Law is a limit compiled at a store's resolution, as pure functions. It is immutable and safe for
// concurrent use; no method allocates or blocks. Times are ticks since 1970-01-01 UTC. Words are
// those of package atomicstate; 0 stands for a key that was never seen.
type Law struct {
	limit   engine.Limit
	numbers Numbers
	law     atomicstate.Law
	bucket  *atomicstate.Bucket // of a KindBucket
	fixed   *atomicstate.FixedWindow
	sliding *atomicstate.SlidingWindow
	tag     string
}

// keptLate is how long after its time to live a word may still be read; clockSlack how far the
// clocks of those who read and write it may be apart besides. Within both it has to be readable.
const (
	keptLate   = time.Minute
	clockSlack = time.Minute
)

// NewLaw compiles a limit for a store. Errors: those of engine.Limit.Validate, and [ErrNotSupported]
// for limits that are not of one word, that have no exact enough rate or no whole window in the
// store's ticks, or whose words would become unreadable too soon.
func NewLaw(limit engine.Limit, info Info) (*Law, error) {
	if err := limit.Validate(); err != nil {
		return nil, err
	}
	if limit.Algorithm() == engine.AlgorithmSlidingLog {
		return nil, fmt.Errorf("%w: %v on %s: a sliding log keeps each admission, and does not fit in one word: use a sliding window",
			ErrNotSupported, limit, info.Name)
	}
	law, err := limit.Law(info.Tick, info.MaxUnits)
	if err != nil {
		return nil, fmt.Errorf("%w: %v on %s: %w", ErrNotSupported, limit, info.Name, err)
	}
	l := &Law{limit: limit, law: law, numbers: Numbers{Tick: info.Tick, Limit: limit.Capacity()}}
	if err := l.take(law); err != nil {
		return nil, err
	}
	if least := int64((keptLate + clockSlack) / info.Tick); law.Horizon()-l.longestLife() < least {
		return nil, fmt.Errorf("%w: %v on %s: at a resolution of %v its words could be read for %v only: "+
			"use a coarser resolution or a rounder rate", ErrNotSupported, limit, info.Name, info.Tick, l.duration(law.Horizon()))
	}
	return l, nil
}

// take fills in what depends on the kind of the law.
func (l *Law) take(law atomicstate.Law) error {
	n, tick := &l.numbers, int64(l.numbers.Tick)
	switch law := law.(type) {
	case *atomicstate.Bucket:
		l.bucket = law
	case *atomicstate.LeakyQueue:
		l.bucket = &law.Bucket
	case *atomicstate.FixedWindow:
		l.fixed, n.Kind, n.Window = law, KindFixedWindow, law.Window()
		l.tag = fmt.Sprintf("f.%d.%d.%d", n.Window, law.CountBits(), tick)
	case *atomicstate.SlidingWindow:
		l.sliding, n.Kind, n.Window = law, KindSlidingWindow, law.Window()
		l.tag = fmt.Sprintf("s.%d.%d.%d", n.Window, law.CountBits(), tick)
	default:
		return fmt.Errorf("%w: %v keeps no state", ErrNotSupported, l.limit)
	}
	if l.bucket != nil {
		rate, unit := l.bucket.Rate()
		n.Kind, n.Rate, n.Unit = KindBucket, rate, int64(unit)
		n.Units = n.Limit * n.Unit
		l.tag = fmt.Sprintf("b.%d.%d.%d.%d", n.Rate, n.Unit, n.Limit, tick)
	}
	return nil
}

// longestLife is the most ticks in which a word equals a new one, 0 if it never does.
func (l *Law) longestLife() int64 {
	n := &l.numbers
	switch {
	case n.Kind != KindBucket:
		return 2 * min(n.Window, math.MaxInt64/4)
	case n.Rate == 0:
		return 0
	}
	return n.Units / n.Rate
}

// Limit returns the limit that was compiled.
func (l *Law) Limit() engine.Limit { return l.limit }

// Numbers returns the numbers of the law.
func (l *Law) Numbers() Numbers { return l.numbers }

// Tag returns what tells the words of this law from those that mean something else: it is a part of
// the key. For windows it does not depend on the limit, unless that is huge.
func (l *Law) Tag() string { return l.tag }

// Take takes as many permits as there are up to most, none if they are fewer than least:
// 1 <= least <= most, or both 0. next is the word to be written if taken is not 0.
func (l *Law) Take(word uint64, now, least, most int64) (next uint64, taken int64) {
	word = l.readable(word, now)
	if most <= 0 || least > l.numbers.Limit {
		return word, 0
	}
	if least == most {
		if next, ok := l.law.Take(word, now, most); ok {
			return next, most
		}
		return word, 0
	}
	n := min(most, l.law.Inspect(word, now, 0).Remaining)
	if n < max(1, least) {
		return word, 0
	}
	next, ok := l.law.Take(word, now, n)
	if !ok {
		return word, 0
	}
	return next, n
}

// readable returns the word, or that of a new key if it is none.
func (l *Law) readable(word uint64, now int64) uint64 {
	if !atomicstate.IsLive(word) {
		return l.law.Fresh(now)
	}
	return word
}

// Decide answers a call of n >= 0 permits: before is the word on which it was decided, taken what was
// charged, 0 if nothing was.
func (l *Law) Decide(before uint64, now, n, taken int64) engine.Decision {
	if taken <= 0 {
		d := l.Describe(before, now, n)
		if n > 0 && d.Allowed { // the store decided otherwise
			d.Allowed, d.Delay, d.RetryAfter = false, 0, l.numbers.Tick
		}
		return d
	}
	after, ok := l.law.Take(l.readable(before, now), now, taken)
	if !ok { // the store decided otherwise: what is left is not known
		return engine.Decision{Allowed: true, Limit: l.numbers.Limit}
	}
	d := l.describe(after, now, 0)
	d.Delay = l.duration(l.law.Delay(after, now, taken))
	return d
}

// Describe says how a call of n >= 0 permits would come out, and charges nothing.
func (l *Law) Describe(word uint64, now, n int64) engine.Decision {
	word = l.readable(word, now)
	d := l.describe(word, now, n)
	if d.Allowed && n > 0 {
		d.Delay = l.duration(l.law.Delay(word, now, 0))
	}
	return d
}

func (l *Law) describe(word uint64, now, n int64) engine.Decision {
	s := l.law.Inspect(word, now, n)
	return engine.Decision{
		Allowed: s.Allowed, Limit: l.numbers.Limit, Remaining: s.Remaining,
		RetryAfter: l.duration(s.RetryNanos), ResetAfter: l.duration(s.ResetNanos),
	}
}

// Settle returns the word as it is to be taken at now by the one clock that all share, and whether it
// had to be changed: what lies in the future is from before a step back of that clock. A bucket owes
// its capacity at most; counts of a window to come are those of the present one. The change
// has to be written even if the call is refused, or the key would stay refused until the clock has
// made up the step.
func (l *Law) Settle(word uint64, now int64) (uint64, bool) {
	if !atomicstate.IsLive(word) {
		return word, false
	}
	state := l.State(word, now)
	settled := l.SettleState(state, now)
	if settled == state {
		return word, false
	}
	return l.Word(settled, now), true
}

// Life returns the time to live of a word: until it equals a new one, [Forever] if it never does.
func (l *Law) Life(word uint64, now int64) time.Duration {
	reset := l.law.Inspect(l.readable(word, now), now, 0).ResetNanos
	if reset == atomicstate.Never {
		return Forever
	}
	return max(l.numbers.Tick, l.duration(reset))
}

// duration turns ticks into a duration; what exceeds its range is the end of it.
func (l *Law) duration(ticks int64) time.Duration {
	switch {
	case ticks == atomicstate.Never:
		return engine.Never
	case ticks > math.MaxInt64/int64(l.numbers.Tick):
		return math.MaxInt64
	}
	return time.Duration(ticks) * l.numbers.Tick
}
