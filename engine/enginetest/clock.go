// Package enginetest helps to test code that uses package engine: a clock that stands still
// until it is told to move.
package enginetest

import (
	"sync/atomic"
	"time"
)

// Clock is a fake clock for engine.WithClock. It starts at 0 and moves only by Advance and
// Set. The zero value is ready to use; it is safe for concurrent use.
type Clock struct{ nanos atomic.Int64 }

// NewClock returns a clock that stands at 0.
func NewClock() *Clock { return new(Clock) }

// Now returns the time since the clock's origin.
func (c *Clock) Now() time.Duration { return time.Duration(c.nanos.Load()) }

// Advance moves the clock by d, which may be negative: a limiter treats a step back as no
// time passed.
func (c *Clock) Advance(d time.Duration) { c.nanos.Add(int64(d)) }

// Set moves the clock to t.
func (c *Clock) Set(t time.Duration) { c.nanos.Store(int64(t)) }
