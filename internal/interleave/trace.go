package interleave

import (
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
)

// trace is what was done in an execution: by whom, on what, and from where in the code.
type trace struct {
	lines  []string
	places []string // of the lines, in the code
	names  map[any]string
	kinds  map[string]int
}

func newTrace() *trace {
	return &trace{names: map[any]string{}, kinds: map[string]int{}}
}

// step adds the step that g is about to do.
func (t *trace) step(e *execution, g *goroutine) {
	if t == nil {
		return
	}
	t.add(g, strconv.Itoa(e.steps), g.op.String())
}

// waits adds a line for each of the goroutines in open, which wait for a lock that nobody will give back.
func (t *trace) waits(e *execution, open set) {
	if t == nil {
		return
	}
	for _, g := range e.goroutines {
		if open.has(g.id) {
			t.add(g, "", "waits for")
		}
	}
}

// add adds a line about what g is at.
func (t *trace) add(g *goroutine, step, what string) {
	t.lines = append(t.lines, fmt.Sprintf("%4s  %s  %-16s %-10s", step, name(g.id), what, t.name(g.obj)))
	t.places = append(t.places, g.place)
}

// note adds values to the last step.
func (t *trace) note(values ...any) {
	last := &t.lines[len(t.lines)-1]
	for i, v := range values {
		if n, ok := v.(uint64); ok && n >= 1<<32 {
			values[i] = fmt.Sprintf("%#x", n)
		}
	}
	*last += " " + strings.TrimSuffix(fmt.Sprintln(values...), "\n")
}

// name is that of an object: its type, and a number in the order in which they are met.
func (t *trace) name(obj any) string {
	v := reflect.ValueOf(obj)
	if !v.IsValid() || v.IsNil() {
		return "nil"
	}
	if known, ok := t.names[obj]; ok {
		return known
	}
	kind := v.Type().Elem().Name()
	kind, _, _ = strings.Cut(kind, "[")
	t.kinds[kind]++
	t.names[obj] = kind + strconv.Itoa(t.kinds[kind])
	return t.names[obj]
}

// where returns the function and the line outside of this package that the step is in, and who
// called it.
func where() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var places []string
	for more := true; more && len(places) < 3; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function == "" || strings.Contains(f.Function, "/internal/interleave.") && !strings.HasSuffix(f.File, "_test.go") {
			continue
		}
		file := f.File[strings.LastIndexByte(f.File, '/')+1:]
		places = append(places, fmt.Sprintf("%s (%s:%d)", f.Function[strings.LastIndexByte(f.Function, '/')+1:], file, f.Line))
	}
	return strings.Join(places, " < ")
}

// schedule is the choices of an execution as text: for each run of choices of one goroutine its letter
// and their number, such as A12B3A1.
func schedule(path []int8) string {
	var b strings.Builder
	for i := 0; i < len(path); {
		n := i
		for n < len(path) && path[n] == path[i] {
			n++
		}
		fmt.Fprintf(&b, "%s%d", name(int(path[i])), n-i)
		i = n
	}
	return b.String()
}

// parseSchedule is the way back.
func parseSchedule(text string) (path []int8, err error) {
	rest := strings.TrimSpace(text)
	for rest != "" {
		g := int8(rest[0]) - 'A'
		end := 1
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(rest[1:end])
		if err != nil || g < 0 || g >= MaxGoroutines || n > maxSteps {
			return nil, fmt.Errorf("%w: schedule %q: use letters of goroutines and numbers of steps, such as A12B3A1", ErrProgram, text)
		}
		for range n {
			path = append(path, g)
		}
		rest = rest[end:]
	}
	return path, nil
}

// steps returns the lines, each with its place.
func (t *trace) steps() []string {
	lines := make([]string, len(t.lines))
	for i, line := range t.lines {
		lines[i] = fmt.Sprintf("%-90s  %s", line, t.places[i])
	}
	return lines
}
