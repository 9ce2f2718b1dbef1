package atomicstate

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

const (
	// MaxCapacity bounds burst*W of a compiled bucket, in units.
	MaxCapacity = int64(1) << 60
	// MaxDebt bounds what a word can owe, in units: above every capacity, and so far
	// below 2^61, where a debt would be read as an age, that a reader whose clock lags
	// by three eighths of the horizon still reads a debt.
	MaxDebt = MaxCapacity + MaxCapacity>>2
	// MaxRateUnits bounds L, the units refilled in a nanosecond: at 2^26 a word stays
	// readable for 2^35 ns (34 s), and every whole rate up to 67,108,864 tokens a
	// second is exact.
	MaxRateUnits = uint64(1) << 26

	// maxRelativeError is the largest error of a rate that may be enforced in place
	// of the one asked for.
	maxRelativeError = 1e-6
	// horizonUnits is how far from its own present a word can be read.
	horizonUnits = uint64(1) << 61
	// agedUnits is the age at which a sweep must drop a word: with a sweep every
	// quarter of the horizon (2^59) it is at most 2^58 + 2^59 + 2^59 units old when the
	// next sweep meets it, which is below 2^61.
	agedUnits = int64(1) << 58
)

// Bucket is the token bucket: bursts to the capacity, continuous refill, exact. GCRA
// and the leaky bucket as a meter are the same law. Its state is described in the
// package comment. Cost: no method allocates or blocks; [Bucket.Take] does not divide.
// Make one with [NewBucket]; the zero value is not usable. A Bucket is immutable: it may
// be copied, and its methods are safe for concurrent use. They touch no shared memory,
// so that ordering is up to the caller, who loads and publishes the word.
type Bucket struct {
	inWords   inWords
	rate      uint64 // L, units refilled in a nanosecond
	unit      int64  // W, units of one token
	capacity  int64  // burst * W, units
	burst     int64  // tokens
	tokens    int64  // the rate asked for: tokens ...
	per       int64  // ... in per nanoseconds
	errorRate float64
}

// inWords is what [Bucket.Take] computes with, shifted to where a word has its value.
type inWords struct {
	rate uint64
	unit int64
	full int64 // the capacity, with the tag of a live word
}

var _ Law = (*Bucket)(nil)

// NewBucket compiles a token bucket that earns tokens in every period per and holds
// burst of them. tokens 0 is a bucket that never refills; burst 0 admits nothing.
// Errors: [ErrRate], [ErrBurst], [ErrTooLarge].
func NewBucket(tokens int64, per time.Duration, burst int64) (*Bucket, error) {
	if tokens < 0 || per <= 0 {
		return nil, fmt.Errorf("%w: %d tokens per %v: use 0 or more tokens and a period above 0", ErrRate, tokens, per)
	}
	if burst < 0 {
		return nil, fmt.Errorf("%w: %d: use 0 or more", ErrBurst, burst)
	}
	b := &Bucket{burst: burst, tokens: tokens, per: nanos(per)}
	if err := b.compile(MaxCapacity); err != nil {
		return nil, err
	}
	return b, nil
}

// Within returns the bucket compiled again with burst*W <= maxUnits, for a place that computes in
// fewer bits: a store whose scripts know only floats is exact up to 2^53. The rate is the same where
// it fits, else the nearest slower one. maxUnits is held to 1 .. [MaxCapacity]. Errors: [ErrTooLarge].
func (b *Bucket) Within(maxUnits int64) (*Bucket, error) {
	c := &Bucket{burst: b.burst, tokens: b.tokens, per: b.per}
	if err := c.compile(min(max(1, maxUnits), MaxCapacity)); err != nil {
		return nil, err
	}
	return c, nil
}

// compile sets the fraction L/W: the rate itself if it fits, else the nearest below; and the
// capacity, at most maxUnits.
func (b *Bucket) compile(maxUnits int64) error {
	divisor := gcd(uint64(b.tokens), uint64(b.per))
	num, den := uint64(b.tokens)/divisor, uint64(b.per)/divisor
	maxUnit := uint64(maxUnits) / uint64(max(1, b.burst))
	if maxUnit == 0 {
		return fmt.Errorf("%w: burst %d: use at most %d", ErrTooLarge, b.burst, maxUnits)
	}
	if err := b.fit(num, den, maxUnit, maxUnits); err != nil {
		return err
	}
	b.capacity = b.burst * b.unit
	b.inWords = inWords{
		rate: b.rate << TagBits,
		unit: b.unit << TagBits,
		full: b.capacity<<TagBits | tagLive,
	}
	return nil
}

