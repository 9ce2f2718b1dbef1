package oracle

import (
	"fmt"
	"math/big"
	"slices"
	"time"
)

// Admission is one allowed call: N permits at time At (ns).
type Admission struct {
	At int64
	N  int64
}

// Bound checks the law of the token bucket on a log of admissions, in any
// order: for every interval [x, y] of time,
//
//	permits admitted in [x, y] <= burst + (y-x) * tokens/per
//
// exactly. It returns an error that names the first interval found to hold
// more, or a negative N. It takes O(n log n) time for the sort and O(n) for the
// check.
//
// Only intervals that begin and end at an admission matter: shrinking any other
// to its first and last admission keeps the left side and lowers the right.
// Let the admissions in order of time be (t1, n1), (t2, n2), ... and let
//
//	d(0) = 0,    d(k) = max(0, d(k-1) - (t(k)-t(k-1))*rate) + n(k)
//
// be what an ideal bucket that refuses nothing is owed after the k-th. Then
//
//	d(k) = max over j <= k of  n(j) + ... + n(k) - (t(k)-t(j))*rate
//
// by induction: for j = k the right side is n(k), the case in which the max(0,
// ...) gives 0; the candidates with j < k are those of d(k-1), each less
// (t(k)-t(k-1))*rate and plus n(k). So d(k) <= burst for every k if and only if
// every interval that ends at a t(k) and begins at a t(j) keeps the law. With
// several admissions at one instant the last of them in the order ends, and the
// first begins, the interval that holds them all, and the others give weaker
// inequalities. The j of the maximum is the k at which max(0, ...) last gave 0.
func Bound(tokens int64, per time.Duration, burst int64, admissions []Admission) error {
	sorted := slices.Clone(admissions)
	slices.SortStableFunc(sorted, func(a, b Admission) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	rate := ratePerNano(tokens, per)
	capacity := new(big.Rat).SetInt64(burst)
	owed := new(big.Rat)
	begin := 0
	for k, a := range sorted {
		if a.N < 0 {
			return fmt.Errorf("oracle: admission of %d permits at %d ns: negative", a.N, a.At)
		}
		if k > 0 {
			owed.Sub(owed, earned(rate, sorted[k-1].At, a.At))
		}
		if owed.Sign() <= 0 {
			owed.SetInt64(0)
			begin = k
		}
		owed.Add(owed, new(big.Rat).SetInt64(a.N))
		if owed.Cmp(capacity) > 0 {
			return overAdmitted(rate, burst, sorted[begin:k+1])
		}
	}
	return nil
}

// earned returns the tokens that rate gives from time x to time y, x <= y.
func earned(rate *big.Rat, x, y int64) *big.Rat {
	gap := new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(y), big.NewInt(x)))
	return gap.Mul(gap, rate)
}

// overAdmitted describes an interval, given by its admissions, that holds more
// than it may.
func overAdmitted(rate *big.Rat, burst int64, in []Admission) error {
	x, y := in[0].At, in[len(in)-1].At
	admitted := new(big.Int)
	for _, a := range in {
		admitted.Add(admitted, big.NewInt(a.N))
	}
	bound := earned(rate, x, y)
	bound.Add(bound, new(big.Rat).SetInt64(burst))
	return fmt.Errorf("oracle: %v permits admitted from %d ns to %d ns in %d calls: at most %s are lawful",
		admitted, x, y, len(in), bound.FloatString(9))
}
