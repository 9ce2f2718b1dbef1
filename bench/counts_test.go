package bench_test

import (
	"slices"
	"testing"

	"github.com/penstock-go/penstock/bench"
)

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int{
		"1": 1, "1k": 1_000, "100k": 100_000, "4M": 4_000_000, "123456": 123_456,
		"": 0, "0": 0, "-1": 0, "k": 0, "1.5M": 0, "4m": 0, "3000M": 0, "99999999999999999999": 0,
	} {
		got, err := bench.ParseCount(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("ParseCount(%q) = %d, %v; want %d", text, got, err, want)
		}
		if want > 0 && bench.FormatCount(want) != text {
			t.Errorf("FormatCount(%d) = %q, want %q", want, bench.FormatCount(want), text)
		}
	}
}

func TestCountsFromEnvironment(t *testing.T) {
	t.Setenv(bench.KeysEnv, "1, 10k,2M")
	got, err := bench.Counts()
	if want := []int{1, 10_000, 2_000_000}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Counts = %v, %v; want %v", got, err, want)
	}
	t.Setenv(bench.KeysEnv, "1,many")
	if _, err := bench.Counts(); err == nil {
		t.Error("Counts accepted \"many\"")
	}
	t.Setenv(bench.FullEnv, "10M")
	if full, err := bench.Full(); err != nil || full != 10_000_000 {
		t.Errorf("Full = %d, %v; want 10M", full, err)
	}
}

func TestGeometric(t *testing.T) {
	counts := bench.Geometric(100_000, 4_000_000, 20)
	if len(counts) != 20 || counts[0] != 100_000 || counts[19] != 4_000_000 {
		t.Fatalf("Geometric = %v", counts)
	}
	for i := 1; i < len(counts); i++ {
		// The 19th root of 40 is 1.2143.
		if factor := float64(counts[i]) / float64(counts[i-1]); factor < 1.214 || factor > 1.215 {
			t.Errorf("step %d is a factor of %f", i, factor)
		}
	}
}
