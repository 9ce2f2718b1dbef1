package main

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// confidence is the level of all intervals.
const confidence = 0.95

// summary is a median and its confidence interval. With fewer than six samples
// the interval is open: lo -Inf, hi +Inf.
type summary struct {
	n              int
	median, lo, hi float64
}

// summarize returns the median of values, which it leaves as they are.
func summarize(values []float64) summary {
	thresholds := benchmath.DefaultThresholds
	sample := benchmath.NewSample(slices.Clone(values), &thresholds)
	s := benchmath.AssumeNothing.Summary(sample, confidence)
	return summary{n: len(values), median: s.Center, lo: s.Lo, hi: s.Hi}
}

// closed reports whether the interval has ends.
func (s summary) closed() bool { return !math.IsInf(s.lo, 0) && !math.IsInf(s.hi, 0) }

// ratioOf returns the ratio of values to the base's. Equally many samples are
// taken for pairs, run after run, each from the same minute: what slows both
// down cancels out, also where the machine has two modes. Otherwise it is the
// ratio of the medians with the widest interval that both intervals allow.
func ratioOf(values, base []float64) summary {
	if len(values) == len(base) {
		ratios := make([]float64, len(values))
		for i := range values {
			ratios[i] = values[i] / base[i]
		}
		return summarize(ratios)
	}
	over, under := summarize(values), summarize(base)
	ratio := summary{n: min(over.n, under.n), median: over.median / under.median, lo: math.Inf(-1), hi: math.Inf(1)}
	if over.closed() && under.closed() {
		ratio.lo, ratio.hi = over.lo/under.hi, over.hi/under.lo
	}
	return ratio
}
