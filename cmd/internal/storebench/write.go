package storebench

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

// Failed returns an error if there is a row of which more calls failed than one in a hundred.
func (rep *Report) Failed() error {
	var errs []error
	for i := range rep.Rows {
		errs = append(errs, rep.Rows[i].failed())
	}
	return errors.Join(errs...)
}

// WriteTable writes the report for people.
func (rep *Report) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s\n", rep.Store, rep.About)
	fmt.Fprintf(w, "%d keys in turn under %s; deny: %s, used up\n", rep.Keys, rep.Limit, rep.DenyLimit)
	fmt.Fprintf(w, "%v a row, in turns; this machine: %s, %d processors\n\n", time.Duration(rep.ForNanos), rep.Go, rep.Processors)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "callers\tcalls/s\tp50\tp99\tp99.9\tx floor\tserver us\tstore calls\t  ")
	for i := range rep.Rows {
		r := &rep.Rows[i]
		if r.failing() {
			fmt.Fprintf(t, "%d\t-\t-\t-\t-\t-\t-\t-\t  %s\n", r.Callers, r.Name)
			continue
		}
		fmt.Fprintf(t, "%d\t%.0f\t%s\t%s\t%s\t%s\t%s\t%s\t  %s\n",
			r.Callers, r.PerSecond, short(r.P50Nanos), short(r.P99Nanos), short(r.P999Nanos),
			r.times(), decimals(r.ServerMicros, 2), decimals(r.StoreCalls, 4), r.Name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	rep.remarks(w)
	_, err := fmt.Fprintf(w, "removed %d keys\n", rep.Removed)
	return err
}

// remarks says what the figures mean, and what was not as it should be.
func (rep *Report) remarks(w io.Writer) {
	fmt.Fprintln(w)
	if floors := rep.floors(); floors != "" {
		fmt.Fprintf(w, "x floor: how many times as long a call takes as without penstock, the median of all turns%s\n", floors)
	}
	if slices.ContainsFunc(rep.Rows, func(r Row) bool { return r.ServerMicros != nil }) {
		fmt.Fprintln(w, "server us: the server's own time for a call, by its statistics, which count all its clients")
	}
	fmt.Fprintf(w, "hybrid: decided in this process on leases, %d keys in turn; "+
		"store calls: how many calls reach the store for each\n", hotKeys)
	for i := range rep.Rows {
		r := &rep.Rows[i]
		if r.Unexpected > 0 {
			fmt.Fprintf(w, "%s, %d callers: %d of %d calls %s\n", r.Name, r.Callers, r.Unexpected, r.Calls, r.otherwise())
		}
		if r.Errors > 0 && !r.failing() { // else Failed tells
			fmt.Fprintf(w, "%s, %d callers: %d of %d calls failed, the first: %s\n", r.Name, r.Callers, r.Errors, r.Calls, r.FirstError)
		}
	}
}

// otherwise says what the unexpected answers were.
func (r *Row) otherwise() string {
	if r.Name == wayDeny {
		return "passed, and are in these figures: somebody else resets the store, or it forgets"
	}
	return "were refused, and are in these figures: give a larger --limit"
}

// floors says what each row is compared with.
func (rep *Report) floors() (text string) {
	for _, name := range []string{wayAllow, wayDeny, wayHybrid} {
		i := slices.IndexFunc(rep.Rows, func(r Row) bool { return r.Name == name && r.Floor != "" })
		if i >= 0 {
			text += fmt.Sprintf("; %s: %s", name, rep.Rows[i].Floor)
		}
	}
	return text
}

func (r *Row) times() string {
	switch {
	case r.Floor == "":
		return "-"
	case r.Times < 0.1:
		return strconv.FormatFloat(r.Times, 'f', 4, 64)
	}
	return strconv.FormatFloat(r.Times, 'f', 2, 64)
}

func decimals(n *float64, digits int) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatFloat(*n, 'f', digits, 64)
}

// short writes a duration with three digits.
func short(nanos int64) string {
	d := time.Duration(nanos)
	for grain := time.Duration(1); ; grain *= 10 {
		if d < 1000*grain {
			return d.Round(grain).String()
		}
	}
}