// fit sets the fraction L/W from num/den, with W <= maxUnit.
func (b *Bucket) fit(num, den, maxUnit uint64, maxUnits int64) error {
	if num <= MaxRateUnits && den <= maxUnit {
		b.rate, b.unit = num, int64(den)
		return nil
	}
	p, q := below(num, den, MaxRateUnits, maxUnit)
	b.rate, b.unit = p, int64(q)
	b.errorRate = shortfall(p, q, num, den)
	if p == 0 || b.errorRate >= maxRelativeError {
		return b.tooLarge(num, den, maxUnits)
	}
	return nil
}

// tooLarge says which number is too large, and how far it may go.
func (b *Bucket) tooLarge(num, den uint64, maxUnits int64) error {
	if num <= MaxRateUnits && den <= uint64(maxUnits) {
		return fmt.Errorf("%w: %d tokens per %v with burst %d: at this rate use a burst of at most %d",
			ErrTooLarge, b.tokens, time.Duration(b.per), b.burst, uint64(maxUnits)/den)
	}
	return fmt.Errorf("%w: %d tokens per %v with burst %d: the nearest rate below it that fits is %.3g %% slower; "+
		"use a rounder rate or a smaller burst", ErrTooLarge, b.tokens, time.Duration(b.per), b.burst, 100*b.errorRate)
}

// Exact reports whether the rate asked for is the one enforced.
func (b *Bucket) Exact() bool { return b.errorRate == 0 }

// RelativeError returns by which fraction the enforced rate is below the one asked
// for: 0 <= e < 1e-6.
func (b *Bucket) RelativeError() float64 { return b.errorRate }

// Rate returns the enforced rate, reduced: tokens in every period per. A bucket that
// never refills has tokens 0.
func (b *Bucket) Rate() (tokens int64, per time.Duration) {
	return int64(b.rate), time.Duration(b.unit)
}

// Capacity returns the burst in tokens.
func (b *Bucket) Capacity() int64 { return b.burst }

// Horizon returns 2^61/L ns: how long after its own present a word is readable.
func (b *Bucket) Horizon() int64 {
	if b.rate == 0 {
		return maxHorizon
	}
	return int64(horizonUnits / b.rate)
}

// at returns now in units, mod 2^64.
func (b *Bucket) at(now int64) uint64 { return uint64(now) * b.rate }

// Fresh returns the word of a full bucket at now.
func (b *Bucket) Fresh(now int64) uint64 { return live(b.at(now)) }

// Debt returns the units that word owes at now: 0 <= debt < 2^61.
func (b *Bucket) Debt(word uint64, now int64) int64 {
	return max(0, b.owed(word, now))
}

// Owing returns the word that owes debt units at now, held to 0 .. [MaxDebt].
func (b *Bucket) Owing(debt, now int64) uint64 {
	return live(b.at(now) + uint64(min(max(0, debt), MaxDebt)))
}

// owed is Debt without the cut: negative by what has been refilled since the word was as new.
func (b *Bucket) owed(word uint64, now int64) int64 { return signed(word - b.at(now)<<TagBits) }

// Take charges n >= 1 tokens at now. It is the whole decision: two multiplications, which do not wait
// for the word, and from that to the next one a subtraction, a maximum and two additions; no division.
// It computes in words: four times the units, and the tag of a live word as one more.
//
// The product n*W wraps for an n far above the burst; such an n is refused by n > burst,
// whatever the product came to, so the order of the two comparisons does not matter.
func (b *Bucket) Take(word uint64, now, n int64) (next uint64, ok bool) {
	at, charge := uint64(now)*b.inWords.rate, n*b.inWords.unit
	owed := max(tagLive, int64(word-at)) // 1 + 4*debt
	if owed > b.inWords.full-charge || n > b.burst {
		return word, false
	}
	return at + uint64(owed+charge), true
}

// Inspect describes word at now for a call of n tokens. Cost: two divisions, three
// if the call would not pass.
func (b *Bucket) Inspect(word uint64, now, n int64) State {
	debt := b.Debt(word, now)
	s := State{
		Allowed:    n <= b.burst && debt+n*b.unit <= b.capacity || n == 0,
		Remaining:  max(0, b.capacity-debt) / b.unit,
		ResetNanos: b.wait(debt),
	}
	switch {
	case s.Allowed:
	case n > b.burst:
		s.RetryNanos = Never
	default:
		s.RetryNanos = b.wait(debt + n*b.unit - b.capacity)
	}
	return s
}

// Left returns Remaining and ResetNanos of [Bucket.Inspect] alone, for an answer to a call that
// passed.
func (b *Bucket) Left(word uint64, now int64) (remaining, resetNanos int64) {
	debt := b.Debt(word, now)
	return max(0, b.capacity-debt) / b.unit, b.wait(debt)
}

// wait returns the nanoseconds in which units are refilled, rounded up, or Never.
func (b *Bucket) wait(units int64) int64 {
	switch {
	case units <= 0:
		return 0
	case b.rate == 0:
		return Never
	case b.rate == 1:
		return units
	}
	return int64((uint64(units) + b.rate - 1) / b.rate)
}

