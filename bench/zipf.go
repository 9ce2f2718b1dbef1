package bench

import (
	"math"
	"math/rand/v2"
	"sync"
)

// zipfDraws is how many draws a [Zipf] holds: 8 MiB, read in order, so that a
// draw costs no miss. Their repetition meets as many keys as one pass does: about
// 500,000 of four million.
const zipfDraws = 1 << 21

// Zipf is a fixed sequence of draws from the indices 0..count-1 in which index i
// has the probability 1 / ((i+1) * H(count)), H being the harmonic number: Zipf's
// law with the exponent 1.0. It does not change, so that any number of goroutines
// may read it at once.
type Zipf struct {
	draws []uint32
	count int
}

// NewZipf draws the sequence for count indices (>= 1). The same count gives the
// same sequence. Cost: about 0.1 s.
func NewZipf(count int) *Zipf {
	z := &Zipf{draws: make([]uint32, zipfDraws), count: count}
	random := rand.New(rand.NewPCG(uint64(count), weyl))
	for i := range z.draws {
		z.draws[i] = uint32(zipfRank(random, float64(count)) - 1)
	}
	return z
}

// zipfRank returns a rank of 1..count by rejection-inversion: x is drawn under
// the curve 1/x by inverting its integral ln x, and the whole number next to it is
// kept if it lies under the steps 1/rank, as nearly all do.
func zipfRank(random *rand.Rand, count float64) float64 {
	low, high := math.Log(1.5)-1, math.Log(count+0.5)
	for {
		area := low + random.Float64()*(high-low)
		rank := min(max(math.Round(math.Exp(area)), 1), count)
		if area >= math.Log(rank+0.5)-1/rank {
			return rank
		}
	}
}

var (
	zipfsMu sync.Mutex
	zipfs   = map[int]*Zipf{}
)

// ZipfOf returns the sequence for count, made at its first use in the process.
func ZipfOf(count int) *Zipf {
	zipfsMu.Lock()
	defer zipfsMu.Unlock()
	if zipfs[count] == nil {
		zipfs[count] = NewZipf(count)
	}
	return zipfs[count]
}

// Len returns the number of draws.
func (z *Zipf) Len() int { return len(z.draws) }

// Follow lets [Keys.NextZipf] draw from z, from a place that depends on the seed
// of k.
func (k *Keys) Follow(z *Zipf) { k.zipf, k.at = z.draws, int(k.seed*scrub>>33)%len(z.draws) }

// NextZipf returns the next key of the sequence that k follows, as a view of the
// buffer.
func (k *Keys) NextZipf() string {
	k.at++
	if k.at == len(k.zipf) {
		k.at = 0
	}
	return k.At(uint64(k.zipf[k.at]))
}

// DistinctZipf counts how many different keys the generators met in their first
// draws[i] calls of NextZipf, all of them following z.
func DistinctZipf(keys []*Keys, draws []int, z *Zipf) int {
	seen := make([]bool, z.count)
	total := 0
	for i, k := range keys {
		again := k.Replay()
		again.Follow(z)
		for range min(draws[i], len(z.draws)) {
			again.at = (again.at + 1) % len(z.draws)
			if index := z.draws[again.at]; !seen[index] {
				seen[index] = true
				total++
			}
		}
	}
	return total
}

// ExpectZipf returns how many different keys random draws from 0..count-1 under
// Zipf's law are expected to meet. Cost: proportional to count.
func ExpectZipf(draws, count int) float64 {
	harmonic := 0.0
	for rank := count; rank >= 1; rank-- {
		harmonic += 1 / float64(rank)
	}
	met := 0.0
	for rank := count; rank >= 1; rank-- {
		missed := math.Exp(float64(draws) * math.Log1p(-1/(float64(rank)*harmonic)))
		if count == 1 {
			missed = 0
		}
		met += 1 - missed
	}
	return met
}
