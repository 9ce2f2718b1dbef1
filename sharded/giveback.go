package sharded

import (
	"math"

	"github.com/penstock-go/penstock/atomicstate"
)

// Epoch counts the resets and the changes of a key's limit in this table. A charge can be given
// back while it stands still: see [Table.Refund].
func (t *Table) Epoch() uint64 { return t.epoch.Load() }

// Refund gives back n of the permits that were charged to k under limit and acted, or would have,
// at the time and in the number of act, as far as the law can give them back without minting, and
// reports whether anything was. epoch is [Table.Epoch] before the charge: a key that was reset, or
// put under another limit and back, may have earned the charge back in a way that its word does not
// tell, so once any key was, nothing is given back. Nor is it to a key that was forgotten.
func (t *Table) Refund(k Key, limit uint32, act atomicstate.Act, n int64, epoch uint64) bool {
	ledger := t.Ledger(k)
	ledger.mu.Lock()
	defer ledger.mu.Unlock()
	p := ledger.keys[k]
	l := t.hold(k)
	defer l.mu.Unlock()
	slot, word := l.find(k.under(limit))
	for slot != nil && atomicstate.IsLive(word) && t.epoch.Load() == epoch {
		now := t.clock()
		next, due := t.law(limit).Refund(word, act, now, n, p.after(max(now, act.At)))
		if !due {
			return false
		}
		if slot.CompareAndSwap(word, next) {
			p.returned()
			l.lookAgain()
			return true
		}
		word = slot.Load()
	}
	return false
}

// Reset makes k equal to a new key, under whatever limit it is, and reports whether it had
// a slot. The slot is left for the sweep, and counts as a key until then.
func (t *Table) Reset(k Key) bool {
	ledger := t.lockLedger(k)
	defer ledger.Unlock()
	l := t.hold(k)
	defer l.mu.Unlock()
	s := l.any(k)
	if s == nil {
		return false
	}
	for word := s.word.Load(); atomicstate.IsLive(word); word = s.word.Load() {
		t.epoch.Add(1) // after the load: a charge in between fails the swap, one before it is of an older epoch
		if !s.word.CompareAndSwap(word, t.law(limitOf(s.check)).Fresh(t.clock())) {
			continue
		}
		if ledger == nil {
			t.unseen.Add(1)
		} else {
			ledger.forget(k)
		}
		l.lookAgain()
		return true
	}
	return false
}

// hold locks the leaf of k and returns it. Under its lock every reset of a key and every change of its limit
// is made, and counted, so whoever holds it gives back what is due, and not what was forgotten a moment ago.
// The lock of the key's ledger is not enough for that: whoever came before there was one has not taken it.
// Takes go on.
func (t *Table) hold(k Key) *leaf {
	for {
		l := t.dir.Load().leafOf(k.Hash)
		l.mu.Lock()
		if !l.replaced {
			return l
		}
		l.mu.Unlock()
	}
}

// lookAgain makes the next new key at the cap look for something to forget in l: a key of it owes less since,
// and may be new earlier than was thought. The caller holds l's lock.
func (l *leaf) lookAgain() { l.retryForget = math.MinInt64 }
