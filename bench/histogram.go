package bench

import "math/bits"

// subBits is the base-2 logarithm of the buckets per power of two: 64 of them
// make a bucket at most 1/64 (1.6 %) of its values wide.
const subBits = 6

const subCount = 1 << subBits

// Histogram counts values (nanoseconds of latency) in buckets of at most 1.6 %
// relative width: exact up to 127, and no sample is dropped or clipped. It is
// for one goroutine; Record allocates nothing.
type Histogram struct {
	buckets [(64 - subBits + 1) * subCount]uint64
	total   uint64
	max     uint64
}

// bucketOf returns the bucket of value: below 2*subCount the value itself, above
// that the exponent and the subBits bits after the leading one.
func bucketOf(value uint64) int {
	shift := max(bits.Len64(value)-subBits-1, 0)
	return shift<<subBits + int(value>>shift)
}

// upperOf returns the largest value that falls into bucket.
func upperOf(bucket int) uint64 {
	shift := max(bucket>>subBits-1, 0)
	return uint64(bucket-shift<<subBits+1)<<shift - 1
}

// Record counts one value.
func (h *Histogram) Record(value uint64) {
	h.buckets[bucketOf(value)]++
	h.total++
	h.max = max(h.max, value)
}

// Add counts all that other has counted.
func (h *Histogram) Add(other *Histogram) {
	for bucket, count := range &other.buckets {
		h.buckets[bucket] += count
	}
	h.total += other.total
	h.max = max(h.max, other.max)
}

// Quantile returns the smallest bucket bound that at least the fraction q of all
// values (0 <= q <= 1) does not exceed: never less than the exact order
// statistic and at most 1.6 % more. It returns 0 when nothing was recorded.
func (h *Histogram) Quantile(q float64) uint64 {
	if h.total == 0 {
		return 0
	}
	rank := rankOf(q, h.total)
	var seen uint64
	for bucket, count := range &h.buckets {
		if seen += count; seen >= rank {
			return min(upperOf(bucket), h.max)
		}
	}
	return h.max
}

// rankOf returns the 1-based rank of the order statistic for q of total values.
func rankOf(q float64, total uint64) uint64 {
	exact := q * float64(total)
	rank := uint64(exact)
	if float64(rank) < exact {
		rank++
	}
	return min(max(rank, 1), total)
}

// Total returns how many values were recorded.
func (h *Histogram) Total() uint64 { return h.total }

// Max returns the largest value, exactly.
func (h *Histogram) Max() uint64 { return h.max }

// Reset forgets all values.
func (h *Histogram) Reset() { *h = Histogram{} }
