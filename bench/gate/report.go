package main

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

const (
	// unit is what is compared.
	unit = "x-floor"
	// level is the most that the chance may be that any row of an unchanged tree has its
	// interval above 1 or below. It is divided evenly among the rows (Bonferroni): the chance
	// of any is at most the sum of all, however the rows hang together.
	level = 0.05
)

// verdict is how a row stands.
type verdict string

const (
	regressed verdict = "REGRESSED" // slower beyond the threshold and the noise
	faster    verdict = "faster"    // beyond the noise
	unchanged verdict = "unchanged" // certainly not slower beyond the threshold
	unsure    verdict = "unsure"    // the noise is wider than the threshold
)

// report is everything to print.
type report struct {
	threshold float64 // percent
	rows      []*comparison
	note      string // why there are no instructions; empty if there are
}

// comparison is a row of both.
type comparison struct {
	name       string
	base, head samples.Summary
	change     samples.Summary // head by base, of equal rounds
	p          float64         // of the U test on all rounds of both
	baseCount  float64         // instructions a call; 0 if not counted
	headCount  float64
	verdict    verdict
}

// pair is a row as both revisions have it, with equally many values.
type pair struct{ base, head *samples.Row }

// newReport compares the rows that both have; to have none in common is an error.
func newReport(base, head []*samples.Row, threshold float64) (*report, error) {
	pairs, err := pairUp(base, head)
	if err != nil {
		return nil, err
	}
	rep := &report{threshold: threshold}
	confidence := 1 - level/float64(len(pairs))
	for _, p := range pairs {
		rep.rows = append(rep.rows, &comparison{
			name: p.head.Name(), base: samples.Summarize(p.base.Values), head: samples.Summarize(p.head.Values),
			change: ratioOf(p, confidence), p: uTest(p.base.Values, p.head.Values),
		})
	}
	rep.judge()
	return rep, nil
}

// pairUp finds what is compared: in the order of head, of at least one row.
func pairUp(base, head []*samples.Row) ([]pair, error) {
	var pairs []pair
	for _, after := range head {
		at := slices.IndexFunc(base, func(r *samples.Row) bool { return r.ID() == after.ID() })
		if after.Unit != unit || at < 0 {
			continue
		}
		before := base[at]
		if len(before.Values) != len(after.Values) {
			return nil, fmt.Errorf("%s: %d rounds of base, %d of head: every round must run both",
				after.Name(), len(before.Values), len(after.Values))
		}
		pairs = append(pairs, pair{before, after})
	}
	if len(pairs) == 0 {
		return nil, errors.New("no row with x-floor in both results: want the output of BenchmarkGate")
	}
	return pairs, nil
}

// uTest returns the probability that two samples of one distribution differ as
// much as these.
func uTest(base, head []float64) float64 {
	thresholds := benchmath.DefaultThresholds
	return benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(base), &thresholds),
		benchmath.NewSample(slices.Clone(head), &thresholds)).P
}

// ratioOf returns the median of head by base over equal rounds, with its interval.
func ratioOf(p pair, confidence float64) samples.Summary {
	ratios := make([]float64, len(p.base.Values))
	for i, before := range p.base.Values {
		ratios[i] = p.head.Values[i] / before
	}
	return samples.SummarizeAt(ratios, confidence)
}

// judge sets the verdicts, from all that has been measured so far.
func (rep *report) judge() {
	limit := 1 + rep.threshold/100
	for _, c := range rep.rows {
		switch {
		case c.change.Lo > 1 && c.change.Median > limit:
			c.verdict = regressed
		case c.change.Hi < 1:
			c.verdict = faster
		case c.change.Hi <= limit || c.change.Lo > 1:
			c.verdict = unchanged
		case c.counted() && c.headCount > limit*c.baseCount:
			c.verdict = regressed
		default:
			c.verdict = unsure
		}
	}
}

// counted reports whether the row's instructions are known.
func (c *comparison) counted() bool { return c.baseCount > 0 && c.headCount > 0 }

// regressed reports whether any row has.
func (rep *report) regressed() bool { return rep.count(regressed) > 0 }

// count returns how many rows have a verdict.
func (rep *report) count(v verdict) (n int) {
	for _, c := range rep.rows {
		if c.verdict == v {
			n++
		}
	}
	return n
}
