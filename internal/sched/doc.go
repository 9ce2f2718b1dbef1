// Package sched holds everything by which goroutines of the core meet: atomics, locks, the
// concurrent map, the process's clock and timers. Packages sharded, evict and engine use no others
// (internal/lint holds them to it).
//
// In a usual build these are the types of sync, sync/atomic, time and xsync themselves: aliases, and
// functions that do nothing but call theirs. In a build with the tag interleave they are those of package
// interleave, which explores every order of their operations.
//
// What is a point at which another goroutine may go on, and what is not:
//
//	Uint64, Int64, Uint32, Bool, Pointer   each operation is a point
//	Mutex                                  Lock is a point; Unlock is a step after which the next point follows
//	MapOf                                  a look-up is a point; a change is a lock, and a point
//	Counter, Count                         none: statistics. Nothing is decided by them, and each of their
//	                                       operations is one step by itself
//	Since                                  none: what a goroutine reads on its own clock is nobody else's
//	AfterFunc, Timer                       setting and stopping is a point; when a timer runs is up to the
//	                                       program that is explored
//
// Plain fields are no points either: they are fixed before they are published, or guarded by a Mutex
// (docs/synchronization.md), and the race detector says whether that is so.
package sched
