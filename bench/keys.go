package bench

import (
	"math/bits"
	"unsafe"
)

// KeySize is the length in bytes of the keys of every row that does not name
// another.
const KeySize = 16

// minKeySize is what it takes to tell 2^64 indices apart.
const minKeySize = 8

// Constants of the generator: odd numbers with well spread bits. weyl is
// 2^64 / golden ratio, so that the state walks through all 2^64 values.
const (
	weyl  = 0x9e3779b97f4a7c15
	scrub = 0xa0761d6478bd642f
	tail  = 0xe7037ed1a0b428db
)

// Keys makes the keys of one goroutine: random draws from a population of count
// distinct keys, each written over the one before in a private buffer, which
// therefore stays in the first-level cache. Key i of a population is the same
// bytes in every Keys of the same size.
//
// A Keys must not be shared between goroutines, and a key it returned is valid
// until the next call only: whoever keeps a key must copy it.
type Keys struct {
	words *[2]uint64 // the first 16 bytes of the buffer
	view  string     // the whole key, over the same memory
	state uint64
	count uint64
	seed  uint64
	zipf  []uint32       // see Follow
	at    int            // in zipf
	_     [128 - 80]byte // no two goroutines' states on one or on paired lines
}

// NewKeys returns a generator of keys of size bytes (8 or more; less counts as
// 8) over the population 0..count-1 (count >= 1). The same seed gives the same
// draws.
func NewKeys(count, size int, seed uint64) *Keys {
	size = max(size, minKeySize)
	buffer := make([]uint64, max(16, (size+7)/8)) // 128 bytes or more: a line of its own
	for i := range buffer {
		buffer[i] = 0x2d2d2d2d2d2d2d2d // what follows the first 16 bytes never changes
	}
	first := unsafe.SliceData(buffer)
	return &Keys{
		words: (*[2]uint64)(unsafe.Pointer(first)),
		view:  unsafe.String((*byte)(unsafe.Pointer(first)), size),
		state: seed * scrub,
		count: uint64(count),
		seed:  seed,
	}
}

// Draw returns the next random index, uniform over 0..count-1, and makes no key.
func (k *Keys) Draw() uint64 {
	k.state += weyl
	hi, lo := bits.Mul64(k.state, k.state^scrub)
	index, _ := bits.Mul64(hi^lo, k.count)
	return index
}

// At returns key index as a view of the buffer. Both words depend on the index
// one to one, so distinct indices are distinct keys, also at 8 bytes.
func (k *Keys) At(index uint64) string {
	word := (index + 1) * weyl
	k.words[0] = word ^ word>>32
	k.words[1] = word ^ tail
	return k.view
}

// Next returns a random key of the population as a view of the buffer.
func (k *Keys) Next() string { return k.At(k.Draw()) }

// Bytes returns the buffer of the latest key. It must not be written to.
func (k *Keys) Bytes() []byte { return unsafe.Slice(unsafe.StringData(k.view), len(k.view)) }

// Count returns the size of the population.
func (k *Keys) Count() int { return int(k.count) }

// SetCount changes the size of the population (count >= 1) and keeps the state.
func (k *Keys) SetCount(count uint64) { k.count = count }

// Replay returns a generator that will draw what k has drawn since NewKeys,
// from the start.
func (k *Keys) Replay() *Keys { return NewKeys(int(k.count), len(k.view), k.seed) }
