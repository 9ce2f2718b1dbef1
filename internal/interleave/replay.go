package interleave

import (
	"fmt"
	"strings"
)

// replayer is the scheduler that follows a schedule. Where that has ended, whoever did the last step goes on.
type replayer struct {
	path []int8
	at   int
}

func (s *replayer) choose(e *execution, enabled set) (g int, ok bool) {
	if s.at == len(s.path) {
		if e.last >= 0 && enabled.has(e.last) {
			return e.last, true
		}
		return enabled.first(), true
	}
	g = int(s.path[s.at])
	s.at++
	if !enabled.has(g) {
		e.failure = fmt.Errorf("%w: the schedule chooses %s at its step %d, who cannot go on", ErrProgram, name(g), s.at)
		return 0, false
	}
	return g, true
}

// unlocked does nothing: a schedule is of choices.
func (s *replayer) unlocked(*execution, int) {}

// explain runs the schedule that failed once more and returns the failure with its steps.
func (x *explorer) explain(failure error, path []int8) error {
	x.goroutines = nil // some of them may be stuck half way
	steps, again := x.steps(path)
	if again == nil {
		again = fmt.Errorf("the schedule did not fail when it was run again (%w)", ErrProgram)
	}
	return &ScheduleError{Program: x.program.Name, Schedule: schedule(path), Steps: steps, Err: failure, again: again}
}

// replay runs the schedule in text and returns its steps, whether or not it fails.
func (x *explorer) replay(text string) error {
	path, err := parseSchedule(text)
	if err != nil {
		return err
	}
	steps, failure := x.steps(path)
	return &ScheduleError{Program: x.program.Name, Schedule: text, Steps: steps, Err: failure, again: failure}
}

// steps runs a schedule and returns a line for each of its steps.
func (x *explorer) steps(path []int8) (lines []string, failure error) {
	t := newTrace()
	r, err := x.begin(&replayer{path: path}, t)
	if err != nil {
		return nil, err
	}
	defer active.Store(nil)
	e := r.execution
	e.start(r.bodies, x.goroutines)
	e.run()
	if e.failure == nil {
		e.failure = r.finish()
	}
	return t.steps(), e.failure
}

// ScheduleError is a schedule under which a program does what it must not, or one that was replayed.
type ScheduleError struct {
	Program  string
	Schedule string
	// Steps is a line for each step: its number, the goroutine, what it did, and where in the code. After a
	// deadlock there is a line without a number for each goroutine that waits, with its lock.
	Steps []string
	Err   error // what went wrong; nil if nothing did, in a replay

	again error
}

// Error says what went wrong, step by step, and how to run it again.
func (f *ScheduleError) Error() string {
	var b strings.Builder
	outcome := "nothing went wrong"
	if f.Err != nil {
		outcome = f.Err.Error()
	}
	fmt.Fprintf(&b, "interleave: %s: %s\n", f.Program, outcome)
	if f.Err != nil && f.again.Error() != f.Err.Error() {
		fmt.Fprintf(&b, "when run again: %v\n", f.again)
	}
	for _, line := range f.Steps {
		fmt.Fprintf(&b, "%s\n", line)
	}
	fmt.Fprintf(&b, "run it again, in the folder of the test: PENSTOCK_SCHEDULE=%s "+
		"go test -tags interleave -run '^<the test that failed>$' . "+
		"(only that test: the schedule is used for every program of the process)", f.Schedule)
	return b.String()
}

// Unwrap returns what went wrong.
func (f *ScheduleError) Unwrap() error { return f.Err }
