package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/internal/samples"
)

// notMeasured stands in the place of a table that no results are there for.
const notMeasured = "Not measured yet.\n"

// missedMark follows the number of a row that misses a target.
const missedMark = " †"

// table is a table of medians: a line for each limiter, a column for each value of
// a key or, if there is none, each unit.
type table struct {
	base   string
	units  []string // more than one: the columns
	column string   // the key of the columns; only with one unit
	procs  int
	fixed  []samples.Pair
}

// markdown returns the table.
func (t table) markdown(r *results) string {
	var lines []string // labels in order
	columns := t.units
	if t.column != "" {
		columns = nil
	}
	cells := map[[2]string]string{}
	for _, unit := range t.units {
		for _, row := range r.find(t.base, unit, t.procs, t.fixed...) {
			column := unit
			if t.column != "" {
				column, _ = row.Get(t.column)
			}
			if !slices.Contains(columns, column) {
				columns = append(columns, column)
			}
			name := label(row.Row)
			if !slices.Contains(lines, name) {
				lines = append(lines, name)
			}
			cells[[2]string{name, column}] = r.cell(row)
		}
	}
	if len(lines) == 0 {
		return notMeasured
	}
	return layOut(t.heading(), lines, sortCounts(columns), cells)
}

// heading is what stands above the limiters.
func (t table) heading() string {
	if t.column == "" {
		return "limiter"
	}
	return t.units[0] + " by " + t.column
}

// cell is a median, with its ratio to the floor for times of penstock's.
func (r *results) cell(row shown) string {
	text := samples.Number(samples.Summarize(row.Values).Median)
	if row.Unit == "ns/op" && isOwn(label(row.Row)) {
		if ratio := r.floorRatio(row); ratio != "" {
			text += " (" + ratio + ")"
		}
	}
	if r.misses(row) {
		text += missedMark
	}
	return text
}

// floorRatio is the row's ratio to the floor of its own file, or "".
func (r *results) floorRatio(row shown) string {
	id := row.With([]samples.Pair{{Key: "limiter", Value: samples.FloorName}, {Key: "clock", Value: "exact"}})
	at := slices.IndexFunc(row.from.rows, func(other *samples.Row) bool { return other.ID() == id })
	if at < 0 {
		return ""
	}
	return fmt.Sprintf("%.2fx", samples.RatioOf(row.Values, row.from.rows[at].Values).Median)
}

func layOut(heading string, lines, columns []string, cells map[[2]string]string) string {
	var text strings.Builder
	text.WriteString("| " + heading + " |")
	for _, column := range columns {
		text.WriteString(" " + column + " |")
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", len(columns)) + "\n")
	for _, line := range lines {
		name := line
		if isOwn(line) {
			name = "**" + line + "**"
		}
		text.WriteString("| " + name + " |")
		for _, column := range columns {
			text.WriteString(" " + cells[[2]string{line, column}] + " |")
		}
		text.WriteString("\n")
	}
	return text.String()
}

// sortCounts puts columns that are numbers of keys in order, and leaves others.
func sortCounts(columns []string) []string {
	for _, column := range columns {
		if _, err := bench.ParseCount(column); err != nil {
			return columns
		}
	}
	slices.SortFunc(columns, func(a, b string) int { return countOf(a) - countOf(b) })
	return columns
}

func countOf(text string) int {
	count, err := bench.ParseCount(text)
	if err != nil {
		return 0
	}
	return count
}
