package interleave

import "sync/atomic"

// The atomics have the size of those of package sync/atomic and their methods, as far as the core
// uses them.

// Uint64 is a [sync/atomic.Uint64] whose operations are points.
type Uint64 struct{ v atomic.Uint64 }

// Load is a point.
func (u *Uint64) Load() uint64 {
	e := point(opLoad, u)
	value := u.v.Load()
	if e.traced() {
		e.trace.note("is", value)
	}
	return value
}

// Store is a point.
func (u *Uint64) Store(value uint64) {
	if e := point(opStore, u); e.traced() {
		e.trace.note("of", value)
	}
	u.v.Store(value)
}

// Add is a point.
func (u *Uint64) Add(delta uint64) uint64 {
	if e := point(opAdd, u); e.traced() {
		e.trace.note("of", delta)
	}
	return u.v.Add(delta)
}

// Swap is a point.
func (u *Uint64) Swap(value uint64) uint64 {
	e := point(opSwap, u)
	old := u.v.Swap(value)
	if e.traced() {
		e.trace.note("of", old, "to", value)
	}
	return old
}

// CompareAndSwap is a point.
func (u *Uint64) CompareAndSwap(old, value uint64) bool {
	e := point(opCompareAndSwap, u)
	done := e.swapped(u.v.CompareAndSwap(old, value))
	if e.traced() {
		e.trace.note("of", old, "to", value, outcome(done))
	}
	return done
}

// Int64 is a [sync/atomic.Int64] whose operations are points.
type Int64 struct{ v atomic.Int64 }

// Load is a point.
func (i *Int64) Load() int64 {
	e := point(opLoad, i)
	value := i.v.Load()
	if e.traced() {
		e.trace.note("is", value)
	}
	return value
}

// Store is a point.
func (i *Int64) Store(value int64) {
	if e := point(opStore, i); e.traced() {
		e.trace.note("of", value)
	}
	i.v.Store(value)
}

// Add is a point.
func (i *Int64) Add(delta int64) int64 {
	if e := point(opAdd, i); e.traced() {
		e.trace.note("of", delta)
	}
	return i.v.Add(delta)
}

// CompareAndSwap is a point.
func (i *Int64) CompareAndSwap(old, value int64) bool {
	e := point(opCompareAndSwap, i)
	done := e.swapped(i.v.CompareAndSwap(old, value))
	if e.traced() {
		e.trace.note("of", old, "to", value, outcome(done))
	}
	return done
}

// Uint32 is a [sync/atomic.Uint32] whose operations are points.
type Uint32 struct{ v atomic.Uint32 }

// Load is a point.
func (u *Uint32) Load() uint32 {
	e := point(opLoad, u)
	value := u.v.Load()
	if e.traced() {
		e.trace.note("is", value)
	}
	return value
}

// Store is a point.
func (u *Uint32) Store(value uint32) {
	if e := point(opStore, u); e.traced() {
		e.trace.note("of", value)
	}
	u.v.Store(value)
}

// CompareAndSwap is a point.
func (u *Uint32) CompareAndSwap(old, value uint32) bool {
	e := point(opCompareAndSwap, u)
	done := e.swapped(u.v.CompareAndSwap(old, value))
	if e.traced() {
		e.trace.note("of", old, "to", value, outcome(done))
	}
	return done
}

// Bool is a [sync/atomic.Bool] whose operations are points.
type Bool struct{ v atomic.Bool }

// Load is a point.
func (b *Bool) Load() bool {
	e := point(opLoad, b)
	value := b.v.Load()
	if e.traced() {
		e.trace.note("is", value)
	}
	return value
}

// Store is a point.
func (b *Bool) Store(value bool) {
	if e := point(opStore, b); e.traced() {
		e.trace.note("of", value)
	}
	b.v.Store(value)
}

// CompareAndSwap is a point.
func (b *Bool) CompareAndSwap(old, value bool) bool {
	e := point(opCompareAndSwap, b)
	done := e.swapped(b.v.CompareAndSwap(old, value))
	if e.traced() {
		e.trace.note("of", old, "to", value, outcome(done))
	}
	return done
}

// Pointer is a [sync/atomic.Pointer] whose operations are points.
type Pointer[T any] struct{ v atomic.Pointer[T] }

// Load is a point.
func (p *Pointer[T]) Load() *T {
	e := point(opLoad, p)
	value := p.v.Load()
	if e.traced() {
		e.trace.note("is", e.trace.name(value))
	}
	return value
}

// Store is a point.
func (p *Pointer[T]) Store(value *T) {
	if e := point(opStore, p); e.traced() {
		e.trace.note("of", e.trace.name(value))
	}
	p.v.Store(value)
}

// CompareAndSwap is a point.
func (p *Pointer[T]) CompareAndSwap(old, value *T) bool {
	e := point(opCompareAndSwap, p)
	done := e.swapped(p.v.CompareAndSwap(old, value))
	if e.traced() {
		e.trace.note("to", e.trace.name(value), outcome(done))
	}
	return done
}

// traced reports whether the steps of this execution are written down.
func (e *execution) traced() bool { return e != nil && e.trace != nil }

// swapped counts a compare-and-swap that failed, and returns what it did.
func (e *execution) swapped(done bool) bool {
	if e != nil && !done {
		e.casFailures++
	}
	return done
}

// outcome says what a compare-and-swap did.
func outcome(done bool) string {
	if done {
		return "done"
	}
	return "failed"
}
