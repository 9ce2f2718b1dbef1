package replay

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeapGivesTheLeastFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	h := minHeap[int]{less: func(a, b int) bool { return a < b }}
	var held []int
	for range 5000 {
		switch {
		case len(held) == 0 || rng.IntN(5) < 2:
			n := rng.IntN(50)
			h.push(n)
			held = append(held, n)
		case rng.IntN(2) == 0: // the first grows
			least := slices.Min(held)
			held[slices.Index(held, least)] += 7
			h.items[0] += 7
			h.settle()
		default:
			least := slices.Min(held)
			held = slices.Delete(held, slices.Index(held, least), slices.Index(held, least)+1)
			require.Equal(t, least, h.pop())
		}
		require.Len(t, h.items, len(held))
	}
}
