package atomicstate

const (
	// TagBits is the width of the tag at the top of a word.
	TagBits = 2
	// ValueBits is the width of the state below it.
	ValueBits = 64 - TagBits

	valueMask = 1<<ValueBits - 1
	tagLive   = uint64(1) << ValueBits
)

// The words that are not states.
const (
	// Empty is the word of a slot in which nothing was published yet.
	Empty = uint64(0)
	// Moved is the word of a slot whose leaf was rebuilt: look again.
	Moved = uint64(2) << ValueBits
	// Superseded is the word of a slot whose key is now under another limit.
	Superseded = uint64(3) << ValueBits
)

// IsLive reports whether word holds a state, as opposed to [Empty], [Moved] and
// [Superseded].
func IsLive(word uint64) bool { return word>>ValueBits == 1 }

// live tags a value (taken mod 2^62) as a state.
func live(value uint64) uint64 { return tagLive | value&valueMask }

// signed reads the low 62 bits of v as a two's complement number; whatever stands
// in the tag is shifted out.
func signed(v uint64) int64 { return int64(v<<TagBits) >> TagBits }
