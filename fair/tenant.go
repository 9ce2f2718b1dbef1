package fair

// standing is where a tenant stands in the order of shares.
type standing uint8

const (
	apart    standing = iota // in no order: just made, or on its way from one to another
	waiting                  // callers wait for it in Wait
	claiming                 // its last call of Take was refused, and may be made again
	indebted                 // it asks for nothing, and has had more than its share: its tag is ahead of virtual time
)

// tenant is one of those who share the limit, held while it asks for permits or is in debt.
type tenant[T comparable] struct {
	key      T
	weight   uint64 // from 1 to MaxWeight
	standing standing

	start tag    // of its next request: the finish tag of the one before, or the virtual time at which it came
	rest  uint64 // what the division for start has left, see tag.after; below weight
	order uint64 // of equal starts the one with the lower order goes first
	place int    // in the heap of waiting or indebted tenants

	first, last *waiter[T] // those who wait for it, first come first
	waiters     int
	permits     int64 // that they wait for

	claim       int64      // permits of the refused call, above 0 while claiming
	untilNanos  int64      // when the claim lapses: the last nanosecond of its life
	lapse       int        // place in the heap of claims that lapse
	left, right *tenant[T] // in the tree of claims: tenants before and after it
	claims      int64      // in the tree: the permits of its own claim and of those below it
}

// earlier reports whether a's next request goes before b's.
func earlier[T comparable](a, b *tenant[T]) bool {
	if a.start != b.start {
		return a.start.before(b.start)
	}
	return a.order < b.order
}

// waiter is one call of Wait that waits.
type waiter[T comparable] struct {
	tenant     *tenant[T]
	n          int64
	prev, next *waiter[T]
	ready      chan struct{} // closed when the wait is over
	err        error         // why it is over, nil if granted; written before ready is closed
	queued     bool
}

// push adds w to the end of the tenant's queue.
func (t *tenant[T]) push(w *waiter[T]) {
	w.tenant, w.queued, w.prev = t, true, t.last
	if t.last == nil {
		t.first = w
	} else {
		t.last.next = w
	}
	t.last = w
	t.waiters++
	t.permits += w.n
}

// remove takes w out of the tenant's queue, wherever it is.
func (t *tenant[T]) remove(w *waiter[T]) {
	if w.prev == nil {
		t.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		t.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next, w.queued = nil, nil, false
	t.waiters--
	t.permits -= w.n
}
