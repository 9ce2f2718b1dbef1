// Package enginetest helps to test code that uses package engine: a clock that stands still
// until it is told to move.
package enginetest

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// Clock is a fake clock for engine.WithClock. It starts at 0 and moves only by Advance and
// Set. It is an engine.Waker: whoever waits on it is woken by the move that reaches its time.
// The zero value is ready to use; a Clock must not be copied once in use; its methods are safe
// for concurrent use.
//
// A test of code that waits starts it in a goroutine, calls BlockUntil until that many wait,
// moves the clock, and then waits for the goroutine's own sign. Under testing/synctest no fake
// clock is needed: time is the bubble's own there.
type Clock struct {
	nanos atomic.Int64

	mu      sync.Mutex
	changed sync.Cond // of mu: the number of timers
	timers  []*timer  // by time; of equal times the one started first goes first
}

// NewClock returns a clock that stands at 0.
func NewClock() *Clock { return new(Clock) }

// Now returns the time since the clock's origin.
func (c *Clock) Now() time.Duration { return time.Duration(c.nanos.Load()) }

// Advance moves the clock by d, which may be negative: a limiter treats a step back as no
// time passed.
func (c *Clock) Advance(d time.Duration) { c.move(func(now int64) int64 { return now + int64(d) }) }

// Set moves the clock to t.
func (c *Clock) Set(t time.Duration) { c.move(func(int64) int64 { return int64(t) }) }

// move moves the clock and calls what became due, in order of time, when it stands where it is
// to stand.
func (c *Clock) move(to func(now int64) int64) {
	c.mu.Lock()
	now := to(c.nanos.Load())
	c.nanos.Store(now)
	n := sort.Search(len(c.timers), func(i int) bool { return c.timers[i].at > now })
	due := c.timers[:n:n]
	c.timers = c.timers[n:]
	c.broadcast()
	c.mu.Unlock()
	for _, t := range due {
		t.call()
	}
}

// AfterFunc calls f once, when the clock has moved by d or more, at once if d is 0 or less. f is
// called by the goroutine that moves the clock (or by this one) and must not block. stop keeps f
// from being called and reports whether it did.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	if d <= 0 {
		f()
		return func() bool { return false }
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.nanos.Load() + int64(d), call: f}
	after := sort.Search(len(c.timers), func(i int) bool { return c.timers[i].at > t.at })
	c.timers = slices.Insert(c.timers, after, t)
	c.broadcast()
	return func() bool { return c.stop(t) }
}

func (c *Clock) stop(t *timer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.timers, t)
	if i < 0 {
		return false
	}
	c.timers = slices.Delete(c.timers, i, i+1)
	c.broadcast()
	return true
}

// Waiting returns how many wait on the clock.
func (c *Clock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// BlockUntil blocks until exactly n wait on the clock.
func (c *Clock) BlockUntil(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.L = &c.mu
	for len(c.timers) != n {
		c.changed.Wait()
	}
}

// broadcast wakes those in BlockUntil. It is called with mu held.
func (c *Clock) broadcast() {
	c.changed.L = &c.mu
	c.changed.Broadcast()
}

// Next returns the time at which the first of those that wait is due, false if none waits: move
// the clock there to wake them one after the other.
func (c *Clock) Next() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return 0, false
	}
	return time.Duration(c.timers[0].at), true
}

// timer is one call of AfterFunc that is not due yet.
type timer struct {
	at   int64
	call func()
}
