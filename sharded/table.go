package sharded

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/atomicstate"
)

// Table maps keys to words: fixed state for each of very many keys. See the package comment
// for the protocol.
//
// Cost: Find probes a few slots and takes no lock, nor does the compare-and-swap of its
// caller; Insert locks one leaf, and rebuilds or splits it when it is full. Memory: 12 KiB,
// then 39 to 44 bytes a key. It is not a general map: it forgets, by the laws' judgement, and
// it tells keys apart by their fingerprints only.
//
// Make one with [NewTable]; the zero value is not usable and a Table must not be copied. All
// methods are safe for concurrent use. A word that a caller or Insert published synchronizes
// before every Find, Lookup and Insert that observes it, through any number of rebuilds.
type Table struct {
	dir      atomic.Pointer[directory]
	sweepDue atomic.Int64                      // from this time on a sweep comes before any decision
	laws     atomic.Pointer[[]atomicstate.Law] // by number; the slice behind it never changes
	clock    func() int64                      // see NewTable
	maxKeys  int64                             // 0: no cap
	keys     atomic.Int64                      // keys held; the shared overflow buckets are not counted

	dirMu    sync.Mutex // guards directory entries and the pointer to it
	lawsMu   sync.Mutex // guards additions to laws
	sweep    sweepState
	counters counters
	pause    func() // tests set it, to be run between the steps of a rebuild
}

// NewTable returns an empty table that holds at most maxKeys keys (0: no cap). Cost: one
// leaf, 12 KiB. clock is called under a leaf's lock, so it must be quick and none of the
// user's code; it returns nanoseconds, at least as late as the stamp of every charge
// published before the call (a lag of far less than an eighth of the shortest horizon does
// no harm) and before math.MaxInt64, which stands for a sweep that is never due.
func NewTable(clock func() int64, maxKeys int64) *Table {
	t := &Table{clock: clock, maxKeys: maxKeys, sweep: sweepState{horizon: math.MaxInt64}}
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
	laws := make([]atomicstate.Law, len(old), len(old)+1)
	copy(laws, old)
	laws = append(laws, law)
	t.laws.Store(&laws)
	t.lawsMu.Unlock()
	t.shortenHorizon(law.Horizon())
	return uint32(len(old))
}

// law returns the law with a number that Register returned.
func (t *Table) law(number uint32) atomicstate.Law { return (*t.laws.Load())[number] }

// Find returns the word of a key under the limit with that number, and what it held; nil
// if the key has no slot under that limit. The word may be Moved or Superseded: then call
// Await or Insert.
func (t *Table) Find(k Key, limit uint32) (*atomic.Uint64, uint64) {
	return t.dir.Load().leafOf(k.Hash).find(k.under(limit))
}

// Await returns once the rebuild that left a Moved word at k has been published. It waits
// for one leaf's rebuild, microseconds of work.
func (t *Table) Await(k Key) {
	l := t.dir.Load().leafOf(k.Hash)
	l.mu.Lock()
	l.mu.Unlock() //nolint:gocritic,staticcheck // the wait itself is the purpose
	t.counters.awaits.Add(1)
}

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
)

// Insert handles a key without a live word under its limit: a new key, or one whose word
// belongs to another limit, whose usage is carried over. It charges n >= 1 permits at the
// latest of now, the clock, and the time at which the leaf last forgot a key; it returns
// what the key's word is now and that time. A denied call makes no slot for a new key. The
// cap does not apply to the [Overflow] key.
func (t *Table) Insert(k Key, limit uint32, now, n int64) (Outcome, uint64, int64) {
	l := t.dir.Load().leafOf(k.Hash)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.replaced {
		t.counters.staleLeaves.Add(1)
		return Retry, 0, 0
	}
	id := k.under(limit)
	own, word := l.find(id)
	if own != nil && atomicstate.IsLive(word) {
		return Retry, 0, 0
	}
	if own == nil && l.used >= maxUsed {
		if !t.grow(l, now) {
			return Full, t.law(limit).Fresh(now), now
		}
		return Retry, 0, 0
	}
	if other := l.findOther(id); other != nil {
		return t.convert(l, other, own, id, now, n)
	}
	return t.add(l, own, id, now, n)
}

