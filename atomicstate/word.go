package atomicstate

const (
	// TagBits is the width of the tag, the low bits of a word. Values are added and compared in place,
	// above it.
	TagBits = 2
	// ValueBits is the width of the state above it.
	ValueBits = 64 - TagBits

	tagMask = 1<<TagBits - 1
	tagLive = 1
)

// The words that are not states.
const (
	// Empty is the word of a slot in which nothing was published yet.
	Empty = uint64(0)
	// Moved is the word of a slot whose leaf was rebuilt: look again.
	Moved = uint64(2)
	// Superseded is the word of a slot whose key is now under another limit.
	Superseded = uint64(3)
)

// IsLive reports whether word holds a state, as opposed to [Empty], [Moved] and
// [Superseded].
func IsLive(word uint64) bool { return word&tagMask == tagLive }

// live tags a value (taken mod 2^62) as a state.
func live(value uint64) uint64 { return value<<TagBits | tagLive }

// value returns what live tagged, mod 2^62.
func value(word uint64) uint64 { return word >> TagBits }

// signed reads the value in v as a two's complement number; whatever stands in the tag is shifted out.
func signed(v uint64) int64 { return int64(v) >> TagBits }

// lower returns a live word with a value that is less by units.
func lower(word uint64, units int64) uint64 { return word - uint64(units)<<TagBits }
