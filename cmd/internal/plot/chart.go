package plot

import (
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/internal/svg"
)

// tenths is a length or position in tenths of a pixel.
type tenths = svg.Length

// px converts pixels.
func px(n int) tenths { return svg.Px(n) }

// The time axis: 30 pixels a second.
const (
	left      = tenths(640)
	perGrain  = tenths(3)
	axisWidth = perGrain * tenths(span/grain)
)

// x is the position of an instant, up to the end of the axis.
func x(at time.Duration) tenths { return left + perGrain*tenths(min(at, span)/grain) }

// lane is a diagram of its own above the common time axis.
type lane struct {
	Title    string
	Top      tenths
	Height   tenths
	unit     tenths // of height for a request
	Ticks    []tick
	TitleTop tenths
}

// tick is a labelled place of an axis.
type tick struct {
	Label string
	At    tenths
	Text  tenths // where its label stands
}

// newLane makes a lane for values from 0 to the last tick.
func newLane(title string, top, height, unit int, ticks ...int) lane {
	l := lane{Title: title, Top: px(top), Height: px(height), unit: px(unit), TitleTop: px(top - 8)}
	for _, n := range ticks {
		at := l.y(int64(n))
		l.Ticks = append(l.Ticks, tick{strconv.Itoa(n), at, at + px(4)})
	}
	return l
}

// y is the height of a value.
func (l lane) y(value int64) tenths { return l.Bottom() - l.unit*tenths(value) }

// Bottom is the base line.
func (l lane) Bottom() tenths { return l.Top + l.Height }

// steps is the path of a value that holds until the next; closed, it is the area under it.
func (l lane) steps(levels []level, closed bool) string {
	var b strings.Builder
	move := func(verb string, to ...tenths) {
		b.WriteString(verb)
		for i, t := range to {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(t.String())
		}
	}
	for i, v := range levels {
		switch {
		case v.at > span:
			continue
		case i == 0:
			move("M", x(v.at), l.y(v.value))
		default:
			move("H", x(v.at))
			move("V", l.y(v.value))
		}
	}
	move("H", x(span))
	if closed {
		move("V", l.Bottom())
		move("H", left)
		b.WriteString("Z")
	}
	return b.String()
}

// mark is a request in the first lane.
type mark struct {
	X, Y     tenths
	Admitted bool
}

// bar is the requests let through at an instant.
type bar struct {
	X, Y, Bottom tenths
	Delayed      bool
}

// marks stacks the requests of each instant in the order of their answers.
func (l lane) marks(calls []call) []mark {
	var marks []mark
	for _, c := range calls {
		for i, admitted := range c.answers {
			marks = append(marks, mark{x(c.at), l.y(int64(i)) - l.unit/2, admitted})
		}
	}
	return marks
}

// bars stands a bar on the base line for each instant at which requests were let through.
func (l lane) bars(passed []pass) []bar {
	var bars []bar
	for _, p := range passed {
		bars = append(bars, bar{x(p.at), l.y(int64(p.requests)), l.Bottom(), p.delayed})
	}
	return bars
}
