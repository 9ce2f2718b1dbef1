package interleave

import "time"

// Since is [time.Since]; in an execution it is the clock of the goroutine that asks, see [Run.Clock]. A
// reading is no point: a goroutine's own clock is nobody else's. Where time is to pass while others
// are at work, the clock is an [Int64], and its reading a point.
func Since(origin time.Time) time.Duration {
	e := active.Load()
	if e == nil {
		return time.Since(origin)
	}
	g := Outside
	if e.current != nil {
		g = e.current.id
	}
	if e.clock == nil {
		return 0
	}
	return time.Duration(e.clock(g))
}

// Outside is the number under which Setup and Check ask for the time.
const Outside = -1

// Timer is a [time.Timer] made by [AfterFunc]; in an execution it never runs by itself: the program
// runs what is due, see [Run.Due]. To set it, to stop it and to look what is due are points.
type Timer struct {
	real  *time.Timer
	armed bool
	f     func()
}

// AfterFunc is [time.AfterFunc].
func AfterFunc(d time.Duration, f func()) *Timer {
	e := active.Load()
	if e == nil {
		return &Timer{real: time.AfterFunc(d, f)}
	}
	point(opAdd, &e.alarm)
	t := &Timer{armed: true, f: f}
	e.timers = append(e.timers, t)
	return t
}

// Reset arms the timer again.
func (t *Timer) Reset(d time.Duration) bool {
	if t.real != nil {
		return t.real.Reset(d)
	}
	if e := active.Load(); e != nil {
		point(opAdd, &e.alarm)
	}
	was := t.armed
	t.armed = true
	return was
}

// Stop disarms the timer.
func (t *Timer) Stop() bool {
	if t.real != nil {
		return t.real.Stop()
	}
	if e := active.Load(); e != nil {
		point(opAdd, &e.alarm)
	}
	was := t.armed
	t.armed = false
	return was
}

// Due returns what the timers that are armed would call, and disarms them. It is for a goroutine that
// stands for the process's timers, and for Check.
func (r *Run) Due() (calls []func()) {
	point(opAdd, &r.execution.alarm)
	for _, t := range r.execution.timers {
		if t.armed {
			t.armed = false
			calls = append(calls, t.f)
		}
	}
	return calls
}

// Timers returns how many timers were made.
func (r *Run) Timers() int { return len(r.execution.timers) }
