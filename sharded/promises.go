package sharded

import (
	"cmp"
	"slices"

	"github.com/penstock-go/penstock/atomicstate"
)

// promises are the reservations of one key. A key has an entry from its first reservation until a
// look or a sweep after all have acted.
type promises struct {
	acts    []atomicstate.Promise // by time; those of the key's present limit
	old     []atomicstate.Act     // those made under limits that the key had before
	calls   int                   // how many of both were not given up
	permits int64                 // of how many permits
	returns uint64                // how often anything was given back to the key's word
	// changes counts the changes of the key's limit, and changedAt is when the last one was.
	changes   uint64
	changedAt int64
}

// of returns the reservations of k.
func (l *Ledger) of(k Key) *promises {
	p := l.keys[k]
	if p == nil {
		p = new(promises)
		l.keys[k] = p
	}
	return p
}

// changed notes that the limit of k changed at now; lost says that what it used is not known exactly
// any more.
func (l *Ledger) changed(k Key, now int64, lost bool) {
	p := l.keys[k]
	if p == nil {
		return
	}
	p.changes++
	if lost {
		p.changes++
	}
	p.changedAt = now
	for _, a := range p.acts {
		if a.Owed == 0 {
			p.old = append(p.old, a.Act)
		}
	}
	p.acts = nil
}

// Forget drops the reservations of k, which was reset elsewhere: they act, but nobody counts them any
// more.
func (t *Table) Forget(k Key) {
	if l := t.lockLedger(k); l != nil {
		l.forget(k)
		l.Unlock()
	}
}

// forget is [Table.Forget] for the holder of the lock.
func (l *Ledger) forget(k Key) {
	if p := l.keys[k]; p != nil {
		p.acts, p.old = nil, nil
		delete(l.keys, k)
	}
}

// prune drops the reservations that have acted before now, and the entry if none is left.
func (l *Ledger) prune(k Key, p *promises, now int64) {
	first, _ := slices.BinarySearchFunc(p.acts, now, byTime)
	for _, a := range p.acts[:first] {
		if a.Owed == 0 {
			p.count(a.Act, -1)
		}
	}
	p.acts = p.acts[first:]
	p.old = slices.DeleteFunc(p.old, func(a atomicstate.Act) bool {
		if a.At < now {
			p.count(a, -1)
		}
		return a.At < now
	})
	if len(p.acts) == 0 && len(p.old) == 0 && l.keys[k] == p {
		delete(l.keys, k)
	}
}

// pruneAll drops from all ledgers what has acted.
func (t *Table) pruneAll() {
	all := t.ledgers.Load()
	if all == nil {
		return
	}
	for i := range all {
		l := &all[i]
		l.mu.Lock()
		now := t.clock()
		for k, p := range l.keys {
			l.prune(k, p, now)
		}
		l.mu.Unlock()
	}
}

func byTime(a atomicstate.Promise, at int64) int { return cmp.Compare(a.At, at) }

// add puts act in its place: at the end, but where something was given back before.
func (p *promises) add(act atomicstate.Act) {
	i := len(p.acts)
	for i > 0 && p.acts[i-1].At > act.At {
		i--
	}
	p.acts = slices.Insert(p.acts, i, atomicstate.Promise{Act: act})
	p.count(act, 1)
}

// count counts act as one more or one less of those that were not given up.
func (p *promises) count(act atomicstate.Act, calls int) {
	p.calls += calls
	p.permits += int64(calls) * act.N
}

// dueBy returns how many reservations that were not given up act by now, and of how many permits.
func (p *promises) dueBy(now int64) (calls int, permits int64) {
	for _, a := range p.acts {
		if a.At > now {
			break
		}
		if a.Owed == 0 {
			calls, permits = calls+1, permits+a.N
		}
	}
	for _, a := range p.old {
		if a.At <= now {
			calls, permits = calls+1, permits+a.N
		}
	}
	return calls, permits
}

// returned notes that something was given back to the word of the key; nil is a key without
// reservations.
func (p *promises) returned() {
	if p != nil {
		p.returns++
	}
}

// after returns the reservations that act after at; nil is a key without any.
func (p *promises) after(at int64) []atomicstate.Promise {
	if p == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(p.acts, at+1, byTime)
	return p.acts[i:]
}

// all is after, with those made under limits that the key had before.
func (p *promises) all(at int64) []atomicstate.Promise {
	all := slices.Clone(p.after(at))
	for _, a := range p.old {
		if a.At > at {
			all = append(all, atomicstate.Promise{Act: a})
		}
	}
	slices.SortFunc(all, func(a, b atomicstate.Promise) int { return cmp.Compare(a.At, b.At) })
	return all
}

// find returns the place of a reservation like act that was not given up, or -1.
func (p *promises) find(act atomicstate.Act) int {
	i, _ := slices.BinarySearchFunc(p.acts, act.At, byTime)
	for ; i < len(p.acts) && p.acts[i].At == act.At; i++ {
		if p.acts[i].Act == act && p.acts[i].Owed == 0 {
			return i
		}
	}
	return -1
}
