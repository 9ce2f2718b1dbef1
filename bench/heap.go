package bench

import "runtime"

// Heap is what a collected heap holds, in bytes.
type Heap struct {
	Alloc int64 // in live objects
	Inuse int64 // in spans with at least one live object
	Stack int64 // in the stacks of goroutines, which are no part of the others
}

// LiveHeap collects twice (what the first collection frees through finalizers
// and pools goes with the second) and returns what is left.
func LiveHeap() Heap {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return Heap{Alloc: int64(stats.HeapAlloc), Inuse: int64(stats.HeapInuse), Stack: int64(stats.StackInuse)}
}

// Mallocs returns how many objects the process has allocated so far.
func Mallocs() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Mallocs
}
