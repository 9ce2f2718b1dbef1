package oracle

import (
	"math/big"
	"time"
)

// TokenBucket is the token bucket (and GCRA, and the leaky bucket as a meter:
// the three decide alike) in rational numbers:
//
//	tokens(t) = min(burst, tokens + elapsed * rate)    allowed <=> tokens >= n
type TokenBucket struct {
	rate   *big.Rat // tokens per nanosecond
	burst  int64
	time   latest
	tokens *big.Rat // in the bucket at time at
	at     int64    // of the last allowed call
}

var _ Model = (*TokenBucket)(nil)

// NewTokenBucket returns a full bucket of burst tokens that is refilled with
// tokens every per. A rate of zero (tokens or per below 1) never refills;
// a burst below zero counts as zero.
func NewTokenBucket(tokens int64, per time.Duration, burst int64) *TokenBucket {
	burst = max(burst, 0)
	return &TokenBucket{
		rate:   ratePerNano(tokens, per),
		burst:  burst,
		tokens: new(big.Rat).SetInt64(burst),
	}
}

// ratePerNano returns tokens/per in tokens per nanosecond, 0 if one of them is
// below 1.
func ratePerNano(tokens int64, per time.Duration) *big.Rat {
	if tokens < 1 || per < 1 {
		return new(big.Rat)
	}
	return big.NewRat(tokens, int64(per))
}

// tokensAt returns the tokens in the bucket at the effective time now.
func (b *TokenBucket) tokensAt(now int64) *big.Rat {
	full := new(big.Rat).SetInt64(b.burst)
	if !b.time.seen { // the first call that may pass does pass: at is set from then on
		return full
	}
	gap := new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(now), big.NewInt(b.at)))
	tokens := gap.Mul(gap, b.rate)
	tokens.Add(tokens, b.tokens)
	if tokens.Cmp(full) > 0 {
		return full
	}
	return tokens
}

// Take implements [Model].
func (b *TokenBucket) Take(now, n int64) (allowed bool, retryAfterNanos int64) {
	allowed, retryAfterNanos = b.Peek(now, n)
	if n < 1 || n > b.burst {
		return allowed, retryAfterNanos
	}
	now = b.time.effective(now)
	if allowed {
		b.tokens = b.tokensAt(now)
		b.tokens.Sub(b.tokens, new(big.Rat).SetInt64(n))
		b.at = now
	}
	b.time.see(now)
	return allowed, retryAfterNanos
}

// Peek implements [Model].
func (b *TokenBucket) Peek(now, n int64) (allowed bool, retryAfterNanos int64) {
	switch {
	case n < 0:
		return false, Never
	case n == 0:
		return true, 0
	case n > b.burst:
		return false, Never
	}
	missing := b.missing(now, n)
	if missing.Sign() <= 0 {
		return true, 0
	}
	return false, b.waitFor(missing)
}

// Remaining implements [Model].
func (b *TokenBucket) Remaining(now int64) int64 {
	tokens := b.tokensAt(b.time.effective(now))
	return new(big.Int).Div(tokens.Num(), tokens.Denom()).Int64()
}

// ResetAfter implements [Model].
func (b *TokenBucket) ResetAfter(now int64) int64 {
	missing := b.missing(now, b.burst)
	if missing.Sign() <= 0 {
		return 0
	}
	return b.waitFor(missing)
}

// missing returns how many tokens are short of n at time now; not above 0 if
// there are enough.
func (b *TokenBucket) missing(now, n int64) *big.Rat {
	want := new(big.Rat).SetInt64(n)
	return want.Sub(want, b.tokensAt(b.time.effective(now)))
}

// waitFor returns the nanoseconds that earn the given tokens, rounded up.
func (b *TokenBucket) waitFor(tokens *big.Rat) int64 {
	if b.rate.Sign() == 0 {
		return Never
	}
	return clampInt64(ceil(new(big.Rat).Quo(tokens, b.rate)))
}

// ceil returns the smallest integer not below x.
func ceil(x *big.Rat) *big.Int {
	// -floor(-x); Div rounds towards negative infinity for a positive divisor.
	q := new(big.Int).Div(new(big.Int).Neg(x.Num()), x.Denom())
	return q.Neg(q)
}
