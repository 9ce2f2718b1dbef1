package atomicstate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// bruteBelow is the plain search that below stands for.
func bruteBelow(num, den, maxNum, maxDen uint64) (p, q uint64) {
	q = 1
	for d := uint64(1); d <= maxDen; d++ {
		n := min(num*d/den, maxNum)
		if n*q > p*d {
			p, q = n, d
		}
	}
	return p, q
}

func TestBelowEqualsPlainSearch(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		num, den := 1+rnd.Uint64N(5000), 1+rnd.Uint64N(5000)
		maxNum, maxDen := 1+rnd.Uint64N(300), 1+rnd.Uint64N(300)
		wantP, wantQ := bruteBelow(num, den, maxNum, maxDen)
		p, q := below(num, den, maxNum, maxDen)
		require.Equalf(t, wantP*q, p*wantQ, "below(%d/%d, %d, %d) = %d/%d, want %d/%d", num, den, maxNum, maxDen, p, q, wantP, wantQ)
		require.LessOrEqual(t, p, maxNum)
		require.LessOrEqual(t, q, maxDen)
		require.Positive(t, q)
	}
}

func TestBelowHugeNumbers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		num, den := 1+rnd.Uint64N(math.MaxInt64), 1+rnd.Uint64N(math.MaxInt64)>>rnd.UintN(62)
		maxDen := uint64(MaxCapacity) >> rnd.UintN(60)
		p, q := below(num, max(1, den), MaxRateUnits, maxDen)
		require.LessOrEqual(t, p, MaxRateUnits)
		require.LessOrEqual(t, q, maxDen)
		above := new(big.Int).Mul(toBig(p), toBig(max(1, den))).Cmp(new(big.Int).Mul(toBig(num), toBig(q))) > 0
		require.Falsef(t, above, "%d/%d is above %d/%d", p, q, num, den)
	}
}

func TestGCD(t *testing.T) {
	for _, c := range []struct{ a, b, want uint64 }{{0, 7, 7}, {12, 18, 6}, {1, 1 << 62, 1}, {1 << 62, 1 << 40, 1 << 40}} {
		require.Equal(t, c.want, gcd(c.a, c.b))
	}
}
