package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench"
)

// notMeasured stands in the place of a table that no results are there for.
const notMeasured = "Not measured yet.\n"

// grid is texts by row and column, each in the order in which they were first set.
type grid struct {
	rows, columns []string
	cells         map[[2]string]string
}

// set sets a cell. Its row and its column are new ones if they are not there.
func (g *grid) set(row, column, text string) {
	if !slices.Contains(g.rows, row) {
		g.rows = append(g.rows, row)
	}
	if !slices.Contains(g.columns, column) {
		g.columns = append(g.columns, column)
	}
	if g.cells == nil {
		g.cells = map[[2]string]string{}
	}
	g.cells[[2]string{row, column}] = text
}

// markdown returns the grid with a heading above the names of its rows. Columns that are
// numbers of keys stand in their order.
func (g *grid) markdown(heading string) string {
	if len(g.rows) == 0 {
		return notMeasured
	}
	columns := sortCounts(g.columns)
	var text strings.Builder
	text.WriteString("| " + heading + " |")
	for _, column := range columns {
		text.WriteString(" " + column + " |")
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", len(columns)) + "\n")
	for _, row := range g.rows {
		name := row
		if isOwn(row) {
			name = "**" + row + "**"
		}
		text.WriteString("| " + name + " |")
		for _, column := range columns {
			text.WriteString(" " + g.cells[[2]string{row, column}] + " |")
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
	slices.SortFunc(columns, func(a, b string) int { return cmp.Compare(countOf(a), countOf(b)) })
	return columns
}

func countOf(text string) int {
	count, err := bench.ParseCount(text)
	if err != nil {
		return 0
	}
	return count
}
