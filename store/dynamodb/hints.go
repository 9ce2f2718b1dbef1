package dynamodb

import (
	"hash/maphash"
	"sync/atomic"
)

// hintCount is how many keys are remembered, a power of two: 4096 of a few hundred bytes are some 2 MB
// at most, and a key that is in trouble is called for often enough to stay.
const hintCount = 4096

// hints remembers what was last seen of keys, so that the first request has the right form. It forgets
// a key when another one falls on its place. What it says may be old: nothing is decided by it.
type hints struct {
	seed maphash.Seed
	seen [hintCount]atomic.Pointer[hint]
}

// hint is what a key's item held. It is not changed.
type hint struct {
	key  string
	item item
}

func (h *hints) place(key string) *atomic.Pointer[hint] {
	return &h.seen[maphash.String(h.seed, key)%hintCount]
}

// of returns what was last seen of a key.
func (h *hints) of(key string) (item, bool) {
	if seen := h.place(key).Load(); seen != nil && seen.key == key {
		return seen.item, true
	}
	return item{}, false
}

// set remembers what was seen of a key.
func (h *hints) set(key string, it item) { h.place(key).Store(&hint{key, it}) }

// forget forgets a key.
func (h *hints) forget(key string) {
	if place := h.place(key); place.Load() != nil {
		place.Store(nil)
	}
}
