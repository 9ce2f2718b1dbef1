package bench

import (
	"fmt"
	"math"
	"math/bits"
)

// Distinct counts how many different keys the generators met in their first
// draws[i] calls of Next, by drawing the same again into a bitmap of count bits.
// It costs a few nanoseconds a draw and disturbs no measured loop.
func Distinct(keys []*Keys, draws []int, count int) int {
	seen := make([]uint64, (count+63)/64)
	for i, k := range keys {
		again := k.Replay()
		for range draws[i] {
			index := again.Draw()
			seen[index/64] |= 1 << (index % 64)
		}
	}
	total := 0
	for _, word := range seen {
		total += bits.OnesCount64(word)
	}
	return total
}

// CheckDistinct reports an error when met, the number of different keys in
// draws random draws from count, is further than six standard deviations below
// what random draws meet: count * (1 - (1-1/count)^draws).
func CheckDistinct(met, draws, count int) error {
	if met > count {
		return fmt.Errorf("bench: met %d different keys of only %d", met, count)
	}
	population := float64(count)
	want := population * -math.Expm1(float64(draws)*math.Log1p(-1/population))
	if least := want - 6*math.Sqrt(want); float64(met) < least {
		return fmt.Errorf("bench: met %d different keys of %d in %d draws, random draws meet %.0f: the access order is not random",
			met, count, draws, want)
	}
	return nil
}
