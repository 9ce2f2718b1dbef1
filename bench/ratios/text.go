package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"
)

// writeText prints one table for each unit, then the judgements.
func writeText(out io.Writer, rep *report) error {
	var units []string
	for _, l := range rep.lines {
		if !slices.Contains(units, l.row.unit) {
			units = append(units, l.row.unit)
		}
	}
	for _, unit := range units {
		if err := writeUnit(out, rep, unit); err != nil {
			return err
		}
	}
	return writeJudgements(out, rep.judgements)
}

func writeUnit(out io.Writer, rep *report, unit string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tprocs\tn\tmedian\t95%% interval\tx floor\tx floor without clock\n", unit)
	for _, l := range rep.lines {
		if l.row.unit != unit {
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%s\t%s\n", l.row.name(), l.row.procs, l.n,
			number(l.median), interval(l.summary), ratioText(l.floor), ratioText(l.noclock))
	}
	fmt.Fprintln(table)
	return table.Flush()
}

func writeJudgements(out io.Writer, judgements []judgement) error {
	if len(judgements) == 0 {
		return nil
	}
	tally := map[verdict]int{}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "target\tprocs\tgot\twanted\tverdict")
	for _, j := range judgements {
		tally[j.verdict]++
		fmt.Fprintln(table, judgementText(j))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%d met, %d missed, %d unproven, %d absent\n",
		tally[met], tally[missed], tally[unproven], tally[absent])
	return err
}

func judgementText(j judgement) string {
	if j.row == nil {
		return fmt.Sprintf("%s\t\t\t%s\t%s", j.target.text, wanted(j), j.verdict)
	}
	got := ""
	if j.verdict != absent {
		got = number(j.got.median) + " " + interval(j.got)
	}
	return fmt.Sprintf("%s\t%d\t%s\t%s\t%s", j.row.name()+" "+j.row.unit, j.row.procs, got, wanted(j), j.verdict)
}

// wanted returns the bound and what it is a multiple of.
func wanted(j judgement) string {
	sign := "<= "
	if j.target.strict {
		sign = "< "
	}
	text := sign + strconv.FormatFloat(j.target.bound, 'f', -1, 64)
	if len(j.target.relative) == 0 {
		return text
	}
	return text + " x " + reference(j)
}

// reference names the other row by the keys in which it differs.
func reference(j judgement) string {
	text := ""
	for i, change := range j.target.relative {
		if i > 0 {
			text += ","
		}
		value := change.value
		if j.other != nil {
			value, _ = j.other.get(change.key)
		}
		text += change.key + "=" + value
	}
	return text
}

// number prints four significant digits, never an exponent.
func number(value float64) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return "?" // a ratio to zero
	}
	if value == 0 || math.Abs(value) >= 1_000 {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	digits := 3 - int(math.Floor(math.Log10(math.Abs(value))))
	return strconv.FormatFloat(value, 'f', min(digits, 6), 64)
}

func interval(s summary) string {
	if !s.closed() {
		return "[n<6]"
	}
	return "[" + number(s.lo) + ", " + number(s.hi) + "]"
}

func ratioText(s *summary) string {
	if s == nil {
		return "-"
	}
	return number(s.median) + " " + interval(*s)
}
