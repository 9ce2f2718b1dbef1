package samples

import "slices"

// Verdict is how a target stands.
type Verdict string

// The verdicts.
const (
	Met      Verdict = "met"
	Missed   Verdict = "MISSED"   // beyond the noise
	Unproven Verdict = "unproven" // the interval holds the bound, or is open
	Absent   Verdict = "absent"   // no such row, or no row to compare it with
)

// Judgement is a target's verdict on one row, against one other row if it is a
// ratio.
type Judgement struct {
	Target  *Target
	Verdict Verdict
	Row     *Row // nil if absent
	Other   *Row // nil if absolute or absent
	Got     Summary
}

// decide returns the verdict on a value with its interval.
func (t *Target) decide(got Summary) Verdict {
	switch {
	case t.Strict && got.Hi < t.Bound:
		return Met
	case t.Strict && got.Lo >= t.Bound:
		return Missed
	case t.Strict:
		return Unproven
	case got.Median <= t.Bound:
		return Met
	case got.Lo > t.Bound:
		return Missed
	}
	return Unproven
}

// Judge returns the target's judgements on rows, at least one.
func (t *Target) Judge(rows []*Row) []Judgement {
	var judgements []Judgement
	for _, r := range rows {
		if !t.matches(r) {
			continue
		}
		if len(t.Relative) == 0 {
			got := Summarize(r.Values)
			judgements = append(judgements, Judgement{Target: t, Verdict: t.decide(got), Row: r, Got: got})
			continue
		}
		others := t.others(r, rows)
		if len(others) == 0 {
			judgements = append(judgements, Judgement{Target: t, Verdict: Absent, Row: r})
		}
		for _, other := range others {
			got := RatioOf(r.Values, other.Values)
			judgements = append(judgements, Judgement{Target: t, Verdict: t.decide(got), Row: r, Other: other, Got: got})
		}
	}
	if len(judgements) == 0 {
		judgements = append(judgements, Judgement{Target: t, Verdict: Absent})
	}
	return judgements
}

// others returns the rows that r is to be compared with.
func (t *Target) others(r *Row, rows []*Row) []*Row {
	var found []*Row
	changes := slices.Clone(t.Relative)
	star := slices.IndexFunc(changes, func(p Pair) bool { return p == Pair{"limiter", "*"} })
	own, _ := r.Get("limiter")
	for _, candidate := range rows {
		if star >= 0 {
			limiter, _ := candidate.Get("limiter")
			if limiter == own || limiter == FloorName {
				continue
			}
			changes[star].Value = limiter
		}
		if r.With(changes) == candidate.ID() {
			found = append(found, candidate)
		}
	}
	return found
}
