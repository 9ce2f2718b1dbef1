package bench

import (
	"math"
	"testing"
)

// TestZipfFollowsItsLaw: the frequencies of single ranks and of the tail are those
// of 1/(rank * H), within six standard deviations.
func TestZipfFollowsItsLaw(t *testing.T) {
	for _, count := range []int{1, 2, 10, 1_000, 100_000} {
		harmonic := 0.0
		for rank := 1; rank <= count; rank++ {
			harmonic += 1 / float64(rank)
		}
		seen := make([]int, count)
		for _, index := range NewZipf(count).draws {
			seen[index]++
		}
		expect := func(from, to int) {
			want, got := 0.0, 0
			for rank := from; rank <= to; rank++ {
				want += 1 / (float64(rank) * harmonic)
				got += seen[rank-1]
			}
			mean := want * zipfDraws
			if math.Abs(float64(got)-mean) > 6*math.Sqrt(mean)+1e-6 {
				t.Errorf("%d keys: ranks %d to %d were drawn %d times, want %.0f", count, from, to, got, mean)
			}
		}
		for _, rank := range []int{1, 2, 3, 5, 10} {
			if rank <= count {
				expect(rank, rank)
			}
		}
		expect(1, (count+1)/2)
		expect((count+1)/2, count)
	}
}

// TestDistinctZipf: what is counted is what was drawn, and as much as chance lets
// expect.
func TestDistinctZipf(t *testing.T) {
	const count, draws = 10_000, 50_000
	z := ZipfOf(count)
	k := NewKeys(count, KeySize, 3)
	k.Follow(z)
	met := map[string]bool{}
	for range draws {
		met[string([]byte(k.NextZipf()))] = true
	}
	if got := DistinctZipf([]*Keys{k}, []int{draws}, z); got != len(met) {
		t.Errorf("%d different keys counted, %d drawn", got, len(met))
	}
	want := ExpectZipf(draws, count)
	if math.Abs(float64(len(met))-want) > 6*math.Sqrt(want) {
		t.Errorf("%d different keys, want %.0f", len(met), want)
	}
	if got := ExpectZipf(1, 1); got != 1 {
		t.Errorf("one draw from one key meets %v", got)
	}
}
