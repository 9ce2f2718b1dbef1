package bench_test

import (
	"strings"
	"testing"

	"github.com/penstock-go/penstock/bench"
)

func TestKeysAreDistinct(t *testing.T) {
	const count = 200_000
	for _, size := range []int{8, 16, 36, 64, 256} {
		keys := bench.NewKeys(count, size, 1)
		seen := make(map[string]struct{}, count)
		for i := range uint64(count) {
			key := keys.At(i)
			if len(key) != size {
				t.Fatalf("key %d has %d bytes, want %d", i, len(key), size)
			}
			seen[strings.Clone(key)] = struct{}{}
		}
		if len(seen) != count {
			t.Errorf("%d-byte keys: %d distinct of %d indices", size, len(seen), count)
		}
	}
}

func TestKeysOfEqualIndexAreEqual(t *testing.T) {
	one, two := bench.NewKeys(10, 36, 1), bench.NewKeys(1_000, 36, 2)
	for i := range uint64(10) {
		if one.At(i) != two.At(i) {
			t.Errorf("key %d differs between two generators", i)
		}
		if string(one.Bytes()) != one.At(i) {
			t.Errorf("Bytes differs from key %d", i)
		}
	}
}

func TestDrawIsUniform(t *testing.T) {
	const count, draws = 64, 640_000
	keys := bench.NewKeys(count, bench.KeySize, 7)
	var hits [count]float64
	for range draws {
		hits[keys.Draw()]++
	}
	chi := 0.0
	for _, hit := range hits {
		chi += (hit - draws/count) * (hit - draws/count) / (draws / count)
	}
	// 63 degrees of freedom: mean 63, standard deviation 11.2; the seed is fixed.
	if chi > 130 || chi < 20 {
		t.Errorf("chi-squared %.1f over %d indices, want about 63", chi, count)
	}
}

func TestDistinctReplaysTheDraws(t *testing.T) {
	const count = 1_000
	keys := []*bench.Keys{bench.NewKeys(count, 16, 1), bench.NewKeys(count, 16, 2)}
	draws := []int{700, 400}
	seen := map[string]bool{}
	for i, k := range keys {
		for range draws[i] {
			seen[strings.Clone(k.Next())] = true
		}
	}
	if got := bench.Distinct(keys, draws, count); got != len(seen) {
		t.Errorf("Distinct = %d, the run met %d", got, len(seen))
	}
	if err := bench.CheckDistinct(len(seen), 1_100, count); err != nil {
		t.Error(err)
	}
}

func TestCheckDistinctRefuses(t *testing.T) {
	for _, test := range []struct {
		name              string
		met, draws, count int
		ok                bool
	}{
		{"one key", 1, 1_000_000, 1, true},
		{"one draw", 1, 1, 4_000_000, true},
		{"every key", 100_000, 100_000_000, 100_000, true},
		{"one of many", 1, 1_000_000, 100_000, false},
		{"half of them", 50_000, 10_000_000, 100_000, false},
		{"more than there are", 11, 1_000, 10, false},
	} {
		if err := bench.CheckDistinct(test.met, test.draws, test.count); (err == nil) != test.ok {
			t.Errorf("%s: CheckDistinct(%d, %d, %d) = %v", test.name, test.met, test.draws, test.count, err)
		}
	}
}
