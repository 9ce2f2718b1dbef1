// Package plot draws how each algorithm of the engine answers the same load: pictures of real
// decisions, for the documents. A picture is an SVG that stands alone: no script, no font, no
// file beside it.
package plot

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"time"

	"github.com/penstock-go/penstock/internal/svg"
)

//go:embed plot.svg.tmpl
var source string

var drawing = template.Must(template.New("plot").Parse(source))

// view is what the template shows.
type view struct {
	Theme, DarkTheme       template.CSS
	Name, Numbers, Promise string
	Description            string
	Admitted, Denied       int
	Queue                  bool // it delays

	Left, Right, AxisWidth tenths
	Edges                  []tick // of the windows
	Phases                 []band

	Requests, Passed, Window, Remaining lane

	Marks     []mark
	Bars      []bar
	Area      string
	Line      string
	Limit     tenths // the height of the limit in the window's lane
	LimitText tenths
	Most      int64  // let through in any window
	MostTop   tenths // where that is said
	Levels    string
}

// band is a phase of the load.
type band struct {
	Name           string
	X, Width, Text tenths
	Odd            bool
}

// SVG draws the algorithm of that name, one of [Algorithms].
func SVG(algorithm string) ([]byte, error) {
	for _, k := range kinds() {
		if string(k.limit.Algorithm()) == algorithm {
			return k.draw()
		}
	}
	return nil, fmt.Errorf("there is no picture of %q", algorithm)
}

func (k kind) draw() ([]byte, error) {
	phases := load()
	r, err := drive(k.limit, phases)
	if err != nil {
		return nil, err
	}
	v := layout(phases)
	v.Name, v.Numbers, v.Promise = string(k.limit.Algorithm()), k.numbers, k.promise
	v.show(r)
	var out bytes.Buffer
	if err := drawing.Execute(&out, v); err != nil {
		return nil, fmt.Errorf("cannot draw %s: %w", v.Name, err)
	}
	return out.Bytes(), nil
}

// layout is what all pictures have in common.
func layout(phases []phase) *view {
	v := &view{
		Theme: svg.Theme, DarkTheme: svg.DarkTheme,
		Left: left, Right: left + axisWidth, AxisWidth: axisWidth,
		Requests:  newLane("Requests at an instant", 142, 120, 12, 0, 5, 10),
		Passed:    newLane("Let through at an instant (requests)", 298, 48, 8, 0, 3, 6),
		Window:    newLane("Let through in the last 3 s (requests)", 382, 96, 8, 0, 6, 12),
		Remaining: newLane("Remaining (permits)", 514, 60, 10, 0, 3, 6),
	}
	v.Limit = v.Window.y(permits)
	for at := time.Duration(0); at <= span; at += window {
		v.Edges = append(v.Edges, tick{strconv.Itoa(int(at / time.Second)), x(at), x(at)})
	}
	for i, p := range phases {
		v.Phases = append(v.Phases, band{p.name, x(p.from), x(p.to) - x(p.from), (x(p.from) + x(p.to)) / 2, i%2 == 1})
	}
	return v
}

// show adds what the limiter answered.
func (v *view) show(r *record) {
	v.Admitted, v.Denied = r.totals()
	v.Marks, v.Bars = v.Requests.marks(r.calls), v.Passed.bars(r.passed)
	for _, b := range v.Bars {
		v.Queue = v.Queue || b.Delayed
	}
	levels := r.inWindow()
	for _, l := range levels {
		v.Most = max(v.Most, l.value)
	}
	v.Area, v.Line = v.Window.steps(levels, true), v.Window.steps(levels, false)
	v.Levels = v.Remaining.steps(r.remaining, false)
	v.Description = v.describe(r)
}

// describe tells the picture in words, phase by phase.
func (v *view) describe(r *record) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Over %d seconds the same requests arrive as in the pictures of the other algorithms.", int(span/time.Second))
	for _, p := range load() {
		admitted, all := 0, 0
		for _, c := range r.calls {
			if p.from <= c.at && c.at < p.to {
				admitted, all = admitted+c.admitted, all+len(c.answers)
			}
		}
		fmt.Fprintf(&b, " Phase \"%s\": %d of %d admitted.", p.name, admitted, all)
	}
	fmt.Fprintf(&b, " At most %d are let through in any %d seconds; the limit is %d.", v.Most, int(window/time.Second), permits)
	if v.Queue {
		b.WriteString(" Admitted requests wait for their turn and leave evenly spaced.")
	}
	return b.String()
}
