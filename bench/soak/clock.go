package main

import (
	"sync/atomic"
	"time"
)

// clock is real time plus steps, ahead and back. It is an engine.Clock.
type clock struct {
	origin time.Time
	offset atomic.Int64 // nanoseconds, the sum of the steps
	steps  atomic.Int64 // how often the offset has begun to change, and has changed
	latest atomic.Int64 // the largest reading so far: at or after every limiter's time
}

func newClock() *clock { return &clock{origin: time.Now()} }

// Now returns real time plus the steps so far.
func (c *clock) Now() time.Duration {
	now := c.read()
	raise(&c.latest, int64(now))
	return now
}

// read is Now for those who are no limiter.
func (c *clock) read() time.Duration { return time.Since(c.origin) + time.Duration(c.offset.Load()) }

// step moves the clock. One goroutine steps.
func (c *clock) step(by time.Duration) {
	c.steps.Add(1)
	c.offset.Add(int64(by))
	c.steps.Add(1)
}

// raise sets a to x if that is larger.
func raise(a *atomic.Int64, x int64) {
	for {
		old := a.Load()
		if x <= old || a.CompareAndSwap(old, x) {
			return
		}
	}
}

// instant is what is known, before a call, of the time at which a limiter will decide it: not before
// earliest. A limiter's time is the largest reading that it has made. Each call reads the clock at
// least once, so after a call that began at a reading r, with no step since, its limiter's time is r
// or later: passed is the largest such r of all calls that ended. It is kept per lane.
type instant struct {
	reading, passed, steps int64
}

// before is called before a call of a limiter whose calls share passed.
func (c *clock) before(passed *atomic.Int64) instant {
	i := instant{steps: c.steps.Load(), passed: passed.Load()}
	i.reading = int64(c.read())
	return i
}

// after is called when the call has ended; it returns a time that the limiter's time was not before
// when it decided.
func (c *clock) after(passed *atomic.Int64, i instant) (earliest int64) {
	if i.steps%2 != 0 || c.steps.Load() != i.steps {
		return i.passed // the clock may have stepped back before the limiter read it
	}
	raise(passed, i.reading)
	return max(i.passed, i.reading)
}
