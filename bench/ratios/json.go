package main

import (
	"encoding/json"
	"io"
	"math"

	"github.com/penstock-go/penstock/bench/internal/samples"
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
	Target  string          `json:"target"`
	Line    int             `json:"line"`
	Verdict samples.Verdict `json:"verdict"`
	Row     string          `json:"row,omitempty"`
	Against string          `json:"against,omitempty"`
	Procs   int             `json:"procs,omitempty"`
	Got     *jsonSummary    `json:"got,omitempty"`
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
		Name: l.row.Name(), Benchmark: l.row.Base, Keys: map[string]string{},
		Procs: l.row.Procs, Unit: l.row.Unit, Value: *jsonOf(&l.Summary),
		Floor: jsonOf(l.floor), FloorNoClock: jsonOf(l.noclock),
	}
	for _, p := range l.row.Pairs {
		form.Keys[p.Key] = p.Value
	}
	return form
}

func jsonJudgement(j samples.Judgement) jsonTarget {
	form := jsonTarget{Target: j.Target.Text, Line: j.Target.Line, Verdict: j.Verdict}
	if j.Row != nil {
		form.Row, form.Procs = j.Row.Name(), j.Row.Procs
	}
	if j.Other != nil {
		form.Against = j.Other.Name()
	}
	if j.Verdict != samples.Absent {
		form.Got = jsonOf(&j.Got)
	}
	return form
}

func jsonOf(s *samples.Summary) *jsonSummary {
	if s == nil {
		return nil
	}
	return &jsonSummary{N: s.N, Median: finite(s.Median), Low: finite(s.Lo), High: finite(s.Hi)}
}

func finite(value float64) *float64 {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return nil
	}
	return &value
}
