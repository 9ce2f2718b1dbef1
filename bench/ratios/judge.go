package main

import "slices"

// verdict is how a target stands.
type verdict string

const (
	met      verdict = "met"
	missed   verdict = "MISSED"   // beyond the noise
	unproven verdict = "unproven" // the interval holds the bound, or is open
	absent   verdict = "absent"   // no such row, or no row to compare it with
)

// judgement is a target's verdict on one row, against one other row if it is a
// ratio.
type judgement struct {
	target  *target
	verdict verdict
	row     *row // nil if absent
	other   *row // nil if absolute or absent
	got     summary
}

// decide returns the verdict on a value with its interval.
func (t *target) decide(got summary) verdict {
	switch {
	case t.strict && got.hi < t.bound:
		return met
	case t.strict && got.lo >= t.bound:
		return missed
	case t.strict:
		return unproven
	case got.median <= t.bound:
		return met
	case got.lo > t.bound:
		return missed
	}
	return unproven
}

// judge returns the target's judgements on rows, at least one.
func (t *target) judge(rows []*row) []judgement {
	var judgements []judgement
	for _, r := range rows {
		if !t.matches(r) {
			continue
		}
		if len(t.relative) == 0 {
			got := summarize(r.values)
			judgements = append(judgements, judgement{target: t, verdict: t.decide(got), row: r, got: got})
			continue
		}
		others := t.others(r, rows)
		if len(others) == 0 {
			judgements = append(judgements, judgement{target: t, verdict: absent, row: r})
		}
		for _, other := range others {
			got := ratioOf(r.values, other.values)
			judgements = append(judgements, judgement{target: t, verdict: t.decide(got), row: r, other: other, got: got})
		}
	}
	if len(judgements) == 0 {
		judgements = append(judgements, judgement{target: t, verdict: absent})
	}
	return judgements
}

// others returns the rows that r is to be compared with.
func (t *target) others(r *row, rows []*row) []*row {
	var found []*row
	changes := slices.Clone(t.relative)
	star := slices.IndexFunc(changes, func(p pair) bool { return p == pair{"limiter", "*"} })
	own, _ := r.get("limiter")
	for _, candidate := range rows {
		if star >= 0 {
			limiter, _ := candidate.get("limiter")
			if limiter == own || limiter == floorName {
				continue
			}
			changes[star].value = limiter
		}
		if r.with(changes) == candidate.id() {
			found = append(found, candidate)
		}
	}
	return found
}
