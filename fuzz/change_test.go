package fuzz

import (
	"math"
	"math/bits"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/stretchr/testify/require"
)

// changing is what a key owes under the limit it was last called under: plain numbers, carried by the
// rule of the documentation when its limit changes.
type changing struct {
	debt    uint64 // in 1/per of a token
	at      int64
	limit   bucket
	unknown bool // never called since it was new
}

// bucket is a reduced rate of tokens per nanoseconds, and a burst.
type bucket struct{ tokens, per, burst uint64 }

// buckets are the limits of FuzzChange: coprime periods, so that carrying rounds, and small numbers, so
// that nothing is cut.
var buckets = []bucket{{1, 10, 5}, {3, 7, 2}, {7, 1000, 40}, {0, 1, 3}, {2, 999_999_937, 9}, {5, 11, 100}}

func (b bucket) limit() engine.Limit {
	return engine.TokenBucket(engine.Rate{Tokens: int64(b.tokens), Per: time.Duration(b.per)}, int64(b.burst))
}

// owed is the debt at now.
func (k changing) owed(now int64) uint64 {
	earned := uint64(math.MaxUint64)
	if high, low := bits.Mul64(uint64(now)-uint64(k.at), k.limit.tokens); high == 0 {
		earned = low
	}
	return k.debt - min(k.debt, earned)
}

// reset is how long it takes to earn back what is owed.
func (k changing) reset() time.Duration {
	switch {
	case k.debt == 0:
		return 0
	case k.limit.tokens == 0:
		return engine.Never
	}
	return time.Duration((k.debt + k.limit.tokens - 1) / k.limit.tokens)
}

// take charges n permits under the limit b, to which the key is carried first.
func (k changing) take(b bucket, now int64, n uint64) (next changing, allowed bool) {
	debt := uint64(0)
	if !k.unknown {
		debt = k.owed(now)
	}
	if !k.unknown && k.limit != b {
		high, low := bits.Mul64(debt, b.per)
		quotient, rest := bits.Div64(high, low, k.limit.per)
		if debt = quotient; rest > 0 {
			debt++
		}
	}
	next = changing{debt: debt, at: now, limit: b}
	if debt+n*b.per > b.burst*b.per {
		return next, false
	}
	next.debt += n * b.per
	return next, true
}

// FuzzChange: many keys come, are charged, forgotten and found again while the table splits, the limit
// changes and time leaps, and each answers as what a map says that it owes.
func FuzzChange(f *testing.F) {
	f.Add([]byte("\x00\x10\x00\x01\x20\x01\x02\x01\x00\x05\x03\x02\x01\x04\x07\x00\xff"))
	f.Add([]byte("the quick brown fox jumps over the lazy dog, and again, and again, and again"))
	f.Add([]byte{6, 255, 2, 6, 255, 2, 6, 255, 2, 1, 1, 6, 255, 1, 2, 6, 255, 1, 0, 9, 3, 6, 255, 1, 1, 4, 6, 255, 1})
	for seed := range uint64(8) {
		f.Add(noise(seed, 300))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l := engine.Must[int64](buckets[0].limit())
		defer l.Close()
		present, now := buckets[0], int64(0)
		model := map[int64]changing{}
		take := func(key int64, n uint64) {
			k, known := model[key]
			k.unknown = !known
			next, allowed := k.take(present, now, n)
			d := l.TakeAt(time.Duration(now), key, int64(n))
			if d.Allowed != allowed || d.ResetAfter != next.reset() { // most calls are made here: no reflection
				t.Fatalf("key %d at %d: %d of %+v: %+v, want %t and then %+v", key, now, n, k, d, allowed, next)
			}
			if allowed || known {
				model[key] = next
			}
		}
		s := stream(data)
		for len(s) > 0 {
			switch op := s.small(8); op {
			case 0: // time goes on, or leaps by up to 292 years
				by := s.small(256)
				if s.small(8) == 0 {
					by <<= s.small(55)
				}
				now = max(now, now+by) // or it is past the end of time
			case 1:
				present = buckets[s.small(uint64(len(buckets)))]
				require.NoError(t, l.SetLimit(present.limit()))
			case 2:
				l.Sweep()
			case 3:
				key := s.small(8)
				l.Reset(key)
				delete(model, key)
			case 6: // many keys
				first, n := s.small(256)*16, uint64(s.small(4))
				for key := first; key < first+200; key++ {
					if n > 0 {
						take(key, n)
					}
				}
			default:
				take(s.small(8), 1+uint64(s.small(6)))
			}
		}
	})
}
