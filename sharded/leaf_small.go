//go:build interleave

package sharded

const (
	// leafBytes is the size of a leaf of four slots. It is full with three keys, splits if two of
	// them matter, and is merged when it holds one with its neighbour: so few steps are a split
	// that every order of them can be run.
	leafBytes = headerBytes + 4*slotBytes
	// headerFields is what the fields of the header take; the lock that is explored is larger.
	headerFields = 48
	// roomyUsed is no less than the fill of other leaves: with four slots there is no room to spare.
	roomyUsed = maxUsed
)

const (
	postBits = 1
	patience = 1
)

// roomAt is the number of slots at which a leaf is full, at any depth.
func roomAt(uint8) int { return roomyUsed }
