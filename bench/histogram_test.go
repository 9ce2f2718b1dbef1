package bench_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/stretchr/testify/require"
)

// TestQuantilesAgainstSort compares every quantile with the sorted values:
// never below the order statistic, at most 1/64 above.
func TestQuantilesAgainstSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() uint64{
		"small":   func() uint64 { return random.Uint64N(128) },
		"latency": func() uint64 { return uint64(math.Exp(random.NormFloat64()*2 + 5)) },
		"all":     func() uint64 { return random.Uint64() >> random.UintN(64) },
		"equal":   func() uint64 { return 352 },
	} {
		t.Run(name, func(t *testing.T) {
			values := make([]uint64, 20_011) // prime: no rank is whole
			var histogram bench.Histogram
			for i := range values {
				values[i] = draw()
				histogram.Record(values[i])
			}
			slices.Sort(values)
			compareQuantiles(t, &histogram, values)
		})
	}
}

func compareQuantiles(t *testing.T, histogram *bench.Histogram, sorted []uint64) {
	t.Helper()
	for _, q := range []float64{0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1} {
		rank := max(int(math.Ceil(q*float64(len(sorted)))), 1)
		exact := sorted[rank-1]
		got := histogram.Quantile(q)
		if got < exact || got-exact > exact/64 {
			t.Errorf("Quantile(%v) = %d, the sorted values say %d", q, got, exact)
		}
	}
	if histogram.Max() != sorted[len(sorted)-1] {
		t.Errorf("Max = %d, want %d", histogram.Max(), sorted[len(sorted)-1])
	}
	if histogram.Total() != uint64(len(sorted)) {
		t.Errorf("Total = %d, want %d", histogram.Total(), len(sorted))
	}
}

func TestHistogramEdges(t *testing.T) {
	var empty bench.Histogram
	if empty.Quantile(0.5) != 0 || empty.Max() != 0 {
		t.Error("an empty histogram has quantiles")
	}
	for _, value := range []uint64{0, 1, 127, 128, 129, 255, 256, 1 << 32, math.MaxUint64} {
		var one bench.Histogram
		one.Record(value)
		if got := one.Quantile(0.5); got != value {
			t.Errorf("the median of %d alone is %d", value, got)
		}
	}
}

func TestHistogramAdd(t *testing.T) {
	var a, b bench.Histogram
	for _, value := range []uint64{1, 5, 1000} {
		a.Record(value)
	}
	for _, value := range []uint64{7, 1 << 40} {
		b.Record(value)
	}
	a.Add(&b)
	require.Equal(t, uint64(5), a.Total())
	require.Equal(t, uint64(1<<40), a.Max())
	require.Equal(t, uint64(7), a.Quantile(0.6))
	a.Reset()
	require.Zero(t, a.Total())
	require.Zero(t, a.Quantile(1))
}
