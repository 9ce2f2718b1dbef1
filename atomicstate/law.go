package atomicstate

import (
	"math"
	"time"
)

// Never is the wait, in nanoseconds, of a call that can never pass.
const Never int64 = -1

// Law is the strategy behind a limit: one algorithm with its numbers compiled, as
// pure functions over one word. Implementations are immutable and safe for
// concurrent use; no method allocates, blocks or panics. Times are nanoseconds
// from one origin of the caller's choice and may be negative. Words passed in must
// be live; words returned are live.
type Law interface {
	// Capacity returns the permits a key never seen before may take at once.
	Capacity() int64
	// Fresh returns the word of a key never seen before, at now.
	Fresh(now int64) uint64
	// Take charges n >= 1 permits at now, or reports false: then nothing is due to
	// be written.
	Take(word uint64, now, n int64) (next uint64, ok bool)
	// Inspect describes word at now for a call of n >= 0 permits; it changes nothing.
	Inspect(word uint64, now, n int64) State
	// Delay returns how long the n permits whose charge at now led to word must wait for
	// their turn: 0 but for a queue.
	Delay(word uint64, now, n int64) int64
	// Reserve charges n >= 1 permits that act at the first instant at or after now at which
	// they may, wait nanoseconds after now: it is Take at that instant, and a charge of
	// nothing before. It reports false, and nothing is due to be written, if that instant
	// lies farther ahead than a word can tell (an eighth of the horizon; wait says how far)
	// or never comes (wait is [Never]).
	Reserve(word uint64, now, n int64) (next uint64, wait int64, ok bool)
	// Refund gives back what can be given back at now of n permits, of those of act, which
	// acted or was to act by now and did not, without ever letting more than the limit's
	// bound act in any interval. promised are all charges of the word that are to act after
	// now, in order of time; they keep their times. It reports false if nothing is due to be
	// written.
	Refund(word uint64, act Act, now, n int64, promised []Promise) (next uint64, ok bool)
	// Release gives back what can be given back at now of the promised that were given up,
	// with the bound and the order of Refund: of the last ones first. given is how much, in
	// units of [Law.Usage]; 0 if nothing is due to be written.
	Release(word uint64, now int64, promised []Promise) (next uint64, given int64)
	// EqualsNew reports whether word is indistinguishable from Fresh(now) at now.
	// base is an instant at or before now at which the word was readable; it bridges
	// leaps of now beyond the horizon. Pass now itself where there was no leap.
	EqualsNew(word uint64, base, now int64) bool
	// Aged reports whether word must be dropped by the sweep that sees it at now,
	// because it may become unreadable before the sweep after the next.
	Aged(word uint64, now int64) bool
	// Usage returns what the word has used and not yet earned back at now.
	Usage(word uint64, now int64) Usage
	// Carry returns the word at now that owes usage, rounded up to this law's unit and
	// cut at what the word can hold. It is not clamped to the capacity: what exceeds
	// it stays owed.
	Carry(usage Usage, now int64) uint64
	// Horizon returns how long a word stays readable, in nanoseconds.
	Horizon() int64
}

// Act is a charge: permits that act together.
type Act struct {
	// At is the instant at which they act, or acted.
	At int64
	// N is how many they are, those left out that were given back already.
	N int64
}

// Promise is a charge whose permits are to act later.
type Promise struct {
	Act
	// Owed is 0, or the units of [Law.Usage] that are still to be given back of a promise that
	// was given up. Then nobody acts at that time.
	Owed int64
}

// State is what a word says at an instant about a call of some permits.
type State struct {
	// Allowed reports whether the call would pass.
	Allowed bool
	// Remaining is the number of whole permits that would pass at once.
	Remaining int64
	// RetryNanos is 0 if the call would pass now, else the smallest number of
	// nanoseconds after which it would pass with no other traffic, or [Never].
	RetryNanos int64
	// ResetNanos is the time until the word equals a new one, or [Never].
	ResetNanos int64
}

// Usage is a number of permits as the exact fraction Units/PerPermit >= 0.
type Usage struct {
	Units     uint64 // numerator
	PerPermit uint64 // denominator, above 0
}

// Permits returns the usage in whole permits, rounded up.
func (u Usage) Permits() int64 { return scaleUp(u.Units, 1, u.PerPermit) }

// maxHorizon is the horizon of a law whose words never become unreadable.
const maxHorizon = int64(math.MaxInt64)

// nanos converts a duration to the integer nanoseconds used in this package.
func nanos(d time.Duration) int64 { return int64(d) }

// PromiseShare is the part of a law's horizon by which a charge may lie ahead of the present.
const PromiseShare = 8

// reserve is [Law.Reserve] for laws under which what passes, passes at once.
func reserve(l Law, word uint64, now, n int64) (next uint64, wait int64, ok bool) {
	wait = l.Inspect(word, now, n).RetryNanos
	if wait == Never || wait > l.Horizon()/PromiseShare || now > math.MaxInt64-wait {
		return word, wait, false
	}
	next, ok = l.Take(word, now+wait, n)
	return next, wait, ok
}
