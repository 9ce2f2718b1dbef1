package main

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

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
	var g grid
	if t.column == "" {
		g.columns = t.units
	}
	for _, unit := range t.units {
		for _, row := range r.find(t.base, unit, t.procs, t.fixed...) {
			column := unit
			if t.column != "" {
				column, _ = row.Get(t.column)
			}
			g.set(label(row.Row), column, r.cell(row))
		}
	}
	return g.markdown(t.heading())
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
