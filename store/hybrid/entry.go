package hybrid

import (
	"math"
	"sync"
	"sync/atomic"
)

// entry is what a process keeps in mind of a key. The way of a call reads current and refusal without
// a lock; what changes them holds mu.
//
//	field            written        read
//	current          under mu       by anyone
//	refusal          under mu       by anyone
//	nextAsk          by anyone      by anyone
//	all others       under mu       under mu
type entry struct {
	key string

	current atomic.Pointer[lease]   // the lease that is spent; nil: none
	refusal atomic.Pointer[refusal] // nil: none
	nextAsk atomic.Int64            // no lease is to be asked for ahead before; underWay: one is, or is held

	mu      sync.Mutex
	next    *lease  // spent after current
	flight  *flight // the request under way, if there is one
	demand  demand
	stock   int64 // permits in the store at stockAt
	stockAt int64

	notBefore int64 // nextAsk once nothing is under way
	touched   int64 // last time that a call needed more than current
	resets    int   // times that the key was reset by this process
	dead      bool  // no longer in the table
}

// underWay is the nextAsk of an entry whose next lease is taken care of.
const underWay = math.MaxInt64

// flight is a request for permits that is under way: at most one a key.
type flight struct {
	done   chan struct{} // closed when it has landed
	sent   int64
	want   int64 // permits that the lease should have
	extra  int64 // permits that are asked for it
	resets int   // of the entry when it was sent
	err    error // after done
	left   bool  // after done: err is due to the caller that has made the request, not to the store
}

// settle takes leases away that are used up or have ended, and makes the next one the current. The
// caller holds mu.
func (l *Limiter) settle(e *entry, now int64) {
	l.note(e, now)
	if a := e.current.Load(); a != nil && over(a, now) {
		e.current.Store(nil)
		l.retire(a)
	}
	if a := e.next; a != nil && over(a, now) {
		e.next = nil
		l.retire(a)
		l.asked(e)
	}
	if e.current.Load() == nil && e.next != nil {
		e.current.Store(e.next)
		e.next = nil
		l.asked(e)
	}
}

// asked makes it possible again to ask for a lease ahead, if none is on its way. The caller holds mu.
func (l *Limiter) asked(e *entry) {
	if e.flight == nil {
		e.nextAsk.Store(e.notBefore)
	}
}

// over reports whether a lease is of no more use at now.
func over(a *lease, now int64) bool { return now >= a.until || a.left.Load() == 0 }

// note tells the demand what was spent since the last note. The caller holds mu.
func (l *Limiter) note(e *entry, now int64) {
	var n int64
	for _, a := range [...]*lease{e.current.Load(), e.next} {
		if a != nil {
			spent := a.spent()
			n += spent - a.counted
			a.counted = spent
		}
	}
	e.demand.add(n, now, l.life)
}

// retire ends a lease that nobody finds any more and counts what became of it. Whoever found
// it before finds it empty. The caller holds entry.mu.
func (l *Limiter) retire(a *lease) {
	left := a.left.Swap(0)
	l.counters.spent.Add(a.granted - left)
	l.counters.wasted.Add(left)
}

// drop ends everything that is held of a key. The caller holds mu.
func (l *Limiter) drop(e *entry) {
	if a := e.current.Swap(nil); a != nil {
		l.retire(a)
	}
	if a := e.next; a != nil {
		e.next = nil
		l.retire(a)
	}
	e.refusal.Store(nil)
	l.asked(e)
}

// size returns how many permits the next lease of a key should have, and how many of them to ask for,
// on top of n for the call that asks; 0 if the key is cold, or nothing more may be held. The caller
// holds mu and has settled.
func (l *Limiter) size(e *entry, n, now int64) (want, extra int64) {
	demand := math.Ceil(e.demand.perNano * float64(l.life) / 2)
	if demand < coldPermits || 2*l.roundTrip.most() > l.life {
		return 0, 0
	}
	want = min(int64(min(demand, float64(l.maxLease))), l.maxLease-held(e))
	if want <= 0 {
		return 0, 0
	}
	there := min(float64(e.stock)+l.perNano*float64(now-e.stockAt), float64(l.capacity))
	if half := (there - float64(n)) / 2; half < float64(want) {
		return want, max(1, int64(half)) // the rest is for other processes
	}
	return want, want
}

// coldPermits is the size of a lease from which it is worth its while. A lease is sized for half of a
// life: less than one permit to be spent besides the one that a call asks for saves nothing.
const coldPermits = 2

// held returns how many permits are held that have not been spent. The caller holds mu.
func held(e *entry) (n int64) {
	if a := e.current.Load(); a != nil {
		n += a.left.Load()
	}
	if e.next != nil {
		n += e.next.left.Load()
	}
	return n
}

// begin puts a request for a lease on its way; nil if the key is cold, or has its next lease, or nothing
// more may be held. n are the permits of the call that asks. The caller holds mu and has settled, and no
// request is under way.
func (l *Limiter) begin(e *entry, n, now int64) *flight {
	want, extra := l.size(e, n, now)
	if extra == 0 || e.next != nil || e.dead || l.closed.Load() {
		return nil
	}
	e.flight = &flight{done: make(chan struct{}), want: want, extra: extra, resets: e.resets}
	e.nextAsk.Store(underWay)
	return e.flight
}
