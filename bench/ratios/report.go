package main

import (
	"regexp"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

// report is everything to print.
type report struct {
	lines      []line
	judgements []samples.Judgement
}

// line is one row of the table.
type line struct {
	row *samples.Row
	samples.Summary
	floor   *samples.Summary // ratio to the floor with its clock; nil if not measured
	noclock *samples.Summary // ratio to the floor without its clock; nil if not measured
}

func newReport(rows []*samples.Row, targets []samples.Target, units *regexp.Regexp) *report {
	var rep report
	byID := make(map[string]*samples.Row, len(rows))
	for _, r := range rows {
		byID[r.ID()] = r
	}
	for _, r := range rows {
		if units.MatchString(r.Unit) {
			rep.lines = append(rep.lines, newLine(r, byID))
		}
	}
	for i := range targets {
		rep.judgements = append(rep.judgements, targets[i].Judge(rows)...)
	}
	return &rep
}

func newLine(r *samples.Row, byID map[string]*samples.Row) line {
	l := line{row: r, Summary: samples.Summarize(r.Values)}
	if limiter, has := r.Get("limiter"); has && limiter != samples.FloorName && r.Unit == "ns/op" {
		l.floor = floorRatio(r, "exact", byID)
		l.noclock = floorRatio(r, "none", byID)
	}
	return l
}

// floorRatio returns the ratio of r to the floor with the named clock.
func floorRatio(r *samples.Row, clock string, byID map[string]*samples.Row) *samples.Summary {
	floor := byID[r.With([]samples.Pair{{Key: "limiter", Value: samples.FloorName}, {Key: "clock", Value: clock}})]
	if floor == nil {
		return nil
	}
	ratio := samples.RatioOf(r.Values, floor.Values)
	return &ratio
}

// fails reports whether a target is missed; with all, also whether one could not
// be judged.
func (rep *report) fails(all bool) bool {
	for _, j := range rep.judgements {
		if j.Verdict == samples.Missed || all && j.Verdict != samples.Met {
			return true
		}
	}
	return false
}