// convert moves a key's usage from another limit to the one in id, applies this take, and
// publishes the result. Charging under the lock means that two alternating limits cannot
// livelock. The caller holds l's lock and made sure of room.
func (t *Table) convert(l *leaf, other *slot, own *atomic.Uint64, id identity, now, n int64) (Outcome, uint64, int64) {
	old := other.word.Swap(atomicstate.Superseded)
	now = max(now, t.clock(), l.floor) // read after the swap: no later charge can be in old
	law := t.law(limitOf(id.check))
	word, outcome := atomicstate.Convert(t.law(limitOf(other.check)), old, law, now), Denied
	if next, ok := law.Take(word, now, n); ok {
		word, outcome = next, Charged
	}
	l.put(own, id, word)
	t.counters.conversions.Add(1)
	return outcome, word, now
}

// add makes a slot for a new key, this take already charged. The time is not before the
// leaf's floor: a key that was forgotten at a time F and comes back at F or later is in the
// state it would have been in.
func (t *Table) add(l *leaf, own *atomic.Uint64, id identity, now, n int64) (Outcome, uint64, int64) {
	now = max(now, t.clock(), l.floor)
	law := t.law(limitOf(id.check))
	fresh := law.Fresh(now)
	word, ok := law.Take(fresh, now, n)
	if !ok {
		return Denied, fresh, now
	}
	if !id.isOverflow() && !t.reserveKey() {
		return t.makeRoom(l, now), fresh, now
	}
	l.put(own, id, word)
	t.counters.inserts.Add(1)
	return Charged, word, now
}

// put publishes word in the superseded slot own, or in a new one. Only the holder of the
// leaf's lock writes over Superseded.
func (l *leaf) put(own *atomic.Uint64, id identity, word uint64) {
	if own != nil {
		own.Store(word)
		return
	}
	l.insert(id, word)
}

// reserveKey counts one more key unless the cap is reached.
func (t *Table) reserveKey() bool {
	if n := t.keys.Add(1); t.maxKeys == 0 || n <= t.maxKeys {
		return true
	}
	t.keys.Add(-1)
	return false
}

// AtCap reports whether the cap on keys is reached.
func (t *Table) AtCap() bool { return t.maxKeys > 0 && t.keys.Load() >= t.maxKeys }

// makeRoom rebuilds a leaf at the cap to forget what equals new: Retry if that freed a
// key, else Full. Until retryForget it does not even look. That time was right for the words
// that the leaf then held; a refund, a reset or a key added since may be new earlier, and is
// overlooked until then or until a sweep rebuilds the leaf.
func (t *Table) makeRoom(l *leaf, now int64) Outcome {
	if now < l.retryForget {
		return Full
	}
	c := t.survey(l, now, now)
	if c.forgettable == 0 {
		l.retryForget = c.nextForget
		return Full
	}
	t.rebuild(l, now, now)
	return Retry
}

// Lookup returns a key's live word under whatever limit it has now, and that limit's law;
// ok is false if the key has none, that is, if it equals a new one.
func (t *Table) Lookup(k Key) (word uint64, law atomicstate.Law, ok bool) {
	for {
		s := t.lookupSlot(k)
		if s == nil {
			return 0, nil, false
		}
		if word = s.word.Load(); atomicstate.IsLive(word) {
			return word, t.law(limitOf(s.check)), true
		}
		t.Await(k) // Moved, or Superseded until its successor is published under the lock
	}
}

// lookupSlot finds the live slot of k under any limit; if there is none, one that is not
// live, or nil.
func (t *Table) lookupSlot(k Key) *slot {
	l := t.dir.Load().leafOf(k.Hash)
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
