package fair

import (
	"math"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// minPoll is how often a user's clock that wakes nobody is looked at, at most: it may stand still
// for a while, and must not be asked without pause.
const minPoll = time.Millisecond

// wakeTries is how often a clock that was moved while it was asked to wake is asked again.
const wakeTries = 4

// alarm is the limiter's time and its one timer. It is used with the limiter's lock held, but for
// read.
type alarm struct {
	origin time.Time
	user   engine.Clock // nil: the monotonic clock
	waker  engine.Waker // nil: the process's timers
	ring   func()

	latest int64 // nanoseconds, of all that was read

	armed bool
	fresh bool  // armed since the lock was taken
	due   int64 // when it is to ring
	timer *time.Timer
	stop  func() bool
}

func (a *alarm) init(clock engine.Clock, ring func()) {
	a.origin, a.user, a.ring, a.latest = time.Now(), clock, ring, math.MinInt64
	a.waker, _ = clock.(engine.Waker)
}

// read reads the clock, which stands still before the end of time. It runs the user's code: the
// limiter's lock is not held, but to wake by a Waker.
func (a *alarm) read() int64 {
	if a.user != nil {
		return min(int64(a.user.Now()), lastNanos-1)
	}
	return int64(time.Since(a.origin))
}

// settle returns the present time after a reading: it does not move back.
func (a *alarm) settle(read int64) int64 {
	a.latest = max(a.latest, read)
	return a.latest
}

// set makes the alarm ring at due, and at no other time.
func (a *alarm) set(due int64) {
	if a.armed && a.due == due {
		return
	}
	a.clear()
	a.armed, a.fresh, a.due = true, true, due
	switch {
	case a.waker != nil:
		a.stop = a.wakeAt(due)
	case a.user != nil:
		a.timer = time.AfterFunc(max(minPoll, time.Duration(due-a.latest)), a.ring)
	default: // time went by since it was read
		a.timer = time.AfterFunc(time.Duration(due-a.read()), a.ring)
	}
}

// wakeAt makes the user's clock ring at due. Between the reading and the call the clock may be moved,
// by which it would ring late: then it is asked again. One that never stands still is late by no more
// than that call takes. Who set the alarm looks, after all of this, whether due is past: see unlock.
func (a *alarm) wakeAt(due int64) (stop func() bool) {
	for try := 1; ; try++ {
		now := a.read()
		stop = a.waker.AfterFunc(time.Duration(max(1, due-now)), a.ring)
		if try == wakeTries || a.read() == now {
			return stop
		}
		stop()
	}
}

// clear silences the alarm.
func (a *alarm) clear() {
	if !a.armed {
		return
	}
	if a.stop != nil {
		a.stop()
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	a.armed, a.fresh, a.stop, a.timer = false, false, nil, nil
}
