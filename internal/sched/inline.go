//go:build !interleave

package sched

// What follows calls what the core calls. The compiler hands the body of a foreign method on to those who import
// this package, to be inlined there, only if it was inlined here: without this function (*leaf).find
// would pay for a call at each slot that it looks at. TestNothingIsLostToInlining fails then, and so does
// engine's TestInlining. Nobody calls it.
var _ = func() {
	var b Bool
	b.Store(b.Load() && b.CompareAndSwap(false, true))
	var i Int64
	i.Store(i.Load() + i.Add(1))
	i.CompareAndSwap(0, 1)
	var s Uint32
	s.Store(s.Load())
	s.CompareAndSwap(0, 1)
	var u Uint64
	u.Store(u.Load() + u.Add(1) + u.Swap(1))
	u.CompareAndSwap(0, 1)
	var p Pointer[int]
	p.Store(p.Load())
	p.CompareAndSwap(nil, nil)
	var m Mutex
	m.Lock()
	defer m.Unlock()
	NewCounter().Inc()
	o := NewMapOf[int, int]()
	o.Load(0)
	o.Store(0, o.Size())
	o.Delete(0)
	o.LoadOrTryCompute(0, func() (int, bool) { return 0, false })
	o.Compute(0, func(old int, _ bool) (int, bool) { return old, false })
	o.Range(func(int, int) bool { return false })
}
