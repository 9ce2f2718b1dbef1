//go:build !interleave

package sharded

const (
	// leafBytes is the size of a leaf: a size class of Go's allocator, so that nothing
	// is lost to rounding, and small enough that rebuilding one takes microseconds.
	leafBytes = 12288
	// headerFields is what the fields of the header take; the rest of it is padding.
	headerFields = 40
	// roomyDepth is the depth up to which leaves are grown at roomyUsed already, a quarter of
	// the slots, so that nine of ten hits end at the first one. A slot that a probe has to go on
	// to costs a branch that the processor cannot foresee, which in a table that lies in its
	// caches is what a call costs most besides the clock. With 3,000 keys there are 32 leaves so,
	// 131 bytes a key; from there on leaves are filled up, and from some 10,000 keys on it costs
	// nothing.
	roomyDepth = 4
	roomyUsed  = SlotsPerLeaf / 4
)

const (
	// postBits: twice as many posts as there are rebuilds at once on a machine of 16 processors.
	postBits = 5
	// patience is how often a call looks for the copy of a frozen word, which is there after
	// nanoseconds, or for the end of a rebuild, microseconds, before it sleeps: to be woken takes far longer.
	patience = 256
)

// roomAt is the number of slots at which a leaf of that depth is full.
func roomAt(depth uint8) int {
	if depth <= roomyDepth {
		return roomyUsed
	}
	return maxUsed
}
