// Package interleave runs small concurrent programs under every order of their steps. It is how
// the lock-free parts of the core are tested: not on a model of them but on the code that ships.
//
// # How it works
//
// The core meets other goroutines only through the names of package sched. In a build with the
// tag interleave these are the types of this package: each of their operations is a point at
// which the goroutine stops and asks who goes on. The goroutines of a program are coroutines, of
// which one runs at a time, so an execution is given by the list of choices: the same list is the
// same execution.
//
//	program            explorer                        production code
//	Setup: state,  ->  run the first schedule      ->  sched.Uint64.CompareAndSwap
//	goroutines         remember each choice        <-  point: who goes on?
//	Check          <-  at the end
//	                   change the last choice that
//	                   has an alternative, run again
//
// What lies between two points touches nothing that another goroutine can see, or is guarded by a
// lock: package sched says of each primitive whether it is a point, and why not if it is none. A
// goroutine at a [Mutex] that is held cannot be chosen. If nobody can, that is a deadlock; an execution
// of more than 2,000 steps is reported as endless.
//
// # What is explored
//
// A program without a bound is explored exhaustively: every schedule, up to the order of
// neighbouring steps that cannot tell each other's order (of different objects, or two loads).
// Of such schedules only one is run, since the goroutines see the same values in all of them. It is
// found by dynamic partial order reduction with source sets and sleep sets (reduce.go). The
// reduction is itself tested against the plain search on hundreds of random programs.
//
// With a bound of k, every schedule with at most k preemptions is run, without reduction. A
// preemption takes the turn from a goroutine that could go on.
//
// # Not explored
//
// Atomics of Go are sequentially consistent, and so are the points. Plain reads and writes are not
// points: that none of them races is for the race detector to say.
package interleave
