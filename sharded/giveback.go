package sharded

import "github.com/penstock-go/penstock/atomicstate"

// Epoch counts the resets and the changes of a key's limit in this table. A charge can be given
// back while it stands still: see [Table.Refund].
func (t *Table) Epoch() uint64 { return t.epoch.Load() }

// Refund gives back n of the permits that were charged to k under limit and acted, or would have,
// at the time and in the number of act, as far as the law can give them back without minting, and
// reports whether anything was. epoch is [Table.Epoch] before the charge: a key that was reset, or
// put under another limit and back, may have earned the charge back in a way that its word does not
// tell, so once any key was, nothing is given back. Nor is it to a key that was forgotten.
func (t *Table) Refund(k Key, limit uint32, act atomicstate.Act, n int64, epoch uint64) bool {
	l := t.Ledger(k)
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.keys[k]
	for {
		slot, word := t.Find(k, limit)
		switch {
		case slot == nil || word == atomicstate.Superseded || t.epoch.Load() != epoch:
			return false
		case word == atomicstate.Moved:
			t.Await(k)
			continue
		}
		now := t.clock()
		next, due := t.law(limit).Refund(word, act, now, n, p.after(max(now, act.At)))
		if !due {
			return false
		}
		if slot.CompareAndSwap(word, next) {
			p.returned()
			t.lookAgain(k)
			return true
		}
	}
}

// Reset makes k equal to a new key, under whatever limit it is, and reports whether it had
// a slot. The slot is left for the sweep, and counts as a key until then.
func (t *Table) Reset(k Key) bool {
	ledger := t.lockLedger(k)
	defer ledger.Unlock()
	for {
		s := t.lookupSlot(k)
		if s == nil {
			return false
		}
		word := s.word.Load()
		if word == atomicstate.Superseded && t.gone(k) {
			return false
		}
		if !atomicstate.IsLive(word) {
			t.Await(k)
			continue
		}
		t.epoch.Add(1) // after the load: a charge in between fails the swap, one before it is of an older epoch
		if s.word.CompareAndSwap(word, t.law(limitOf(s.check)).Fresh(t.clock())) {
			if ledger == nil {
				t.unseen.Add(1)
			} else {
				ledger.forget(k)
			}
			t.lookAgain(k)
			return true
		}
	}
}
