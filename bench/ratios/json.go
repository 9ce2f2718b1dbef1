package main

import (
	"encoding/json"
	"io"
	"math"
)

// The JSON form. Numbers that do not exist (an open interval, a ratio to what
// was not measured) are left out.
type jsonReport struct {
	Rows    []jsonRow    `json:"rows"`
	Targets []jsonTarget `json:"targets,omitempty"`
}

type jsonRow struct {
	Name         string            `json:"name"`
	Benchmark    string            `json:"benchmark"`
	Keys         map[string]string `json:"config"`
	Procs        int               `json:"procs"`
	Unit         string            `json:"unit"`
	Value        jsonSummary       `json:"value"`
	Floor        *jsonSummary      `json:"x_floor,omitempty"`
	FloorNoClock *jsonSummary      `json:"x_floor_without_clock,omitempty"`
}

type jsonSummary struct {
	N      int      `json:"n"`
	Median *float64 `json:"median,omitempty"`
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
}

type jsonTarget struct {
	Target  string       `json:"target"`
	Line    int          `json:"line"`
	Verdict verdict      `json:"verdict"`
	Row     string       `json:"row,omitempty"`
	Against string       `json:"against,omitempty"`
	Procs   int          `json:"procs,omitempty"`
	Got     *jsonSummary `json:"got,omitempty"`
}

// writeJSON prints the report as one indented object.
func writeJSON(out io.Writer, rep *report) error {
	form := jsonReport{Rows: []jsonRow{}}
	for _, l := range rep.lines {
		form.Rows = append(form.Rows, jsonLine(l))
	}
	for _, j := range rep.judgements {
		form.Targets = append(form.Targets, jsonJudgement(j))
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(form)
}

func jsonLine(l line) jsonRow {
	form := jsonRow{
		Name: l.row.name(), Benchmark: l.row.base, Keys: map[string]string{},
		Procs: l.row.procs, Unit: l.row.unit, Value: *jsonOf(&l.summary),
		Floor: jsonOf(l.floor), FloorNoClock: jsonOf(l.noclock),
	}
	for _, p := range l.row.pairs {
		form.Keys[p.key] = p.value
	}
	return form
}

func jsonJudgement(j judgement) jsonTarget {
	form := jsonTarget{Target: j.target.text, Line: j.target.line, Verdict: j.verdict}
	if j.row != nil {
		form.Row, form.Procs = j.row.name(), j.row.procs
	}
	if j.other != nil {
		form.Against = j.other.name()
	}
	if j.verdict != absent {
		form.Got = jsonOf(&j.got)
	}
	return form
}

func jsonOf(s *summary) *jsonSummary {
	if s == nil {
		return nil
	}
	return &jsonSummary{N: s.n, Median: finite(s.median), Low: finite(s.lo), High: finite(s.hi)}
}

func finite(value float64) *float64 {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return nil
	}
	return &value
}
