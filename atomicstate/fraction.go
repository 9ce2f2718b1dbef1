package atomicstate

import (
	"math/big"
)

// gcd returns the greatest common divisor of a and b; gcd(0, b) = b.
func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// below returns the largest fraction p/q <= num/den with p <= maxNum and
// 1 <= q <= maxDen; num, den >= 1. It walks the Stern-Brocot tree in strides, so
// the cost is that of the Euclidean algorithm (fewer than 200 steps).
//
// Between two neighbours lo < hi of the tree every fraction has a numerator and a
// denominator of at least the sums of theirs. So the last lower neighbour within
// the bounds is the largest fraction within the bounds that is not above num/den.
func below(num, den, maxNum, maxDen uint64) (p, q uint64) {
	r := &ratio{num: toBig(num), den: toBig(den)}
	loP, loQ := new(big.Int), big.NewInt(1) // 0/1
	hiP, hiQ := big.NewInt(1), new(big.Int) // 1/0
	limP, limQ := toBig(maxNum), toBig(maxDen)
	for {
		steps, end := r.strideUp(loP, loQ, hiP, hiQ)
		steps, cut := bounded(steps, loP, hiP, limP, false)
		steps, cut = bounded(steps, loQ, hiQ, limQ, cut)
		advance(loP, hiP, steps)
		advance(loQ, hiQ, steps)
		if cut || end {
			return loP.Uint64(), loQ.Uint64()
		}
		steps = r.strideDown(loP, loQ, hiP, hiQ)
		if steps.Sign() == 0 {
			return loP.Uint64(), loQ.Uint64() // lo equals num/den
		}
		advance(hiP, loP, steps)
		advance(hiQ, loQ, steps)
	}
}

// ratio is the target of a walk on the Stern-Brocot tree.
type ratio struct{ num, den *big.Int }

// gap returns num*q - den*p: positive while p/q is below the target.
func (r *ratio) gap(p, q *big.Int) *big.Int {
	a := new(big.Int).Mul(r.num, q)
	return a.Sub(a, new(big.Int).Mul(r.den, p))
}

// strideUp returns the most steps k for which (lo + k*hi) is not above the target,
// and whether that point equals the target.
func (r *ratio) strideUp(loP, loQ, hiP, hiQ *big.Int) (steps *big.Int, exact bool) {
	over := r.gap(hiP, hiQ)
	over.Neg(over) // > 0: hi is above the target
	rest := new(big.Int)
	steps, rest = new(big.Int).DivMod(r.gap(loP, loQ), over, rest)
	return steps, rest.Sign() == 0
}

// strideDown returns the most steps k for which (hi + k*lo) stays above the target;
// zero if lo equals the target.
func (r *ratio) strideDown(loP, loQ, hiP, hiQ *big.Int) *big.Int {
	under := r.gap(loP, loQ)
	if under.Sign() == 0 {
		return new(big.Int)
	}
	over := r.gap(hiP, hiQ)
	over.Neg(over)
	over.Sub(over, big.NewInt(1))
	return over.Div(over, under)
}

// bounded reduces steps so that lo + steps*hi <= limit, and reports whether it had to
// (or was already cut).
func bounded(steps, lo, hi, limit *big.Int, cut bool) (*big.Int, bool) {
	if hi.Sign() == 0 {
		return steps, cut
	}
	room := new(big.Int).Sub(limit, lo)
	room.Div(room, hi)
	if room.Cmp(steps) < 0 {
		return room, true
	}
	return steps, cut
}

// advance adds steps*by to x in place.
func advance(x, by, steps *big.Int) { x.Add(x, new(big.Int).Mul(steps, by)) }

func toBig(v uint64) *big.Int { return new(big.Int).SetUint64(v) }

// shortfall returns 1 - (p/q)/(num/den), the relative error of p/q <= num/den.
func shortfall(p, q, num, den uint64) float64 {
	part := new(big.Rat).SetFrac(toBig(p), toBig(q))
	part.Mul(part, new(big.Rat).SetFrac(toBig(den), toBig(num)))
	e, _ := part.Sub(big.NewRat(1, 1), part).Float64()
	return e
}
