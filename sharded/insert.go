package sharded

import "github.com/penstock-go/penstock/atomicstate"

// Outcome says what Insert did.
type Outcome uint8

const (
	// Retry means that the key has a live word now, or the leaf changed; start again with Find.
	Retry Outcome = iota
	// Charged means that the permits were taken.
	Charged
	// Denied means that the permits were not taken.
	Denied
	// Full means that the key is new and the cap on keys is reached.
	Full
	// Leapt means that time has leapt, and nothing was done: call [Table.CatchUp] with a time not before the one
	// returned, then start again.
	Leapt
)

// Insert handles a key without a live word under its limit: a new key, or one whose word
// belongs to another limit, whose usage is carried over. It charges n >= 0 permits at the
// latest of now, the clock, and the time at which the leaf last forgot a key; it returns
// what the key's word is now and that time. A denied call makes no slot for a new key. The
// cap does not apply to an overflow key. n == 0 makes a slot and charges nothing: a sweep may
// forget it at once.
//
// move, if not nil, is asked under the leaf's lock whether the key lives elsewhere (in a table
// of logs); if it does, it leaves there and its usage is carried into the word.
func (t *Table) Insert(k Key, limit uint32, now, n int64, move Move) (Outcome, uint64, int64) {
	ledger := t.lockLedger(k)
	defer ledger.Unlock()
	return t.insert(ledger, k, limit, now, n, move)
}

// insert is Insert for the holder of the key's ledger, nil if there is none.
func (t *Table) insert(ledger *Ledger, k Key, limit uint32, now, n int64, move Move) (Outcome, uint64, int64) {
	l := t.dir.Load().leafOf(k.Hash)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.replaced {
		t.counters.staleLeaves.Add(1)
		return Retry, 0, 0
	}
	id := k.under(limit)
	p := l.probe(id)
	if p.own != nil && atomicstate.IsLive(p.own.word.Load()) {
		return Retry, 0, 0
	}
	if p.own == nil && int(l.used) >= roomAt(l.depth) {
		now, ready := t.timeIn(l, now)
		switch {
		case !ready:
			return Leapt, 0, now
		case !t.grow(l, now):
			return Full, t.law(limit).Fresh(now), now
		}
		return Retry, 0, 0
	}
	if p.other != nil {
		return t.convert(ledger, l, p, id, now, n)
	}
	now, ready := t.timeIn(l, now)
	if !ready {
		return Leapt, 0, now
	}
	if move != nil {
		if used, ok := move(now); ok {
			t.tell(ledger, k, now, true)
			return t.settle(l, p, id, used, now, n)
		}
	}
	return t.add(l, p, id, now, n)
}

// timeIn returns the time of a change to l: not before now, the clock, and the leaf's floor.
// It reports false if time has leapt so far that a sweep must come first: that sweep reads
// words where the last one left off, and a word charged at such a time cannot be read there.
// The caller holds l's lock.
func (t *Table) timeIn(l *leaf, now int64) (at int64, ready bool) {
	at = max(now, t.clock(), l.floor)
	return at, at < t.sweepDue.Load()
}

// convert moves a key's usage from another limit to the one in id, applies this take, and
// publishes the result. Charging under the lock means that two alternating limits cannot
// livelock. The caller holds l's lock and made sure of room.
func (t *Table) convert(ledger *Ledger, l *leaf, p places, id identity, now, n int64) (Outcome, uint64, int64) {
	other := p.other
	old := other.word.Swap(atomicstate.Superseded)
	now, ready := t.timeIn(l, now) // read after the swap: no later charge can be in old
	if !ready {
		other.word.Store(old) // nothing was read or published in between: as if it had not been swapped
		return Leapt, 0, now
	}
	t.epoch.Add(1) // after the swap: whatever was charged to the old word was charged before
	from, law := t.law(limitOf(other.check)), t.law(limitOf(id.check))
	word, outcome := atomicstate.Convert(from, old, law, now), Denied
	t.tell(ledger, id.key(), now, law.Usage(word, now).Permits() < from.Usage(old, now).Permits())
	if next, ok := takeOrNone(law, word, now, n); ok {
		word, outcome = next, Charged
	}
	l.lookAgain() // the new limit may earn faster, and a superseded slot can go
	l.put(p, id, word)
	t.counters.conversions.Add(1)
	return outcome, word, now
}

// add makes a slot for a new key, this take already charged. The time is not before the
// leaf's floor: a key that was forgotten at a time F and comes back at F or later is in the
// state it would have been in.
func (t *Table) add(l *leaf, p places, id identity, now, n int64) (Outcome, uint64, int64) {
	law := t.law(limitOf(id.check))
	fresh := law.Fresh(now)
	word, ok := takeOrNone(law, fresh, now, n)
	if !ok {
		return Denied, fresh, now
	}
	if !id.isOverflow() && !t.reserveKey() {
		return t.makeRoom(l, now), fresh, now
	}
	l.retryForget = min(l.retryForget, until(law, word, now))
	l.put(p, id, word)
	t.counters.inserts.Add(1)
	return Charged, word, now
}

// takeOrNone takes n >= 0 permits.
func takeOrNone(law atomicstate.Law, word uint64, now, n int64) (next uint64, ok bool) {
	if n == 0 {
		return word, true
	}
	return law.Take(word, now, n)
}

// tell tells the ledger of k, or whoever made one since, that the key's limit has changed at now: its
// word was swapped. lost says that not all of what it used was carried over.
func (t *Table) tell(ledger *Ledger, k Key, now int64, lost bool) {
	if ledger == nil {
		t.unseen.Add(1)
		return
	}
	ledger.changed(k, now, lost)
}

// reserveKey counts one more key unless the cap is reached. It never counts beyond the cap,
// not even for a moment, in which a place that was freed would be hidden from others.
func (t *Table) reserveKey() bool {
	if t.maxKeys == 0 {
		t.keys.Add(1)
		return true
	}
	for {
		n := t.keys.Load()
		if n >= t.maxKeys {
			return false
		}
		if t.keys.CompareAndSwap(n, n+1) {
			return true
		}
	}
}
