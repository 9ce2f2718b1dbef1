package atomicstate_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/atomicstate"
)

// fraction is usage as an exact number of permits.
func fraction(u atomicstate.Usage) *big.Rat {
	return big.NewRat(1, 1).SetFrac(new(big.Int).SetUint64(u.Units), new(big.Int).SetUint64(u.PerPermit))
}

// room is what a word of the law can hold at least, in permits (docs/limit-changes.md).
func room(law atomicstate.Law) *big.Rat {
	switch law.(type) {
	case *atomicstate.Bucket, *atomicstate.LeakyQueue:
		return fraction(atomicstate.Usage{Units: uint64(atomicstate.MaxDebt), PerPermit: law.Usage(law.Fresh(0), 0).PerPermit})
	}
	return big.NewRat(law.Usage(law.Carry(atomicstate.Usage{Units: 1 << 62, PerPermit: 1}, 0), 0).Permits(), 1)
}

// TestForthAndBackMintsNothing: after a change of limit and another one back at once, between
// any two algorithms, a key has used what it had, or more by less than two permits: one for each
// rounding. The one exception is usage that the word in between cannot hold.
func TestForthAndBackMintsNothing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 99))
	held := 0
	for range 20000 {
		from, _, scale := families[rnd.IntN(len(families))].draw(rnd)
		to, _, _ := families[rnd.IntN(len(families))].draw(rnd)
		now := rnd.Int64N(1 << 50)
		word, ok := from.Take(from.Fresh(now), now, 1+rnd.Int64N(from.Capacity()))
		require.True(t, ok)
		now += rnd.Int64N(int64(scale))
		before := fraction(from.Usage(word, now))
		there := atomicstate.Convert(from, word, to, now)
		after := fraction(from.Usage(atomicstate.Convert(to, there, from, now), now))
		require.LessOrEqual(t, before.Cmp(room(to)), 0, "these fit in any word")
		held++
		require.GreaterOrEqual(t, after.Cmp(before), 0, "%T to %T", from, to)
		require.Negative(t, after.Cmp(before.Add(before, big.NewRat(2, 1))), "%T to %T", from, to)
	}
	require.Greater(t, held, 5000)
}
