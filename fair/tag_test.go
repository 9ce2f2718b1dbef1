package fair

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// units is a tag as a number of units of 2^-64.
func (a tag) units() *big.Int {
	sum := new(big.Int).Lsh(new(big.Int).SetUint64(a.whole), 64)
	return sum.Add(sum, new(big.Int).SetUint64(a.part))
}

// anyWeight draws one of any size, the ends more often than others.
func anyWeight(rnd *rand.Rand) uint64 {
	switch rnd.IntN(8) {
	case 0:
		return 1
	case 1:
		return uint64(MaxWeight)
	}
	return 1 + rnd.Uint64N(uint64(MaxWeight)>>rnd.IntN(32))
}

// TestTagsAreExact: sums of costs of one weight are the exact sum, rounded down once.
func TestTagsAreExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		weight := anyWeight(rnd)
		start := tag{rnd.Uint64N(1 << 40), rnd.Uint64()}
		at, rest, permits := start, uint64(0), new(big.Int)
		for range 100 {
			n := 1 + rnd.Int64N(1<<40>>rnd.IntN(40))
			at, rest = at.after(n, weight, rest)
			require.Less(t, rest, weight)
			permits.Add(permits, big.NewInt(n))
			want := new(big.Int).Lsh(permits, 64)
			want.Div(want, new(big.Int).SetUint64(weight))
			require.Equal(t, want.Add(want, start.units()), at.units())
		}
	}
}

func TestTagArithmetic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	draw := func() tag { return tag{rnd.Uint64() >> (2 + rnd.IntN(62)), rnd.Uint64() << rnd.IntN(64)} }
	for range 20000 {
		a, b := draw(), draw()
		require.Equal(t, a.units().Cmp(b.units()) < 0, a.before(b))
		require.Equal(t, new(big.Int).Add(a.units(), b.units()), a.plus(b).units())
		require.Equal(t, a, a.plus(b).minus(b))
		from, to := anyWeight(rnd), anyWeight(rnd)
		want := new(big.Int).Mul(a.units(), new(big.Int).SetUint64(from))
		want.Div(want, new(big.Int).SetUint64(to))
		if got := a.scaled(from, to); want.BitLen() <= 126 {
			require.Equal(t, want, got.units())
		} else {
			require.GreaterOrEqual(t, got.whole, uint64(maxCost))
		}
	}
}

// TestLargestCostsFit: a virtual time below maxCost and two of the largest costs are within a tag.
func TestLargestCostsFit(t *testing.T) {
	at, rest := tag{maxCost - 1, math.MaxUint64}, uint64(0)
	for range 2 {
		next, left := at.after(math.MaxInt64, 1, rest)
		require.True(t, at.before(next))
		at, rest = next, left
	}
}

// TestFinestCost: the smallest step of virtual time is many units, so that rounding is nothing to it.
func TestFinestCost(t *testing.T) {
	at, _ := tag{}.after(1, uint64(MaxWeight), 0)
	require.Equal(t, tag{0, 1 << 32}, at)
}
