//go:build !interleave

package sharded

const (
	// leafBytes is the size of a leaf: a size class of Go's allocator, so that nothing
	// is lost to rounding, and small enough that rebuilding one takes microseconds.
	leafBytes = 12288
	// headerFields is what the fields of the header take; the rest of it is padding.
	headerFields = 40
	// roomyUsed is the fill at which a leaf of a small table is grown, see roomyDepth.
	roomyUsed = SlotsPerLeaf / 4
)
