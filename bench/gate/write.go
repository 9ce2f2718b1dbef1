package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

// writeText prints a table and a sentence.
func writeText(out io.Writer, rep *report) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "row\tbase x floor\thead x floor\tchange\tinterval\tp\tinstructions\tverdict")
	for _, c := range rep.rows {
		count := "-"
		if c.counted() {
			count = fmt.Sprintf("%.0f to %.0f (%+.1f %%)", c.baseCount, c.headCount, 100*(c.headCount/c.baseCount-1))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%+.1f %%\t%s\t%.3f\t%s\t%s\n", c.name, samples.Number(c.base.Median),
			samples.Number(c.head.Median), 100*(c.change.Median-1), c.change.Interval(), c.p, count, c.verdict)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if rep.note != "" {
		fmt.Fprintf(out, "\nwithout instructions: %s\n", rep.note)
	}
	_, err := fmt.Fprintf(out, "\n%s\n", rep.sentence())
	return err
}

// sentence is the result in words: also of how many rows there is none.
func (rep *report) sentence() string {
	text := fmt.Sprintf("%d of %d rows are slower by more than %g %% beyond the noise",
		rep.count(regressed), len(rep.rows), rep.threshold)
	if wide := rep.count(unsure); wide > 0 {
		text += fmt.Sprintf("; of %d the noise is too wide to tell: try -rounds %d", wide, 2*rep.rows[0].change.N)
	}
	return text
}

// The JSON form. What was not measured, or has no end, is left out.
type jsonReport struct {
	Regressed bool      `json:"regressed"`
	Threshold float64   `json:"threshold_percent"`
	Note      string    `json:"without_instructions,omitempty"`
	Rows      []jsonRow `json:"rows"`
}

type jsonRow struct {
	Name             string   `json:"name"`
	Rounds           int      `json:"rounds"`
	Base             float64  `json:"base_x_floor"`
	Head             float64  `json:"head_x_floor"`
	Change           float64  `json:"change"`
	Low              *float64 `json:"low,omitempty"`
	High             *float64 `json:"high,omitempty"`
	P                float64  `json:"p"`
	BaseInstructions float64  `json:"base_instructions,omitempty"`
	HeadInstructions float64  `json:"head_instructions,omitempty"`
	Verdict          verdict  `json:"verdict"`
}

// writeJSON prints the report as one indented object.
func writeJSON(out io.Writer, rep *report) error {
	form := jsonReport{Regressed: rep.regressed(), Threshold: rep.threshold, Note: rep.note, Rows: []jsonRow{}}
	for _, c := range rep.rows {
		form.Rows = append(form.Rows, jsonRow{
			Name: c.name, Rounds: c.change.N, Base: c.base.Median, Head: c.head.Median, Change: c.change.Median,
			Low: finite(c.change.Lo), High: finite(c.change.Hi), P: c.p,
			BaseInstructions: c.baseCount, HeadInstructions: c.headCount, Verdict: c.verdict,
		})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(form)
}

func finite(value float64) *float64 {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return nil
	}
	return &value
}
