package samples

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// confidence is the level of all intervals.
const confidence = 0.95

// Summary is a median and its confidence interval. With fewer than six samples
// the interval is open: lo -Inf, hi +Inf.
type Summary struct {
	N              int
	Median, Lo, Hi float64
}

// Summarize returns the median of values, which it leaves as they are.
func Summarize(values []float64) Summary { return SummarizeAt(values, confidence) }

// SummarizeAt is Summarize with another confidence, above 0 and below 1. Too few
// samples for it leave the interval open.
func SummarizeAt(values []float64, confidence float64) Summary {
	thresholds := benchmath.DefaultThresholds
	sample := benchmath.NewSample(slices.Clone(values), &thresholds)
	s := benchmath.AssumeNothing.Summary(sample, confidence)
	return Summary{N: len(values), Median: s.Center, Lo: s.Lo, Hi: s.Hi}
}

// Closed reports whether the interval has ends.
func (s Summary) Closed() bool { return !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) }

// RatioOf returns the ratio of values to the base's. Equally many samples are
// taken for pairs, run after run, each from the same minute: what slows both
// down cancels out, also where the machine has two modes. Otherwise it is the
// ratio of the medians with the widest interval that both intervals allow.
func RatioOf(values, base []float64) Summary {
	if len(values) == len(base) {
		ratios := make([]float64, len(values))
		for i := range values {
			ratios[i] = values[i] / base[i]
		}
		return Summarize(ratios)
	}
	over, under := Summarize(values), Summarize(base)
	ratio := Summary{N: min(over.N, under.N), Median: over.Median / under.Median, Lo: math.Inf(-1), Hi: math.Inf(1)}
	if over.Closed() && under.Closed() {
		ratio.Lo, ratio.Hi = over.Lo/under.Hi, over.Hi/under.Lo
	}
	return ratio
}
