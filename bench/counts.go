package bench

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// Environment variables that change how many keys the benchmarks hold.
const (
	// KeysEnv lists the key counts of the decision rows, for example
	// "1,1k,100k,1M,4M" (the default).
	KeysEnv = "PENSTOCK_BENCH_KEYS"
	// FullEnv is the key count of the insert, tail, memory and GC rows, for
	// example "10M" (default "4M").
	FullEnv = "PENSTOCK_BENCH_FULL"
)

// Counts returns the key counts of the decision rows.
func Counts() ([]int, error) {
	var counts []int
	for text := range strings.SplitSeq(envOr(KeysEnv, "1,1k,100k,1M,4M"), ",") {
		count, err := ParseCount(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%w (in %s)", err, KeysEnv)
		}
		counts = append(counts, count)
	}
	return counts, nil
}

// Full returns the key count of the insert, tail, memory and GC rows.
func Full() (int, error) {
	count, err := ParseCount(envOr(FullEnv, "4M"))
	if err != nil {
		return 0, fmt.Errorf("%w (in %s)", err, FullEnv)
	}
	return count, nil
}

func envOr(name, fallback string) string {
	if text := os.Getenv(name); text != "" {
		return text
	}
	return fallback
}

// ParseCount reads a count of at least 1 with an optional suffix k (1,000) or M
// (1,000,000).
func ParseCount(text string) (int, error) {
	digits, scale := text, 1
	switch {
	case strings.HasSuffix(text, "k"):
		digits, scale = strings.TrimSuffix(text, "k"), 1_000
	case strings.HasSuffix(text, "M"):
		digits, scale = strings.TrimSuffix(text, "M"), 1_000_000
	}
	number, err := strconv.Atoi(digits)
	if err != nil || number < 1 || number > math.MaxInt32/scale {
		return 0, fmt.Errorf("bench: bad key count %q: want a whole number from 1 to %d, with k or M after it if you like",
			text, math.MaxInt32)
	}
	return number * scale, nil
}

// FormatCount writes a count the way ParseCount reads it, as short as it can be
// without rounding.
func FormatCount(count int) string {
	switch {
	case count%1_000_000 == 0 && count > 0:
		return strconv.Itoa(count/1_000_000) + "M"
	case count%1_000 == 0 && count > 0:
		return strconv.Itoa(count/1_000) + "k"
	}
	return strconv.Itoa(count)
}

// Geometric returns n counts from low to high (n >= 2, 1 <= low <= high), each
// the same factor above the one before, rounded to whole numbers.
func Geometric(low, high, n int) []int {
	counts := make([]int, n)
	factor := math.Log(float64(high) / float64(low))
	for i := range counts {
		counts[i] = int(math.Round(float64(low) * math.Exp(factor*float64(i)/float64(n-1))))
	}
	counts[n-1] = high
	return counts
}
