package interleave

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Exhaustive in place of a bound on preemptions: there is none.
const Exhaustive = -1

// Program is what is explored.
type Program struct {
	Name string
	// Bound is how many preemptions a schedule may have, or Exhaustive.
	Bound int
	// Setup makes fresh state, the same for each execution, and says by r what is to be done with it.
	// It is called before each execution and must not be affected by earlier ones.
	Setup func(r *Run)
	// Provokes names what the program is about: conflicts and events that [Run.Count] counts, FailedSwaps
	// and Waits. A program in which one of them never happened has proved nothing, and fails.
	Provokes []string
}

// What is counted in every program.
const (
	FailedSwaps = "failed swaps"
	Waits       = "waits for a lock"
)

// Run is one execution, for [Program.Setup].
type Run struct {
	execution *execution
	bodies    []func()
	check     func() error
	counted   map[string]uint64
}

// Go adds a goroutine; the first one is A. All of them start when Setup has returned.
func (r *Run) Go(body func()) { r.bodies = append(r.bodies, body) }

// Clock sets what [Since] returns: the nanoseconds on the clock of goroutine g, which is Outside for Setup
// and Check. Without it time stands still at 0.
func (r *Run) Clock(now func(g int) int64) { r.execution.clock = now }

// Check sets what must hold when all goroutines have ended.
func (r *Run) Check(check func() error) { r.check = check }

// Count adds to what was provoked.
func (r *Run) Count(what string, times uint64) { r.counted[what] += times }

// Locks returns how many locks goroutine g has taken so far.
func (r *Run) Locks(g int) int { return r.execution.goroutines[g].locks }

// Report is what an exploration found.
type Report struct {
	Name       string
	Goroutines int
	Bound      int
	Schedules  uint64 // executions that ended, and ended well
	Pruned     uint64 // executions given up, because each way on leads to an order that was run already
	Deepest    int    // steps of the longest execution
	Lasted     time.Duration
	Provoked   map[string]uint64
	// Err is nil, or what the program did wrong, with the schedule, step by step.
	Err error
}

// ErrProgram reports a program that cannot be explored, or that proves nothing.
var ErrProgram = errors.New("interleave: unusable program")

// Explore runs a program under all schedules, until one fails. If PENSTOCK_SCHEDULE is set it runs that
// one and reports its steps. It returns what it found, and appends it as a line to the file named in
// PENSTOCK_INTERLEAVE, if that is set.
func Explore(p *Program) Report {
	x := newExplorer(p)
	if text := os.Getenv("PENSTOCK_SCHEDULE"); text != "" {
		x.report.Err = x.replay(text)
		return x.report
	}
	start := time.Now()
	for more := true; more && x.report.Err == nil; more = more && x.advance() {
		more = x.execute()
	}
	x.report.Lasted = time.Since(start)
	if x.report.Err == nil {
		x.report.Err = x.idle()
	}
	x.report.write()
	return x.report
}

// explorer is a search through the schedules of a program, depth first.
type explorer struct {
	program    *Program
	report     Report
	goroutines []*goroutine // used again in each execution
	counted    map[string]uint64
	nodes      []node // the choices of the present execution
	depth      int    // how many of them were made
	fresh      int    // the first choice that the execution before did not make
	pruned     bool
}

func newExplorer(p *Program) *explorer {
	return &explorer{
		program: p,
		report:  Report{Name: p.Name, Bound: p.Bound},
		counted: map[string]uint64{},
	}
}

// begin sets a program up and makes its execution the active one.
func (x *explorer) begin(s scheduler, t *trace) (*Run, error) {
	e := &execution{scheduler: s, trace: t}
	r := &Run{execution: e, counted: x.counted}
	if !active.CompareAndSwap(nil, e) {
		return nil, fmt.Errorf("%w: another one is explored in this process: use a process for each", ErrProgram)
	}
	ready := false
	defer func() {
		if !ready { // also if Setup panicked, or ended its goroutine as a failed require does
			active.Store(nil)
		}
	}()
	x.program.Setup(r)
	if n := len(r.bodies); n == 0 || n > MaxGoroutines {
		return nil, fmt.Errorf("%w: %s has %d goroutines: use 1 to %d", ErrProgram, x.program.Name, n, MaxGoroutines)
	}
	x.report.Goroutines = len(r.bodies)
	for id := len(x.goroutines); id < len(r.bodies); id++ {
		x.goroutines = append(x.goroutines, newGoroutine(id))
	}
	ready = true
	return r, nil
}

// execute runs the schedule in nodes, and on from there. It reports whether to look for another.
func (x *explorer) execute() bool {
	r, err := x.begin(x, nil)
	if err != nil {
		x.report.Err = err
		return false
	}
	defer active.Store(nil)
	e := r.execution
	x.depth, x.pruned = 0, false
	e.start(r.bodies, x.goroutines)
	e.run()
	x.report.Deepest = max(x.report.Deepest, e.steps)
	switch {
	case e.failure != nil:
	case x.pruned:
		x.report.Pruned++
		return true
	default:
		if e.failure = r.finish(); e.failure == nil {
			x.report.Schedules++
		}
	}
	x.counted[FailedSwaps] += e.casFailures
	x.counted[Waits] += e.waits
	if e.failure != nil {
		active.Store(nil)
		x.report.Err = x.explain(e.failure, e.path)
		return false
	}
	return true
}

// finish checks what must hold at the end.
func (r *Run) finish() error {
	if r.check == nil {
		return nil
	}
	return r.check()
}

// advance changes the last choice that has an alternative. It reports false if there is none.
func (x *explorer) advance() bool {
	for len(x.nodes) > 0 {
		n := &x.nodes[len(x.nodes)-1]
		n.sleep |= only(int(n.chosen))
		if left := n.todo &^ n.sleep; left != 0 {
			n.chosen = int8(left.first())
			x.fresh = len(x.nodes) - 1
			return true
		}
		x.nodes = x.nodes[:len(x.nodes)-1]
	}
	return false
}

// idle is the error of a program that did not provoke what it is about.
func (x *explorer) idle() error {
	x.report.Provoked = map[string]uint64{}
	var errs []error
	for _, what := range x.program.Provokes {
		x.report.Provoked[what] = x.counted[what]
		if x.counted[what] == 0 {
			errs = append(errs, fmt.Errorf("%w: %s never met: %s", ErrProgram, x.program.Name, what))
		}
	}
	if len(x.program.Provokes) == 0 {
		errs = append(errs, fmt.Errorf("%w: %s does not say what it provokes", ErrProgram, x.program.Name))
	}
	return errors.Join(errs...)
}
