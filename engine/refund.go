package engine

import "github.com/penstock-go/penstock/internal/sched"

// Receipt is the proof of a charge, with which its permits can be given back: for a request that
// failed and is not to count, say. It must not be copied after its first use; its methods are safe
// for concurrent use.
type Receipt[K comparable] struct {
	limiter *Limiter[K]
	key     K
	left    sched.Int64 // permits not given back yet
	done    receipts
}

// TakeReceipt is [Limiter.Take] that returns a receipt as well, nil if the call was not allowed.
func (m *Limiter[K]) TakeReceipt(key K, n int64) (Decision, *Receipt[K]) {
	d, done := m.takeSeveral(m.ruleOf(key), key, n, readClock)
	m.stats.count(d.Allowed)
	if !d.Allowed || n <= 0 {
		return d, nil
	}
	r := &Receipt[K]{limiter: m, key: key, done: done}
	r.left.Store(n)
	return d, r
}

// Refund gives back n permits of the charge and reports whether anything was given back. Over all
// calls no more is given back than was charged. What a key has earned back by itself since the
// charge is not due any more, so a bucket gives back n permits less what its rate has earned since;
// a window gives them back to the window that counted them, or to none if that no longer counts; a
// leaky queue gives back the turn of its last call only, since those behind keep theirs;
// nothing is due once the key was forgotten, nor once any key of the limiter was reset or changed its
// limit. A refund never lets
// more pass than the limit's bound on any interval, the refunded permits left out.
func (r *Receipt[K]) Refund(n int64) bool {
	if r == nil || n <= 0 {
		return false
	}
	held, ok := r.claim(n)
	return ok && r.limiter.giveBack(r.key, n, held, &r.done)
}

// claim takes n off what may still be given back, and returns how much that was before.
func (r *Receipt[K]) claim(n int64) (held int64, ok bool) {
	for {
		held = r.left.Load()
		if n > held {
			return 0, false
		}
		if r.left.CompareAndSwap(held, held-n) {
			return held, true
		}
	}
}
