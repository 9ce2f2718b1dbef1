package sharded

import (
	"slices"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/sched"
)

// The word of a key says when the next permits may act, and decides alone. What it does not say is
// which of those that it counts are still to act, and when: that is known here, until they have, so
// that a reservation can be given up without moving the others. See [Ledger].

// ledgers is how many locks the keys with reservations share.
const ledgers = 64

// Ledger holds the reservations of some keys that have not acted yet. Its methods are for the holder
// of its lock: reservations and refunds of one key happen one after the other, while takes pass
// beside them. Lock order: sweep, ledger, leaf, directory. Cost: the lock, and for what gives
// something back a look at every later reservation of the key.
type Ledger struct {
	mu    sched.Mutex
	table *Table
	keys  map[Key]*promises
}

// Promise is a reservation that was made: what cancelling it asks for. The zero value is none.
type Promise struct {
	of            *promises
	act           atomicstate.Act
	limit         uint32
	before, after uint64 // the word
	returns       uint64
	changes       uint64
	unseen        uint64
}

// At returns when the permits act.
func (p *Promise) At() int64 { return p.act.At }

// Offer is a reservation that can be made if nobody is faster.
type Offer struct {
	slot       *sched.Uint64
	word, next uint64
	limit      uint32
	act        atomicstate.Act
	unseen     uint64
}

// At returns when the permits would act.
func (o *Offer) At() int64 { return o.act.At }

// Availability says whether there is an offer.
type Availability uint8

const (
	// Offered means that there is one.
	Offered Availability = iota
	// Missing means that the key has no live word under its limit.
	Missing
	// SweepFirst means that time has leapt: [Table.CatchUp] must come first.
	SweepFirst
	// Refused means that the permits can never act, or later than can be promised.
	Refused
)

// Ledger returns the ledger of k, the same for every index of it, to be locked.
func (t *Table) Ledger(k Key) *Ledger {
	all := t.ledgers.Load()
	if all == nil {
		all = new([ledgers]Ledger)
		for i := range all {
			all[i].table, all[i].keys = t, map[Key]*promises{}
		}
		if !t.ledgers.CompareAndSwap(nil, all) {
			all = t.ledgers.Load()
		}
	}
	return &all[k.Hash%ledgers]
}

// lockLedger locks the ledger of k if there is any, and reports it.
func (t *Table) lockLedger(k Key) *Ledger {
	if t.ledgers.Load() == nil {
		return nil
	}
	l := t.Ledger(k)
	l.mu.Lock()
	return l
}

// Lock locks l.
func (l *Ledger) Lock() { l.mu.Lock() }

// Unlock unlocks l; nil is no ledger.
func (l *Ledger) Unlock() {
	if l != nil {
		l.mu.Unlock()
	}
}

// Offer finds the first instant, not before from, which is not before now, at which n >= 1 permits
// of k may act under limit. wait is how long after now that is, or would be if it can be promised,
// and [atomicstate.Never] if it never comes.
func (l *Ledger) Offer(k Key, limit uint32, now, from, n int64) (o Offer, wait int64, a Availability) {
	t := l.table
	o.limit, o.unseen = limit, t.unseen.Load()
	for {
		o.slot, o.word = t.Find(k, limit)
		if o.word == atomicstate.Moved {
			if o.slot, o.word = t.Follow(k, limit); o.word == atomicstate.Moved {
				continue
			}
		}
		if !atomicstate.IsLive(o.word) {
			return Offer{}, 0, Missing
		}
		if !t.Near(now) {
			return Offer{}, 0, SweepFirst
		}
		law := t.law(limit)
		next, wait, ok := law.Reserve(o.word, from, n)
		if wait != atomicstate.Never {
			wait += from - now
		}
		if !ok || from-now > law.Horizon()/atomicstate.PromiseShare {
			return Offer{}, wait, Refused
		}
		o.next, o.act = next, atomicstate.Act{At: now + wait, N: n}
		return o, wait, Offered
	}
}

// Make makes the reservation that was offered for k, or reports false if the key was charged since.
func (l *Ledger) Make(k Key, o Offer) (Promise, bool) {
	p := l.of(k)
	promise := Promise{
		of: p, act: o.act, limit: o.limit, before: o.word, after: o.next,
		returns: p.returns, changes: p.changes, unseen: o.unseen,
	}
	if !o.slot.CompareAndSwap(o.word, o.next) {
		l.prune(k, p, l.table.clock())
		return Promise{}, false
	}
	p.add(o.act)
	return promise, true
}

// Note notes a reservation of k that was made elsewhere, in a table of logs.
func (l *Ledger) Note(k Key, act atomicstate.Act) Promise {
	p := l.of(k)
	p.add(act)
	return Promise{of: p, act: act, changes: p.changes}
}

// Waiting returns how many reservations of k are to act later, and of how many permits.
func (l *Ledger) Waiting(k Key) (calls int, permits int64) {
	p := l.keys[k]
	if p == nil {
		return 0, 0
	}
	now := l.table.clock()
	l.prune(k, p, now)
	calls, permits = p.dueBy(now)
	return p.calls - calls, p.permits - permits
}

