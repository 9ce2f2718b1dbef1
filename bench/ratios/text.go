package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

// writeText prints one table for each unit, then the judgements.
func writeText(out io.Writer, rep *report) error {
	var units []string
	for _, l := range rep.lines {
		if !slices.Contains(units, l.row.Unit) {
			units = append(units, l.row.Unit)
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
		if l.row.Unit != unit {
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%s\t%s\n", l.row.Name(), l.row.Procs, l.N,
			samples.Number(l.Median), l.Interval(), ratioText(l.floor), ratioText(l.noclock))
	}
	fmt.Fprintln(table)
	return table.Flush()
}

func writeJudgements(out io.Writer, judgements []samples.Judgement) error {
	if len(judgements) == 0 {
		return nil
	}
	tally := map[samples.Verdict]int{}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "target\tprocs\tgot\twanted\tverdict")
	for _, j := range judgements {
		tally[j.Verdict]++
		fmt.Fprintln(table, judgementText(j))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%d met, %d missed, %d unproven, %d absent\n",
		tally[samples.Met], tally[samples.Missed], tally[samples.Unproven], tally[samples.Absent])
	return err
}

func judgementText(j samples.Judgement) string {
	if j.Row == nil {
		return fmt.Sprintf("%s\t\t\t%s\t%s", j.Target.Text, wanted(j), j.Verdict)
	}
	got := ""
	if j.Verdict != samples.Absent {
		got = samples.Number(j.Got.Median) + " " + j.Got.Interval()
	}
	return fmt.Sprintf("%s\t%d\t%s\t%s\t%s", j.Row.Name()+" "+j.Row.Unit, j.Row.Procs, got, wanted(j), j.Verdict)
}

// wanted returns the bound and what it is a multiple of.
func wanted(j samples.Judgement) string {
	sign := "<= "
	if j.Target.Strict {
		sign = "< "
	}
	text := sign + strconv.FormatFloat(j.Target.Bound, 'f', -1, 64)
	if len(j.Target.Relative) == 0 {
		return text
	}
	return text + " x " + reference(j)
}

// reference names the other row by the keys in which it differs.
func reference(j samples.Judgement) string {
	text := ""
	for i, change := range j.Target.Relative {
		if i > 0 {
			text += ","
		}
		value := change.Value
		if j.Other != nil {
			value, _ = j.Other.Get(change.Key)
		}
		text += change.Key + "=" + value
	}
	return text
}

func ratioText(s *samples.Summary) string {
	if s == nil {
		return "-"
	}
	return samples.Number(s.Median) + " " + s.Interval()
}
