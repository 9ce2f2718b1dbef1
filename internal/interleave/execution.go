package interleave

import (
	"fmt"
	"iter"
	"runtime/debug"
	"sync/atomic"
)

// MaxGoroutines is how many goroutines a program may have.
const MaxGoroutines = 4

// op is a kind of step.
type op uint8

const (
	opNone op = iota
	opLoad
	opStore
	opSwap
	opCompareAndSwap
	opAdd
	opLock
	opUnlock
)

var opNames = [...]string{"none", "load", "store", "swap", "compare-and-swap", "add", "lock", "unlock"}

// String returns the name of the operation.
func (o op) String() string { return opNames[o] }

// set is a set of goroutines.
type set uint8

func (s set) has(g int) bool { return s>>g&1 == 1 }

func only(g int) set { return 1 << g }

// first is the lowest member; the set is not empty.
func (s set) first() int {
	for g := range MaxGoroutines {
		if s.has(g) {
			return g
		}
	}
	return -1
}

// active is the execution under way in this process, nil if there is none: then all types behave as
// those of sync and sync/atomic. There is one at a time, because a word of 64 bits has no room to say
// to which execution it belongs; explorations that are to run at once are processes of their own.
var active atomic.Pointer[execution]

// goroutine is one of a program, a coroutine that stops before each of its steps.
type goroutine struct {
	id     int
	body   func()
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
	ended  bool

	op     op  // the step that it is about to do
	obj    any // on what
	waited bool
	locks  int    // that it has taken
	place  string // of that step in the code; only if there is a trace
}

// execution is one run of a program.
type execution struct {
	scheduler  scheduler
	goroutines []*goroutine
	current    *goroutine // nil in Setup and Check
	target     *goroutine // who is to go on when the current one stops
	clock      func(g int) int64
	timers     []*Timer
	alarm      Uint64 // what the steps on timers are steps on

	steps       int
	path        []int8 // the choices so far
	last        int    // who did the last step, -1 before the first
	failure     error
	casFailures uint64
	waits       uint64
	trace       *trace // nil unless a schedule is replayed
}

// scheduler chooses who does the next step.
type scheduler interface {
	// choose returns one of enabled. It reports false to end the execution there.
	choose(e *execution, enabled set) (g int, ok bool)
	// unlocked takes notice of an unlock by g, a step that is no choice.
	unlocked(e *execution, g int)
}

// maxSteps ends an execution that would go on for ever.
const maxSteps = 2000

// start makes a coroutine for each body and lets it run to its first step.
func (e *execution) start(bodies []func(), spare []*goroutine) {
	e.last = -1
	for id, body := range bodies {
		g := spare[id]
		*g = goroutine{id: g.id, resume: g.resume, yield: g.yield, body: body}
		e.goroutines = append(e.goroutines, g)
	}
	for _, g := range e.goroutines {
		e.current = g
		g.resume()
	}
	e.current = nil
}

// run lets the goroutines do their steps until all have ended, or something failed.
func (e *execution) run() {
	for e.target = e.next(); e.target != nil; {
		e.current = e.target
		e.target = nil
		e.current.resume()
	}
	e.current = nil
}

// next asks who goes on; nil if nobody can.
func (e *execution) next() *goroutine {
	enabled, open := e.enabled()
	switch {
	case e.failure != nil || open == 0:
		return nil
	case enabled == 0:
		e.failure = fmt.Errorf("deadlock: each goroutine that has not ended waits for a lock (%v)", e.waiting(open))
		e.trace.waits(e, open)
		return nil
	case e.steps >= maxSteps: // an unlock is a step too, and nobody is asked after it
		e.failure = fmt.Errorf("endless: %d steps and no end", maxSteps)
		return nil
	}
	id, ok := e.scheduler.choose(e, enabled)
	if !ok {
		return nil
	}
	g := e.goroutines[id]
	if g.op == opLock {
		g.locks++
	}
	if g.waited {
		g.waited = false
		e.waits++
	}
	e.steps++
	e.last = id
	e.path = append(e.path, int8(id))
	e.trace.step(e, g)
	return g
}

// enabled returns who can go on, and who has not ended.
func (e *execution) enabled() (enabled, open set) {
	for _, g := range e.goroutines {
		if g.ended {
			continue
		}
		open |= only(g.id)
		if m, ok := g.obj.(*Mutex); ok && g.op == opLock && m.held {
			g.waited = true
			continue
		}
		enabled |= only(g.id)
	}
	return enabled, open
}

// waiting names those who wait, for a message.
func (e *execution) waiting(open set) (names []string) {
	for _, g := range e.goroutines {
		if open.has(g.id) {
			names = append(names, name(g.id))
		}
	}
	return names
}

// name is that of a goroutine: A, B, C or D.
func name(g int) string { return string(rune('A' + g)) }

// point is where a goroutine stops before a step. It returns the execution, nil if this is not a
// step of any.
func point(o op, obj any) *execution {
	e := active.Load()
	if e == nil || e.current == nil {
		return nil
	}
	if e.trace != nil {
		e.current.place = where()
	}
	e.pause(o, obj)
	return e
}

// pause asks who goes on, and hands over if that is somebody else.
func (e *execution) pause(o op, obj any) {
	g := e.current
	first := g.op == opNone
	g.op, g.obj = o, obj
	if !first {
		next := e.next()
		if next == g {
			return
		}
		e.target = next
	}
	g.yield(struct{}{}) // to run, or to start
}

// newGoroutine returns a coroutine that runs one body after the other.
func newGoroutine(id int) *goroutine {
	g := &goroutine{id: id}
	g.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		g.yield = yield
		for {
			g.once()
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return g
}

// once runs the body and then asks who goes on.
func (g *goroutine) once() {
	defer func() {
		e := active.Load()
		if p := recover(); p != nil {
			e.failure = fmt.Errorf("goroutine %s panicked: %v\n%s", name(g.id), p, debug.Stack())
		}
		started := g.op != opNone // else start still looks at the others
		g.ended = true
		if started {
			e.target = e.next()
		}
	}()
	g.body()
}