// Cancel gives up a reservation of k, unless its time has passed or it was given up already, and
// reports whether it did. What can be given back is given back to the key's word:
//
//   - everything, if nobody came after it: then all is as if it had never been;
//   - else as much as leaves those that came after it their times, and the rest when they are given
//     up too ([atomicstate.Law]);
//   - after one change of the key's limit, what is still owed of what was carried over at it; after
//     more of them, or a reset, nothing.
func (l *Ledger) Cancel(k Key, promise Promise) bool {
	p, t := promise.of, l.table
	now := t.clock()
	if p == nil || promise.act.At < now {
		return false
	}
	defer l.prune(k, p, now)
	leaf := t.hold(k)
	defer leaf.mu.Unlock()
	known := promise.after != 0 && t.unseen.Load() == promise.unseen // of a word whose changes are known
	if p.changes != promise.changes {
		return l.cancelOld(leaf, k, p, promise, now, known)
	}
	i := p.find(promise.act)
	if i < 0 {
		return false
	}
	p.count(promise.act, -1)
	if known {
		l.release(leaf, k, p, i, promise, now)
	} else {
		p.acts = slices.Delete(p.acts, i, i+1)
	}
	return true
}

// Withdraw gives up a reservation that was made a moment ago and whose permits nobody has used,
// though its time may have passed: all of it if nobody came after it, else what has not been earned
// back since.
func (l *Ledger) Withdraw(k Key, promise Promise) {
	p, now := promise.of, l.table.clock()
	if p == nil {
		return
	}
	defer l.prune(k, p, now)
	if i := p.find(promise.act); i >= 0 {
		p.count(promise.act, -1)
		p.acts = slices.Delete(p.acts, i, i+1)
	}
	leaf := l.table.hold(k)
	defer leaf.mu.Unlock()
	if promise.after == 0 || l.table.unseen.Load() != promise.unseen || p.returns == promise.returns && l.undo(leaf, k, promise) {
		return
	}
	l.update(leaf, k, func(law atomicstate.Law, word uint64) (uint64, bool) {
		return law.Refund(word, promise.act, now, promise.act.N, p.after(max(now, promise.act.At)))
	})
}

// cancelOld is Cancel of a reservation made under a limit that the key had before.
func (l *Ledger) cancelOld(leaf *leaf, k Key, p *promises, promise Promise, now int64, known bool) bool {
	i := slices.Index(p.old, promise.act)
	if i < 0 {
		return false
	}
	p.old = slices.Delete(p.old, i, i+1)
	p.count(promise.act, -1)
	if known && p.changes-promise.changes == 1 {
		carried := atomicstate.Act{At: p.changedAt, N: promise.act.N}
		l.update(leaf, k, func(law atomicstate.Law, word uint64) (uint64, bool) {
			return law.Refund(word, carried, now, carried.N, p.all(now))
		})
	}
	return true
}

// release gives back what can be given back of the i-th promise and of those given up before.
func (l *Ledger) release(leaf *leaf, k Key, p *promises, i int, promise Promise, now int64) {
	if p.returns == promise.returns && l.undo(leaf, k, promise) {
		p.acts = slices.Delete(p.acts, i, i+1)
	} else {
		unit := l.table.law(promise.limit).Usage(promise.after, now).PerPermit
		p.acts[i].Owed = promise.act.N * int64(unit)
	}
	var given int64
	l.update(leaf, k, func(law atomicstate.Law, word uint64) (next uint64, due bool) {
		next, given = law.Release(word, now, p.after(now-1))
		return next, given > 0
	})
	p.settle(given)
}

// settle takes given units off what is owed of promises that were given up, the last ones first.
func (p *promises) settle(given int64) {
	for i := len(p.acts) - 1; i >= 0 && given > 0; i-- {
		a := &p.acts[i]
		part := min(given, a.Owed)
		a.Owed -= part
		given -= part
		if part > 0 && a.Owed == 0 {
			p.acts = slices.Delete(p.acts, i, i+1)
		}
	}
}

// undo puts a word back to what it was before a reservation if nobody has changed it since. Words
// come back to what they were only where something was given back: the caller knows of all that.
// What is undone itself does not count there: it leaves nothing that came after.
func (l *Ledger) undo(leaf *leaf, k Key, promise Promise) bool {
	return leaf.swap(l.table, k, func(_ atomicstate.Law, word uint64) (uint64, bool) {
		return promise.before, word == promise.after
	})
}

// update is swap, and notes that something was given back.
func (l *Ledger) update(leaf *leaf, k Key, back func(law atomicstate.Law, word uint64) (next uint64, due bool)) {
	if leaf.swap(l.table, k, back) {
		l.keys[k].returned()
	}
}

// swap gives the word of k, whatever its limit is, what back makes of it, and reports whether anything
// was due. The caller holds l's lock.
func (l *leaf) swap(t *Table, k Key, back func(law atomicstate.Law, word uint64) (next uint64, due bool)) bool {
	s := l.any(k)
	if s == nil {
		return false
	}
	for word := s.word.Load(); atomicstate.IsLive(word); word = s.word.Load() {
		next, due := back(t.law(limitOf(s.check)), word)
		if !due {
			return false
		}
		if s.word.CompareAndSwap(word, next) {
			l.lookAgain()
			return true
		}
	}
	return false
}
