package interleave

import "sync"

// Mutex is a [sync.Mutex] whose Lock is a point. A goroutine that waits for it cannot be chosen. Unlock
// is a step, so that what happened before it is known, but no choice: whoever did not run before it can
// run after it as well, and those who wait for the lock only then.
type Mutex struct {
	real sync.Mutex // used while nothing is explored
	held bool
}

// Lock locks m.
func (m *Mutex) Lock() {
	e := active.Load()
	if e == nil {
		m.real.Lock()
		return
	}
	point(opLock, m)
	if m.held { // only outside of the goroutines: those are not chosen then
		panic("interleave: Setup or Check would wait for a lock for ever")
	}
	m.held = true
}

// Unlock unlocks m.
func (m *Mutex) Unlock() {
	e := active.Load()
	if e == nil {
		m.real.Unlock()
		return
	}
	e.release(m)
	if !m.held {
		panic("interleave: unlock of a lock that is not held")
	}
	m.held = false
}

// release does the step of an Unlock without asking who goes on.
func (e *execution) release(m *Mutex) {
	if e.current == nil || e.failure != nil {
		return
	}
	e.current.op, e.current.obj = opUnlock, m
	e.steps++
	e.scheduler.unlocked(e, e.current.id)
	if e.trace != nil {
		e.current.place = where()
	}
	e.trace.step(e, e.current)
}
