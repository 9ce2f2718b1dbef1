package sharded

import (
	"math"

	"github.com/penstock-go/penstock/internal/sched"
)

const (
	// coordinateBits is the width of a coordinate, by which keys are spread over leaves.
	coordinateBits = 32
	// maxDepth bounds the directory at 2^26 entries, 512 MiB of pointers. The densest
	// leaves reach it at some 14 billion keys (2^25 times maxUsed); before that only a
	// broken hash could.
	maxDepth = 26
)

// coordinate places a hash on [0, 2^32): x becomes x(1+x)/2 for x in [0, 1). A uniform
// hash would fill all leaves at the same pace and split them all at once, so that the
// bytes a key takes would swing between 29 and 57; the slope from 1/2 to 3/2 fills some
// leaves three times as fast as others, and the swing is 39 to 44 (TestBytesAKeyInTheLimit).
func coordinate(hash uint64) uint64 { return bent(hash) >> 1 }

// bent is twice the coordinate.
func bent(hash uint64) uint64 {
	x := hash >> 32
	return x + x*x>>32
}

// directory maps a coordinate's leading bits to a leaf. Several entries in a row point
// to a leaf with a shorter prefix. The array never changes its length; doubling or
// halving publishes a new directory.
type directory struct {
	depth     uint8
	shift     uint8 // coordinateBits - depth: a coordinate shifted by it is an index of leaves
	bentShift uint8 // shift + 1: the same for bent, which is twice a coordinate
	leaves    []sched.Pointer[leaf]
}

func newDirectory(depth uint8) *directory {
	shift := coordinateBits - depth
	return &directory{depth: depth, shift: shift, bentShift: shift + 1, leaves: make([]sched.Pointer[leaf], 1<<depth)}
}

// leafOf returns the leaf for a hash.
func (d *directory) leafOf(hash uint64) *leaf {
	if d.depth == 0 { // the leaf is known before the hash is
		return d.leaves[0].Load()
	}
	return d.leaves[bent(hash)>>(d.bentShift&63)].Load() // the mask spares the test for a longer shift
}

// leafAt returns the leaf that holds a coordinate.
func (d *directory) leafAt(at uint64) *leaf { return d.leaves[at>>d.shift].Load() }

// fill writes all entries of a leaf's prefix. The caller holds the directory's lock or
// has not published d yet.
func (d *directory) fill(l *leaf) {
	first := l.prefix >> d.shift
	for i := range uint64(1) << (d.depth - l.depth) {
		d.leaves[first+i].Store(l)
	}
}

// width is the number of coordinates that a leaf covers.
func (l *leaf) width() uint64 { return 1 << (coordinateBits - l.depth) }

// side is 0 or 1: the half of l in which a hash lies.
func (l *leaf) side(hash uint64) int {
	return int(coordinate(hash) >> (coordinateBits - 1 - l.depth) & 1)
}

// publish makes leaves reachable in place of those they replace, all entries under one
// hold of the lock.
func (t *Table) publish(leaves ...*leaf) {
	t.dirMu.Lock()
	defer t.dirMu.Unlock()
	d := t.dir.Load()
	if leaves[0].depth <= d.depth {
		for _, l := range leaves {
			d.fill(l)
		}
		return
	}
	double := newDirectory(d.depth + 1)
	for i := range d.leaves {
		l := d.leaves[i].Load()
		double.leaves[2*i].Store(l)
		double.leaves[2*i+1].Store(l)
	}
	for _, l := range leaves {
		double.fill(l)
	}
	t.dir.Store(double)
	t.counters.doublings.Add(1)
}

// shrink halves the directory while no leaf needs its last bit, so that memory returns
// after a flood. Readers of the old directory meet Moved words or replaced leaves where
// it is out of date, as after a doubling.
func (t *Table) shrink() {
	t.dirMu.Lock()
	defer t.dirMu.Unlock()
	d := t.dir.Load()
	deepest := uint8(0)
	for at := uint64(0); at <= math.MaxUint32; {
		l := d.leafAt(at)
		deepest = max(deepest, l.depth)
		at = l.prefix + l.width()
	}
	if deepest >= d.depth {
		return
	}
	small := newDirectory(deepest)
	for i := range small.leaves {
		small.leaves[i].Store(d.leafAt(uint64(i) << small.shift))
	}
	t.dir.Store(small)
}
