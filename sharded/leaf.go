package sharded

import (
	"math"
	"unsafe"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/sched"
)

const (
	// headerBytes and slotBytes are asserted below: a leaf has no byte of padding but in
	// its header.
	headerBytes = 48
	slotBytes   = 24
	// SlotsPerLeaf is the number of slots of a leaf.
	SlotsPerLeaf = (leafBytes - headerBytes) / slotBytes
	// maxUsed is the fill at which a leaf is grown: 27/32 of the slots keep probes
	// short (at most 4 slots on average for a hit in a leaf that is about to grow).
	maxUsed = SlotsPerLeaf * 27 / 32
	// pageBytes is the smallest page of the platforms that Go runs on.
	pageBytes = 4096
)

// identity is a key under one limit.
type identity struct {
	hash  uint64
	check uint64 // upper half: fingerprint; lower half: number of the limit
}

// key returns the key of id.
func (id identity) key() Key { return Key{Hash: id.hash, Check: id.check & checkMask} }

// slot is one identity and its word. The identity is written once, before the first word
// is published, and never changes: a slot is not reused for another key.
type slot struct {
	identity
	word sched.Uint64
}

// leaf is a small table of slots with linear probing. It holds no pointers, so the
// garbage collector never looks inside. mu guards the header, but for depth, prefix
// and floor, which do not change once the leaf is published; words are read without it (see the package comment), and it is
// needed to fill a slot or to freeze one.
type leaf struct {
	mu       sched.Mutex
	used     int32 // slots that are not Empty, of whatever word
	depth    uint8 // bits of the prefix
	replaced bool  // frozen and published elsewhere
	// floor is the latest time at which this leaf or an ancestor forgot a key: no new
	// key is charged at an earlier one.
	floor int64
	// prefix is the first coordinate of the leaf, see coordinate.
	prefix uint64
	// retryForget is a time before which nothing of the leaf can be forgotten, by the last look at
	// all of it, so that a flood of new keys at the cap does not scan the leaf for each. Takes only
	// put off when a key is new again; what brings that forward calls lookAgain.
	retryForget int64
	_           [headerBytes - headerFields]byte
	slots       [SlotsPerLeaf]slot
}

// The layout is fixed by the size class; a change is an error here.
var (
	_ [0]struct{} = [unsafe.Sizeof(leaf{}) - leafBytes]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(slot{}) - slotBytes]struct{}{}
)

// newLeaf allocates a leaf and writes one word of every page of it. Were a reader first
// to touch a page, the system would map the shared page of zeros, and the write that
// follows would cost a shootdown on every processor that runs this process.
func newLeaf(depth uint8, prefix uint64) *leaf {
	l := &leaf{depth: depth, prefix: prefix, floor: math.MinInt64, retryForget: math.MinInt64}
	for i := 0; i < SlotsPerLeaf; i += pageBytes / slotBytes {
		l.slots[i].word.Store(atomicstate.Empty)
	}
	l.slots[SlotsPerLeaf-1].word.Store(atomicstate.Empty)
	return l
}

// splitLive is the number of slots that must still matter for a full leaf to be split; below
// it a rebuild of the same size makes room enough.
func (l *leaf) splitLive() int { return roomAt(l.depth) * 5 / 8 }

// mergeUsed is the fill of l and its neighbour, or of both together, below which they are merged: far
// enough under splitLive of what they become that a key or two never makes leaves flap.
func (l *leaf) mergeUsed() int { return roomAt(l.depth-1) * 3 / 8 }

// home is the first slot to probe for hash: its lower half scaled to the leaf.
func home(hash uint64) uint64 { return (hash & math.MaxUint32) * SlotsPerLeaf >> 32 }

// find returns the slot's word for an exact identity and what it held, or nil. The word
// is loaded before the identity, which was written before the word was published. There
// is always an Empty slot, so the probe ends.
func (l *leaf) find(id identity) (*sched.Uint64, uint64) {
	for i := home(id.hash); ; {
		s := &l.slots[i]
		word := s.word.Load()
		if word == atomicstate.Empty {
			return nil, word
		}
		if s.identity == id {
			return &s.word, word
		}
		if i++; i == SlotsPerLeaf {
			i = 0
		}
	}
}

// places is what a probe for one identity finds on its whole way.
type places struct {
	own   *slot // of the identity itself, live or not; or nil
	other *slot // the live one of the same key under another limit; or nil
	free  *slot // the Empty one at which the probe ended
}

// probe looks for all that an insertion has to know, in one pass. The caller holds the lock.
func (l *leaf) probe(id identity) (p places) {
	for i := home(id.hash); ; {
		s := &l.slots[i]
		word := s.word.Load()
		if word == atomicstate.Empty {
			p.free = s
			return p
		}
		if s.hash == id.hash && (s.check^id.check)&checkMask == 0 {
			switch {
			case s.check == id.check:
				p.own = s
			case atomicstate.IsLive(word):
				p.other = s
			}
		}
		if i++; i == SlotsPerLeaf {
			i = 0
		}
	}
}

// insert is put for an identity that l does not hold. The caller holds the lock, or the leaf is not
// published yet; there is room.
func (l *leaf) insert(id identity, word uint64) {
	i := home(id.hash)
	for l.slots[i].word.Load() != atomicstate.Empty {
		if i++; i == SlotsPerLeaf {
			i = 0
		}
	}
	l.put(places{free: &l.slots[i]}, id, word)
}

// put publishes a word: in the superseded slot of its identity, or else in the free one, whose identity
// is written first. Only the holder of the leaf's lock writes over Superseded or Empty.
func (l *leaf) put(p places, id identity, word uint64) {
	if p.own == nil {
		p.own = p.free
		p.own.identity = id
		l.used++
	}
	p.own.word.Store(word)
}

// isOverflow reports whether the slot is a shared overflow bucket, of whatever index.
func (id identity) isOverflow() bool {
	return id.hash == Overflow.Hash && id.check&indexMask&checkMask == Overflow.Check
}

// limitOf is the number of the limit in a slot's check.
func limitOf(check uint64) uint32 { return uint32(check) }
