package storebench

import (
	"math/bits"
	"time"
)

const (
	// subBits is how many bits below the highest one tell durations apart: 128
	// steps for each power of two, so that a figure is at most 0.8 % too high.
	subBits = 7
	// maxBits bounds durations to 2^40 ns, 18 minutes; longer ones count as that.
	maxBits = 40
	places  = (maxBits - subBits + 1) << subBits
)

// histogram counts durations. It is not safe for concurrent use.
type histogram struct {
	counts [places]uint32
	total  int64
}

// bucket returns the place of a duration: those below 2^subBits ns are exact.
func bucket(d time.Duration) int {
	n := uint64(max(0, d))
	size := bits.Len64(n)
	if size <= subBits {
		return int(n)
	}
	if size > maxBits {
		return places - 1
	}
	shift := size - subBits - 1
	return (shift+1)<<subBits | int(n>>shift)&(1<<subBits-1)
}

// upper returns the longest duration of a place.
func upper(place int) time.Duration {
	if place < 1<<subBits {
		return time.Duration(place)
	}
	shift := place>>subBits - 1
	return time.Duration((place&(1<<subBits-1)|1<<subBits)+1)<<shift - 1
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucket(d)]++
	h.total++
}

func (h *histogram) merge(other *histogram) {
	for i, n := range &other.counts {
		h.counts[i] += n
	}
	h.total += other.total
}

// quantile returns the duration that a share of all does not exceed, 0 if there are none.
func (h *histogram) quantile(share float64) time.Duration {
	rank := int64(share*float64(h.total-1)) + 1
	for i, n := range &h.counts {
		if rank -= int64(n); rank <= 0 && h.total > 0 {
			return upper(i)
		}
	}
	return 0
}
