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
// runs what is due, see [Run.Due].
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
	t := &Timer{armed: true, f: f}
	e.timers = append(e.timers, t)
	return t
}

// Reset arms the timer again.
func (t *Timer) Reset(d time.Duration) bool {
	if t.real != nil {
		return t.real.Reset(d)
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
	was := t.armed
	t.armed = false
	return was
}
