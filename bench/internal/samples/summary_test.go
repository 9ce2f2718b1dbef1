package samples

import (
	"math"
	"testing"
)

// TestPairedRatioSeesThroughModes: on a machine with two modes the ratio of
// medians says nothing, the median of ratios does.
func TestPairedRatioSeesThroughModes(t *testing.T) {
	base := []float64{10, 20, 10, 20, 10, 20, 10, 20}
	values := []float64{11, 22, 11, 22, 11, 22, 11, 22}
	got := RatioOf(values, base)
	if math.Abs(got.Median-1.1) > 1e-9 || got.Hi-got.Lo > 1e-9 {
		t.Errorf("paired ratio %+v, want 1.1 without width", got)
	}
}

func TestUnpairedRatioIsWide(t *testing.T) {
	values := []float64{20, 21, 22, 23, 24, 25, 26}
	base := []float64{10, 10, 10, 10, 10, 10, 10, 10}
	got := RatioOf(values, base)
	if got.Median != 2.3 || got.Lo != 2.0 || got.Hi != 2.6 {
		t.Errorf("unpaired ratio %+v, want 2.3 [2.0, 2.6]", got)
	}
	if open := RatioOf(values[:3], base); open.Closed() {
		t.Errorf("three samples have a closed interval: %+v", open)
	}
}

func TestSummarizeKeepsTheOrder(t *testing.T) {
	values := []float64{3, 1, 2}
	if got := Summarize(values); got.Median != 2 || got.N != 3 || got.Closed() {
		t.Errorf("summary %+v", got)
	}
	if values[0] != 3 {
		t.Error("summarize sorted its argument: pairs are lost")
	}
}

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 1.15: "1.150", 52: "52.00", 352.4: "352.4", 1234.5: "1234", 0.01: "0.01000", 5e6: "5000000",
		0.0000012345: "0.000001", 999.96: "1000.0",
	} {
		if got := Number(value); got != want {
			t.Errorf("Number(%v) = %q, want %q", value, got, want)
		}
	}
	if Number(math.NaN()) != "?" || Number(math.Inf(1)) != "?" {
		t.Error("a ratio to zero must print ?")
	}
}