// Delay is 0: what passes, passes at once.
func (b *Bucket) Delay(uint64, int64, int64) int64 { return 0 }

// Reserve is [Law.Reserve]: Take at the instant at which it passes.
func (b *Bucket) Reserve(word uint64, now, n int64) (next uint64, wait int64, ok bool) {
	return reserve(b, word, now, n)
}

// Refund gives back the least of n*W, of what is owed, of act.N*W less what the rate earned since
// act, and of the slack of each of the promised; see the package comment for what that is, and why
// no more can be given back.
func (b *Bucket) Refund(word uint64, act Act, now, n int64, promised []Promise) (next uint64, ok bool) {
	debt := b.Debt(word, now)
	if debt == 0 || n <= 0 || n > act.N {
		return word, false
	}
	due := min(b.units(n), debt)
	if now > act.At {
		due = min(due, b.units(act.N)-b.earned(act.At, now))
	}
	s := slack{bucket: b, now: now, debt: debt, least: due}
	for i := len(promised) - 1; i >= 0 && s.least > 0; i-- {
		s.keep(promised[i])
	}
	if s.least <= 0 {
		return word, false
	}
	return lower(word, s.least), true
}

// Release gives back, from the last promise that was given up to the first, what is owed of it, as
// far as the slack of each promise after it allows. Cost: a look at each promise from the last one
// to the first without slack.
func (b *Bucket) Release(word uint64, now int64, promised []Promise) (next uint64, given int64) {
	s := slack{bucket: b, now: now, debt: b.Debt(word, now)}
	s.least = s.debt
	for i := len(promised) - 1; i >= 0 && s.least > given; i-- {
		if promised[i].Owed > 0 {
			given += min(promised[i].Owed, s.least-given)
			continue
		}
		s.keep(promised[i])
	}
	if given <= 0 {
		return word, 0
	}
	return lower(word, given), given
}

// slack is by how much a word may be lowered so that the promises from the last one to some one
// keep their times.
type slack struct {
	bucket *Bucket
	now    int64
	debt   int64 // of the word at now
	after  int64 // units of the promises looked at
	least  int64
}

// keep looks at one more promise, which is not after those looked at already.
func (s *slack) keep(p Promise) {
	if p.Owed > 0 {
		return
	}
	s.after = saturated(s.after, s.bucket.units(p.N))
	s.least = min(s.least, s.debt-saturated(s.bucket.earned(s.now, p.At), s.after))
}

// earned returns the units refilled from one instant to another, not before it, or
// math.MaxInt64 if that is larger.
func (b *Bucket) earned(from, to int64) int64 { return scaleUp(uint64(to)-uint64(from), b.rate, 1) }

// units returns n >= 0 tokens in units, or math.MaxInt64 if that is larger.
func (b *Bucket) units(n int64) int64 { return scaleUp(uint64(n), uint64(b.unit), 1) }

// saturated returns x + y for x, y >= 0, or math.MaxInt64 if that is larger.
func saturated(x, y int64) int64 {
	if x > math.MaxInt64-y {
		return math.MaxInt64
	}
	return x + y
}

// EqualsNew reports whether nothing is owed at now. The debt is read at base and what
// was earned since is a 128-bit product, so no leap of now is too long.
func (b *Bucket) EqualsNew(word uint64, base, now int64) bool {
	debt := b.owed(word, base)
	if debt <= 0 {
		return true
	}
	if now <= base {
		return false
	}
	high, earned := bits.Mul64(uint64(now)-uint64(base), b.rate)
	return high != 0 || earned >= uint64(debt)
}

// Aged reports whether the word is an eighth of the horizon old or more.
func (b *Bucket) Aged(word uint64, now int64) bool {
	return b.rate != 0 && b.owed(word, now) <= -agedUnits
}

// Usage returns the debt as a fraction of tokens.
func (b *Bucket) Usage(word uint64, now int64) Usage {
	return Usage{Units: uint64(b.Debt(word, now)), PerPermit: uint64(b.unit)}
}

// Carry returns the word that owes usage at now: ceil(units * W / permit), through 128
// bits, cut at [MaxDebt].
func (b *Bucket) Carry(usage Usage, now int64) uint64 {
	return live(b.at(now) + uint64(min(MaxDebt, scaleUp(usage.Units, uint64(b.unit), usage.PerPermit))))
}

// scaleUp returns ceil(x*mul/div), or math.MaxInt64 if that is larger.
func scaleUp(x, mul, div uint64) int64 {
	high, low := bits.Mul64(x, mul)
	low, carry := bits.Add64(low, div-1, 0)
	high += carry
	if high >= div {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(high, low, div)
	return int64(min(quotient, math.MaxInt64))
}
