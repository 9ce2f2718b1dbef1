package bench

import "github.com/penstock-go/penstock/sharded"

// Neighbours is how many keys are hot in the rows about neighbouring slots.
const Neighbours = 64

// apartSlots is the distance of slots that share neither a cache line nor one of the
// pairs of lines that processors fetch together: 7 * 24 bytes are more than 128.
const apartSlots = 7

// Hot is [Neighbours] keys whose slots were chosen: each at the place that its
// fingerprint asks for, in one leaf.
type Hot struct {
	steps *Steps
	keys  []sharded.Key
}

// NewHot returns keys in neighbouring slots, or as far apart as the leaf has room
// for. A table with these keys only is one leaf, and the low half of a fingerprint
// says where in it the key belongs.
func NewHot(load Load, apart bool) *Hot {
	step := 1
	if apart {
		step = apartSlots
	}
	h := &Hot{steps: NewSteps(load), keys: make([]sharded.Key, Neighbours)}
	all := NewKeys(1, KeySize, 0)
	for found, i := 0, uint64(0); found < Neighbours; i++ {
		key := h.steps.hasher.Key(all.At(i))
		home := HomeSlot(key)
		at := home / step
		if home%step != 0 || at >= Neighbours || h.keys[at] != (sharded.Key{}) {
			continue
		}
		h.keys[at] = key
		found++
	}
	for _, key := range h.keys {
		h.steps.insert(key)
	}
	return h
}

// HomeSlot returns the slot of its leaf at which the search for key begins.
func HomeSlot(key sharded.Key) int {
	return int(key.Hash & (1<<32 - 1) * sharded.SlotsPerLeaf >> 32)
}

// Take takes n permits, one after the other, of the keys that belong to goroutine
// worker of workers: no key is of two, and the slots of a goroutine stand between
// those of the others. It returns how many were admitted.
func (h *Hot) Take(worker, workers, n int) (admitted int) {
	at := worker
	for range n {
		if h.steps.take(h.keys[at]) {
			admitted++
		}
		if at += workers; at >= Neighbours {
			at = worker
		}
	}
	return admitted
}
