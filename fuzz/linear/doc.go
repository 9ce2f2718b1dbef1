// Package linear checks that calls of one key from many goroutines come out as if they were made one
// after the other, each at some instant between its beginning and its end: linearizability, by
// porcupine. It is a module of its own because of that dependency.
//
//	make linear HISTORIES=100000
//
// Each history is made by goroutines on a limiter of their own, on real time. The sequential limiter
// that it is compared with is the pure transition of its limit (atomicstate.Law, whose truth the oracles
// prove), or a list of times for the sliding log; every field of every answer must be its own.
//
// # Time
//
// A call is decided at a time that the limiter read from its clock, and which of the readings that was
// is not in the answer. So the clock notes every reading, whoever made it, and a call may have been
// decided at any that lies between its beginning and its end: the limiter's time is the largest reading
// so far, and that is the call's own or one of another call in between. The answers, exact to the
// nanosecond, leave few of them. Noting takes no lock and makes nobody wait; and at some readings the
// goroutine gives up its processor, which puts others between the load of a word and its swap, where
// the harm would be done.
package linear
