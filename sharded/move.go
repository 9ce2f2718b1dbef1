package sharded

import (
	"github.com/penstock-go/penstock/atomicstate"
)

// A key whose limit changes between an algorithm of one word and the sliding log moves between
// this table and a table of logs. It has one home at a time: both moves happen under the lock of
// the key's leaf, a word that left is Superseded and a log that left is dead, and whoever meets
// one of those looks again under that lock. Lock order: ledger, leaf, log.

// Move takes a key out of its other home, if it has one, and returns the permits that it has
// used there at now. It is called under the lock of the key's leaf.
type Move func(now int64) (used int64, ok bool)

// settle makes the word of a key that comes from elsewhere, owing what it has used there, and
// applies this take. The cap does not apply: the key was held already.
func (t *Table) settle(l *leaf, p places, id identity, used, now, n int64) (Outcome, uint64, int64) {
	law := t.law(limitOf(id.check))
	word, outcome := law.Carry(atomicstate.Usage{Units: uint64(used), PerPermit: 1}, now), Denied
	if next, ok := takeOrNone(law, word, now, n); ok {
		word, outcome = next, Charged
	}
	l.retryForget = min(l.retryForget, until(law, word, now))
	l.put(p, id, word)
	t.keys.Add(1)
	t.counters.conversions.Add(1)
	return outcome, word, now
}

// MoveOut takes a key's word out of the table, whatever its limit, and calls settle with the
// permits it has used, rounded up, and the time; 0 if it has no word. settle runs under the lock
// of the key's leaf. MoveOut reports false, without calling it, if the call is to be repeated.
func (t *Table) MoveOut(k Key, now int64, settle func(used, now int64)) bool {
	ledger := t.lockLedger(k)
	defer ledger.Unlock()
	l := t.dir.Load().leafOf(k.Hash)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.replaced {
		t.counters.staleLeaves.Add(1)
		return false
	}
	s := l.any(k)
	if s == nil || !atomicstate.IsLive(s.word.Load()) {
		settle(0, max(now, t.clock(), l.floor))
		return true
	}
	word := s.word.Swap(atomicstate.Superseded)
	now, ready := t.timeIn(l, now)
	if !ready {
		s.word.Store(word) // as if it had not been swapped
		return false
	}
	t.epoch.Add(1) // after the swap: whatever was charged to the word was charged before
	t.tell(ledger, k, now, true)
	used := t.law(limitOf(s.check)).Usage(word, now).Permits()
	t.keys.Add(-1)
	t.counters.conversions.Add(1)
	l.lookAgain() // the superseded slot can go
	settle(used, now)
	return true
}
