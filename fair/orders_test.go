package fair

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestTenantSize holds what the documents say of memory: with its places in the map and the heaps
// a tenant takes some 250 bytes.
func TestTenantSize(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(tenant[string]{}), uintptr(192))
	require.LessOrEqual(t, unsafe.Sizeof(waiter[string]{}), uintptr(80))
}

// randomTenant has one of few tags, so that ties are common.
func randomTenant(rnd *rand.Rand, i int) *tenant[int] {
	return &tenant[int]{
		key: i, start: tag{rnd.Uint64N(5), rnd.Uint64N(3)}, order: uint64(i + 1), claim: 1 + rnd.Int64N(100),
		untilNanos: rnd.Int64N(50),
	}
}

func byOrder(a, b *tenant[int]) int {
	if earlier(a, b) {
		return -1
	}
	return 1
}

// TestClaimsAreASortedSlice with sums, after any additions and removals.
func TestClaimsAreASortedSlice(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var c claims[int]
		var all []*tenant[int]
		for i := range 400 {
			if len(all) > 0 && rnd.IntN(3) == 0 {
				k := rnd.IntN(len(all))
				c.remove(all[k])
				all = slices.Delete(all, k, k+1)
			} else {
				all = append(all, randomTenant(rnd, i))
				c.add(all[len(all)-1])
			}
			slices.SortFunc(all, byOrder)
			at, want := tag{rnd.Uint64N(6), rnd.Uint64N(3)}, int64(0)
			for _, one := range all {
				if one.start.before(at) {
					want += one.claim
				}
			}
			require.Equal(t, want, c.before(at))
			if len(all) > 0 {
				require.Same(t, all[0], c.first())
			} else {
				require.Nil(t, c.first())
			}
		}
	}
}

// TestClaimsDoNotOverflow: sums stay at the largest integer.
func TestClaimsDoNotOverflow(t *testing.T) {
	var c claims[int]
	for i := range 5 {
		c.add(&tenant[int]{key: i, order: uint64(i), claim: math.MaxInt64})
	}
	require.Equal(t, int64(math.MaxInt64), c.before(tag{1, 0}))
	require.EqualValues(t, 0, c.before(tag{}))
}

// depth is the longest way from a root.
func depth(t *tenant[int]) int {
	if t == nil {
		return 0
	}
	return 1 + max(depth(t.left), depth(t.right))
}

// TestClaimsStayShallow: 100,000 claims that come in order are not a list.
func TestClaimsStayShallow(t *testing.T) {
	var c claims[int]
	for i := range 100_000 {
		c.add(&tenant[int]{key: i, start: tag{uint64(i), 0}, order: uint64(i), claim: 1})
	}
	require.Less(t, depth(c.root), 4*17)
}

// TestHeapIsASortedSlice: whatever was taken out from wherever, the first is on top.
func TestHeapIsASortedSlice(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		h := heap[int]{less: earlier[int], place: func(t *tenant[int]) *int { return &t.place }}
		var all []*tenant[int]
		for i := range 300 {
			switch {
			case len(all) > 0 && rnd.IntN(3) == 0:
				k := rnd.IntN(len(all))
				h.remove(all[k])
				all = slices.Delete(all, k, k+1)
			default:
				all = append(all, randomTenant(rnd, i))
				h.push(all[len(all)-1])
			}
			slices.SortFunc(all, byOrder)
			if len(all) == 0 {
				require.Nil(t, h.top())
				continue
			}
			require.Same(t, all[0], h.top())
			for place, one := range h.items {
				require.Equal(t, place, one.place)
			}
		}
	}
}
