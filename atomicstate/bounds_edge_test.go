package atomicstate_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/stretchr/testify/require"
)

// TestTakeAtTheBounds: where capacity, debt and charge are the largest that there are, each decision and
// each debt is that of numbers without end.
func TestTakeAtTheBounds(t *testing.T) {
	const capacity = 1 << 60
	for _, unit := range []int64{1, 1 << 20, 1 << 40, capacity} {
		burst := capacity / unit
		b := bucket(t, 1, time.Duration(unit), burst)
		require.True(t, b.Exact())
		debts := []int64{0, 1, unit, capacity - burst/2*unit, capacity - unit, capacity - 1, capacity, capacity + 1, atomicstate.MaxDebt}
		takes := []int64{
			1, 2, burst - burst/2, burst - 1, burst, burst + 1, 1<<61/unit + 1, 1<<62/unit + 1, // 2^61 units and more
			1<<62/unit*2 + 1, 1<<62/unit*4 + 1, 1<<62/unit*8 + 1, 1 << 60, 1 << 61, 1 << 62, math.MaxInt64 - 1, math.MaxInt64,
		}
		for _, now := range []int64{math.MinInt64, -1 << 61, -1, 0, 1, 1 << 60, 1<<61 - 1, 1 << 61, math.MaxInt64} {
			for _, debt := range debts {
				for _, n := range takes {
					takeAtTheBounds(t, b, now, debt, n, unit)
				}
			}
		}
	}
}

func takeAtTheBounds(t *testing.T, b *atomicstate.Bucket, now, debt, n, unit int64) {
	t.Helper()
	if n <= 0 { // no take, or 2^63 units and more
		return
	}
	word := b.Owing(debt, now)
	require.Equal(t, debt, b.Debt(word, now))
	after := new(big.Int).Mul(big.NewInt(n), big.NewInt(unit))
	after.Add(after, big.NewInt(debt))
	want := after.Cmp(big.NewInt(1<<60)) <= 0
	next, ok := b.Take(word, now, n)
	require.Equalf(t, want, ok, "%d of %d units at %d, of which %d are owed", n, unit, now, debt)
	if !ok {
		require.Equal(t, word, next)
		return
	}
	require.True(t, atomicstate.IsLive(next))
	require.Equal(t, after.Int64(), b.Debt(next, now))
	require.Equal(t, b.Owing(after.Int64(), now), next)
}
