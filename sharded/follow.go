package sharded

import (
	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/sched"
)

// A rebuild posts where it copies the words of a leaf to, before it freezes the first one, and takes
// the post down once the copies are published. Whoever meets a frozen word goes on at its copy
// meanwhile: it waits for the copy of one word, some nanoseconds of work, and not for the rebuild. A
// copy is charged as any word is, by compare-and-swap; nothing but charges of live words touches
// leaves that are not published yet.

// post says where the words of from are copied to. Both are stored before from, which is cleared
// first, and a leaf is rebuilt once: so whoever reads from before and after them has those of that leaf.
type post struct {
	taken     sched.Bool
	from      sched.Pointer[leaf]
	low, high sched.Pointer[leaf] // the same for both halves, or one for each
}

// postOf returns the place of l's post, which it shares with other leaves.
func (t *Table) postOf(l *leaf) *post {
	return &t.posts[l.prefix*0x9e3779b97f4a7c15>>(64-postBits)] // the golden ratio spreads prefixes
}

// announce posts that l is copied to low and high. It returns nil if another leaf's post is in its
// place: then l's frozen words are waited for. The caller holds l's lock.
func (t *Table) announce(l, low, high *leaf) *post {
	p := t.postOf(l)
	if !p.taken.CompareAndSwap(false, true) {
		return nil
	}
	p.low.Store(low)
	p.high.Store(high)
	p.from.Store(l)
	return p
}

// withdraw takes p down, if there is one.
func (p *post) withdraw() {
	if p == nil {
		return
	}
	p.from.Store(nil)
	p.low.Store(nil)
	p.high.Store(nil)
	p.taken.Store(false)
}

// successor returns the leaf to which the words of l with hash are being copied, or nil if no post says.
func (t *Table) successor(l *leaf, hash uint64) *leaf {
	p := t.postOf(l)
	if p.from.Load() != l {
		return nil
	}
	next := &p.low
	if l.side(hash) == 1 {
		next = &p.high
	}
	to := next.Load()
	if p.from.Load() != l {
		return nil
	}
	return to
}

// Follow is Find for a key whose word Find has found Moved. It looks for the copy, which a rebuild makes
// next, and for the end of the rebuild; a rebuilder that has lost its processor between the two is
// waited for on its lock ([Table.Await]).
func (t *Table) Follow(k Key, limit uint32) (*sched.Uint64, uint64) {
	id := k.under(limit)
	for range patience {
		l := t.dir.Load().leafOf(k.Hash)
		slot, word := l.find(id)
		if word != atomicstate.Moved {
			return slot, word
		}
		if next := t.successor(l, k.Hash); next != nil {
			if slot, word = next.find(id); atomicstate.IsLive(word) {
				t.counters.follows.Add(1)
				return slot, word
			}
		}
	}
	t.Await(k)
	return t.Find(k, limit)
}
