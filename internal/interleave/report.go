package interleave

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bound says in a word which schedules were run.
func (r *Report) bound() string {
	if r.Bound == Exhaustive {
		return "none"
	}
	return strconv.Itoa(r.Bound)
}

// provoked lists what happened, and how often.
func (r *Report) provoked() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(r.Provoked)) {
		parts = append(parts, fmt.Sprintf("%d %s", r.Provoked[what], what))
	}
	return strings.Join(parts, ", ")
}

// String is the row of the report in a table, its columns parted by tabs: program, goroutines, schedules, pruned,
// deepest, bound on preemptions, time, violations, what was provoked.
func (r *Report) String() string {
	violations := 0
	if r.Err != nil {
		violations = 1
	}
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%s\t%v\t%d\t%s", r.Name, r.Goroutines, r.Schedules, r.Pruned, r.Deepest,
		r.bound(), r.Lasted.Round(time.Millisecond), violations, r.provoked())
}

// write appends the row to the file named in PENSTOCK_INTERLEAVE, if that is set.
func (r *Report) write() {
	name := os.Getenv("PENSTOCK_INTERLEAVE")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // whoever runs it names the file
	if err == nil {
		_, err = fmt.Fprintln(f, r)
		if closing := f.Close(); err == nil {
			err = closing
		}
	}
	if err != nil && r.Err == nil {
		r.Err = fmt.Errorf("interleave: the row of %s could not be written: %w", r.Name, err)
	}
}
