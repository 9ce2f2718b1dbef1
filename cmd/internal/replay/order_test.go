package replay

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// put is a request that came out of an orderer.
type put struct {
	unix int64
	key  uint32
}

// reorder sends times through an orderer, numbered in their order.
func reorder(o *orderer, times ...int64) (out []put) {
	drain := func(flush bool) {
		for s := o.next(flush); s != nil; s = o.next(flush) {
			for _, key := range s.keys {
				out = append(out, put{s.unix, key})
			}
			o.recycle(s)
		}
	}
	for i, unix := range times {
		o.add(unix, []uint32{uint32(i)})
		drain(false)
	}
	drain(true)
	return out
}

func TestOrder(t *testing.T) {
	for name, test := range map[string]struct {
		window          time.Duration
		maxLines        int
		times           []int64
		want            []put
		reordered, late int
	}{
		"in order": {time.Minute, 9, []int64{1, 1, 2, 3}, []put{{1, 0}, {1, 1}, {2, 2}, {3, 3}}, 0, 0},
		"a second keeps its order": {
			time.Minute, 9, []int64{5, 3, 5, 3, 5},
			[]put{{3, 1}, {3, 3}, {5, 0}, {5, 2}, {5, 4}},
			2, 0,
		},
		"just inside the window":  {10 * time.Second, 9, []int64{100, 91}, []put{{91, 1}, {100, 0}}, 1, 0},
		"just outside the window": {10 * time.Second, 9, []int64{95, 105, 94}, []put{{95, 0}, {95, 2}, {105, 1}}, 0, 1},
		// Nothing has been given out yet, so it is not too late.
		"far behind, but first":  {10 * time.Second, 9, []int64{105, 1}, []put{{1, 1}, {105, 0}}, 1, 0},
		"a window of nothing":    {0, 9, []int64{2, 1, 3, 2}, []put{{2, 0}, {2, 1}, {3, 2}, {3, 3}}, 0, 2},
		"part of a second":       {1, 9, []int64{2, 1, 3, 1, 4}, []put{{1, 1}, {2, 0}, {2, 3}, {3, 2}, {4, 4}}, 1, 1},
		"292 years":              {1<<63 - 1, 9, []int64{9e9, 0, 9e9}, []put{{0, 1}, {9e9, 0}, {9e9, 2}}, 1, 0},
		"no room":                {time.Hour, 2, []int64{5, 6, 7, 4, 8}, []put{{5, 0}, {5, 3}, {6, 1}, {7, 2}, {8, 4}}, 0, 1},
		"one room":               {time.Hour, 1, []int64{5, 4, 6}, []put{{4, 1}, {5, 0}, {6, 2}}, 1, 0},
		"a clock gone wild":      {time.Minute, 9, []int64{10, 9e9, 11, 12, 13}, []put{{10, 0}, {11, 2}, {12, 3}, {13, 4}, {9e9, 1}}, 3, 0},
		"a clock gone wild back": {time.Minute, 9, []int64{100, 200, 1, 201}, []put{{100, 0}, {100, 2}, {200, 1}, {201, 3}}, 0, 1},
	} {
		o := newOrderer(test.window, test.maxLines, 1)
		assert.Equal(t, test.want, reorder(o, test.times...), name)
		assert.Equal(t, test.reordered, o.reordered, "reordered: %s", name)
		assert.Equal(t, test.late, o.late, "late: %s", name)
		assert.Zero(t, o.held, name)
	}
}

// With room for all, the order is that of a stable sort by time. With less, it
// is still all requests, never back in time, and never more held than allowed.
func TestOrderOfAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		times := make([]int64, rng.IntN(200))
		for i := range times {
			times[i] = int64(i/3) + rng.Int64N(40)
		}
		sorted := make([]put, len(times))
		for i, unix := range times {
			sorted[i] = put{unix, uint32(i)}
		}
		slices.SortStableFunc(sorted, func(a, b put) int { return int(a.unix - b.unix) })
		all := newOrderer(time.Hour, len(times)+1, 1)
		require.Equal(t, sorted, append([]put{}, reorder(all, times...)...))
		require.Zero(t, all.late)

		some := newOrderer(time.Duration(rng.IntN(30))*time.Second, 1+rng.IntN(20), 1)
		got := reorder(some, times...)
		require.Len(t, got, len(times))
		require.True(t, slices.IsSortedFunc(got, func(a, b put) int { return int(a.unix - b.unix) }))
	}
}
