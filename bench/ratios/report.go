package main

import "regexp"

// floorName is the limiter= of the floor's rows.
const floorName = "floor"

// report is everything to print.
type report struct {
	lines      []line
	judgements []judgement
}

// line is one row of the table.
type line struct {
	row *row
	summary
	floor   *summary // ratio to the floor with its clock; nil if not measured
	noclock *summary // ratio to the floor without its clock; nil if not measured
}

func newReport(rows []*row, targets []target, units *regexp.Regexp) *report {
	var rep report
	byID := make(map[string]*row, len(rows))
	for _, r := range rows {
		byID[r.id()] = r
	}
	for _, r := range rows {
		if units.MatchString(r.unit) {
			rep.lines = append(rep.lines, newLine(r, byID))
		}
	}
	for i := range targets {
		rep.judgements = append(rep.judgements, targets[i].judge(rows)...)
	}
	return &rep
}

func newLine(r *row, byID map[string]*row) line {
	l := line{row: r, summary: summarize(r.values)}
	if limiter, has := r.get("limiter"); has && limiter != floorName && r.unit == "ns/op" {
		l.floor = floorRatio(r, "exact", byID)
		l.noclock = floorRatio(r, "none", byID)
	}
	return l
}

// floorRatio returns the ratio of r to the floor with the named clock.
func floorRatio(r *row, clock string, byID map[string]*row) *summary {
	floor := byID[r.with([]pair{{"limiter", floorName}, {"clock", clock}})]
	if floor == nil {
		return nil
	}
	ratio := ratioOf(r.values, floor.values)
	return &ratio
}

// fails reports whether a target is missed; with all, also whether one could not
// be judged.
func (rep *report) fails(all bool) bool {
	for _, j := range rep.judgements {
		if j.verdict == missed || all && j.verdict != met {
			return true
		}
	}
	return false
}
