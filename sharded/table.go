package sharded

import (
	"math"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/sched"
)

// Table maps keys to words: fixed state for each of very many keys. See the package comment
// for the protocol.
//
// Cost: Find probes a few slots and takes no lock, nor does the compare-and-swap of its
// caller; Insert locks one leaf, and rebuilds or splits it when it is full. Memory: 12 KiB
// for up to 127 keys, at most 131 bytes a key at some 3,000, whose leaves are kept three quarters empty for
// speed, and 39 to 44 bytes a key from 10,000 on. It is not a general map: it forgets, by the laws' judgement, and
// it tells keys apart by their fingerprints only.
//
// Make one with [NewTable]; the zero value is not usable and a Table must not be copied. All
// methods are safe for concurrent use. A word that a caller or Insert published synchronizes
// before every Find, Lookup and Insert that observes it, through any number of rebuilds.
type Table struct {
	dir      sched.Pointer[directory]
	sweepDue sched.Int64                      // from this time on a sweep comes before any decision
	laws     sched.Pointer[[]atomicstate.Law] // by number; the slice behind it never changes
	clock    func() int64                     // see NewTable
	maxKeys  int64                            // 0: no cap
	epoch    sched.Uint64                     // resets and changes of limit, counted before the key has another word
	unseen   sched.Uint64                     // those that no ledger was told of, because there was none
	ledgers  sched.Pointer[[ledgers]Ledger]   // nil until the first reservation or refund
	keys     sched.Int64                      // keys held; the shared overflow buckets are not counted

	dirMu    sched.Mutex // guards directory entries and the pointer to it
	lawsMu   sched.Mutex // guards additions to laws
	sweep    sweepState
	counters counters
	posts    [1 << postBits]post
	pause    func() // tests set it, to be run between the steps of a rebuild
}

// NewTable returns an empty table that holds at most maxKeys keys (0: no cap). Cost: one
// leaf, 12 KiB. clock is called under a leaf's lock, so it must be quick and none of the
// user's code; it returns nanoseconds, at least as late as the stamp of every charge
// published before the call (a lag of far less than an eighth of the shortest horizon does
// no harm) and before math.MaxInt64, which stands for a sweep that is never due.
func NewTable(clock func() int64, maxKeys int64) *Table {
	t := &Table{clock: clock, maxKeys: maxKeys}
	t.sweep.horizon.Store(math.MaxInt64)
	d := newDirectory(0)
	d.fill(newLeaf(0, 0))
	t.dir.Store(d)
	t.laws.Store(&[]atomicstate.Law{})
	t.sweepDue.Store(math.MinInt64) // the first call sets the time from which leaps are measured
	return t
}

// Register adds a law and returns its number, which goes with every call for keys under
// that law. Numbers are never reused.
func (t *Table) Register(law atomicstate.Law) uint32 {
	t.lawsMu.Lock()
	old := *t.laws.Load()
	laws := append(old, law) //nolint:gocritic // readers of the old slice do not look beyond its length
	t.laws.Store(&laws)
	t.lawsMu.Unlock()
	t.shortenHorizon(law.Horizon())
	return uint32(len(old))
}

// law returns the law with a number that Register returned.
func (t *Table) law(number uint32) atomicstate.Law { return (*t.laws.Load())[number] }

// Find returns the word of a key under the limit with that number, and what it held; nil
// if the key has no slot under that limit. The word may be Moved or Superseded: then call
// Follow or Insert.
func (t *Table) Find(k Key, limit uint32) (*sched.Uint64, uint64) {
	return t.dir.Load().leafOf(k.Hash).find(k.under(limit))
}

// Touch loads the place at which the word of k most likely is, so that it is in the processor's cache
// when Find looks there. Calls for several keys in a row wait for the memory together.
func (t *Table) Touch(k Key) { t.dir.Load().leafOf(k.Hash).slots[home(k.Hash)].word.Load() }

// Await returns once the rebuild that left a Moved word at k has been published. It waits
// for one leaf's rebuild, microseconds of work.
func (t *Table) Await(k Key) {
	l := t.dir.Load().leafOf(k.Hash)
	l.mu.Lock()
	l.mu.Unlock() //nolint:gocritic,staticcheck // the wait itself is the purpose
	t.counters.awaits.Add(1)
}

// MaxKeys returns the cap on keys, 0 if there is none.
func (t *Table) MaxKeys() int64 { return t.maxKeys }

// HasRoom reports whether a new key k would get a slot at now: the cap on keys is not
// reached, or something in its leaf can be forgotten. It locks that leaf if the cap is reached.
func (t *Table) HasRoom(k Key, now int64) bool {
	for {
		if t.maxKeys == 0 || t.keys.Load() < t.maxKeys {
			return true
		}
		l := t.dir.Load().leafOf(k.Hash)
		l.mu.Lock()
		replaced, found := l.replaced, t.canForget(l, now)
		l.mu.Unlock()
		if !replaced {
			return found
		}
	}
}

// canForget reports whether a rebuild of l at now would forget anything. While nothing in
// the leaf can have become new it does not even look. The caller holds l's lock.
func (t *Table) canForget(l *leaf, now int64) bool {
	if now < l.retryForget {
		return false
	}
	c := t.survey(l, now, now)
	if c.forgettable == 0 {
		l.retryForget = c.nextForget
	}
	return c.forgettable > 0
}

// makeRoom rebuilds a leaf at the cap to forget what equals new: Retry if there was
// anything, else Full.
func (t *Table) makeRoom(l *leaf, now int64) Outcome {
	if !t.canForget(l, now) {
		return Full
	}
	t.rebuild(l, now, now)
	return Retry
}

// Lookup returns a key's live word under whatever limit it has now, and that limit's law;
// ok is false if the key has none: it equals a new one, or lives elsewhere.
func (t *Table) Lookup(k Key) (word uint64, law atomicstate.Law, ok bool) {
	for {
		s := t.lookupSlot(k)
		if s == nil {
			return 0, nil, false
		}
		if word = s.word.Load(); atomicstate.IsLive(word) {
			return word, t.law(limitOf(s.check)), true
		}
		switch {
		case word == atomicstate.Moved:
			if _, word = t.Follow(k, limitOf(s.check)); atomicstate.IsLive(word) {
				return word, t.law(limitOf(s.check)), true
			}
		case t.gone(k): // it was superseded
			return 0, nil, false
		}
	}
}

// gone reports whether a key that was seen superseded has no live word: it moved elsewhere. A
// successor in this table is published under the lock.
func (t *Table) gone(k Key) bool {
	l := t.dir.Load().leafOf(k.Hash)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.replaced {
		return false
	}
	s := l.any(k)
	return s == nil || !atomicstate.IsLive(s.word.Load())
}

// lookupSlot finds the live slot of k under any limit; if there is none, one that is not
// live, or nil.
func (t *Table) lookupSlot(k Key) *slot { return t.dir.Load().leafOf(k.Hash).any(k) }

// any is lookupSlot in the key's leaf.
func (l *leaf) any(k Key) *slot {
	var dead *slot
	for i := home(k.Hash); ; {
		s := &l.slots[i]
		word := s.word.Load()
		if word == atomicstate.Empty {
			return dead
		}
		if s.hash == k.Hash && (s.check^k.Check)&checkMask == 0 {
			if atomicstate.IsLive(word) {
				return s
			}
			dead = s
		}
		if i++; i == SlotsPerLeaf {
			i = 0
		}
	}
}

// Len returns the number of keys held; the shared overflow buckets are not counted.
func (t *Table) Len() int { return int(t.keys.Load()) }
