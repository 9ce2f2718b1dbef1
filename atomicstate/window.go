package atomicstate

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

const (
	// minIndexBits leaves windows enough for the sweep to meet a word in time: 2^4 windows
	// of horizon, an eighth of which is 2.
	minIndexBits = 5
	// minWindowHorizon is the shortest horizon accepted, as for buckets (2^61 / 2^26 ns).
	minWindowHorizon = int64(1) << 35
	// easyHorizon is the horizon that is left to an index while counts are widened: 36 minutes.
	easyHorizon = int64(1) << 41
	// maxCountBits is as wide as a count is made without need.
	maxCountBits = 40
)

// grid is the division of time into windows, aligned at time 0, and of the value of a word
// into the index of a window and counts:
//
//	fixed window      | index            | count |
//	sliding window    | index | previous | count |
//
// The index is kept mod 2^indexBits and read as the nearest to the present. A count has a bit more
// than the limit needs at least, and all that the index can spare up to 40, for usage carried from
// a larger limit: for windows of a second that is 2^40 permits, or 2^24 in each of two counts.
type grid struct {
	limit     int64
	window    int64 // ns
	countBits uint
	indexBits uint
}

// newGrid divides the value of a word into an index and a number of counts.
func newGrid(limit int64, window time.Duration, counts uint) (grid, error) {
	if limit < 0 {
		return grid{}, fmt.Errorf("%w: limit %d: use 0 or more", ErrWindow, limit)
	}
	if window <= 0 {
		return grid{}, fmt.Errorf("%w: window %v: use a window above 0", ErrWindow, window)
	}
	g := grid{limit: limit, window: nanos(window), countBits: uint(bits.Len64(uint64(limit))) + 1}
	if spare := (ValueBits - easyIndexBits(g.window)) / counts; spare > g.countBits {
		g.countBits = min(spare, max(g.countBits, maxCountBits))
	}
	if used := g.countBits * counts; used <= ValueBits-minIndexBits {
		g.indexBits = ValueBits - used
		if g.horizon() >= minWindowHorizon {
			return g, nil
		}
	}
	return grid{}, fmt.Errorf("%w: %d in %v: use a smaller limit or a longer window", ErrTooLarge, limit, window)
}

// easyIndexBits is the least width of an index, 8 bits or more, with an easy horizon.
func easyIndexBits(window int64) uint {
	return max(8, 1+uint(bits.Len64(uint64(easyHorizon/window))))
}

// horizon is how long an index can be told from its namesakes: 2^(indexBits-1) windows.
func (g *grid) horizon() int64 {
	windows := int64(1) << (g.indexBits - 1)
	if g.window > maxHorizon/windows {
		return maxHorizon
	}
	return windows * g.window
}

// Window returns the length of a window in the caller's units of time.
func (g *grid) Window() int64 { return g.window }

// CountBits returns how wide a count in a word is. With the length of the window it says whether
// the words of two limits mean the same.
func (g *grid) CountBits() int { return int(g.countBits) }

// index returns the number of the window that holds now: floor(now / window).
func (g *grid) index(now int64) int64 {
	i := now / g.window
	if now < 0 && i*g.window != now {
		i--
	}
	return i
}

// into returns how far now is into its window: 0 <= into < window.
func (g *grid) into(now, index int64) int64 { return now - index*g.window }

// ahead returns by how many windows the index in a word lies before the window index:
// 0 in the same window, negative if the word's window is later.
func (g *grid) ahead(word uint64, index int64) int64 {
	shift := 64 - g.indexBits
	return int64((uint64(index)-word>>(64-g.indexBits))<<shift) >> shift
}

// aged reports whether a word is an eighth of the horizon old or more.
func (g *grid) aged(word uint64, now int64) bool {
	return g.ahead(word, g.index(now)) >= int64(1)<<(g.indexBits-4)
}

// mask covers one count.
func (g *grid) mask() uint64 { return 1<<g.countBits - 1 }

// cut brings a usage to whole permits, rounded up, that fit in a count.
func (g *grid) cut(u Usage) int64 {
	return min(int64(g.mask()), u.Permits())
}

// begins returns the time from now to the start of the window index, 0 if it has begun, and
// math.MaxInt64 if that is larger.
func (g *grid) begins(index, now int64) int64 {
	own := g.index(now)
	if index <= own {
		return 0
	}
	high, low := bits.Mul64(uint64(index-own), uint64(g.window))
	low, borrow := bits.Sub64(low, uint64(g.into(now, own)), 0)
	if high != borrow || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}

// usage is what count permits in the window index amount to at now, windows before it that have
// not ended yet being used up.
func (g *grid) usage(index, now, count int64) Usage {
	before := max(0, index-g.index(now))
	return Usage{Units: uint64(saturated(scaleUp(uint64(before), uint64(g.limit), 1), count)), PerPermit: 1}
}

// release refunds what was given up of the promised, the last ones first, until one is of a window
// that the word does not count any more.
func release(l Law, word uint64, now int64, promised []Promise) (next uint64, given int64) {
	next = word
	for i := len(promised) - 1; i >= 0; i-- {
		owed := promised[i].Owed
		if owed == 0 {
			continue
		}
		after, ok := l.Refund(next, promised[i].Act, now, owed, nil)
		if !ok {
			break
		}
		next, given = after, given+owed
	}
	return next, given
}
