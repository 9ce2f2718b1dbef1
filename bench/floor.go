package bench

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"time"
	"unsafe"
)

// LineSize is the size in bytes of the floor's lines: the cache line of the
// machines this is measured on.
const LineSize = 64

type line struct {
	word atomic.Uint64
	_    [LineSize - 8]byte
}

var _ [0]struct{} = [unsafe.Sizeof(line{}) - LineSize]struct{}{}

// Floor does the least that a limiter with exact string keys, an exact clock
// and one word of state per key must do, and decides nothing: it makes the key,
// takes its fingerprint (two seeded 64-bit hashes), reads the monotonic clock
// and tries one compare-and-swap on a random line of an array that has as many
// 64-byte lines as there are keys. The line depends on the fingerprint, so that
// its address is not known before the hash is, and on the draw, so that every
// line of the array is met and not only the 63 % that count keys would hash to.
//
// That is the least floor. One without a clock leaves out its reading; the ordered one
// reads it later and tries a lost swap again, see [FloorOrderedSubject].
type Floor struct {
	first, second maphash.Seed
	start         time.Time
	lines         []line
	kind          floorKind
}

// floorKind says what a floor does for a call.
type floorKind uint8

const (
	floorLeast   floorKind = iota // the clock is read before the line is loaded, and a lost swap is lost
	floorNoClock                  // the same without the clock
	floorOrdered                  // the clock is read after the line is loaded, and a lost swap is tried again
	floorNew                      // filled by calls, each of which meets memory that nobody has touched
)

// FloorSubject is the floor with its clock read.
func FloorSubject() Subject {
	return Subject{Name: "floor", Clock: "exact", Bound: true,
		New: func(count int, _ Load) Limiter { return NewFloor(count) }}
}

// FloorNoClockSubject is the floor without its clock read.
func FloorNoClockSubject() Subject {
	return Subject{Name: "floor", Clock: "none", Bound: true,
		New: func(count int, _ Load) Limiter { return NewFloorNoClock(count) }}
}

// FloorOrderedSubject is the floor with what a limiter owes its users besides: the clock is read
// after the line is loaded, so that nobody is refused for a time that has passed, and a lost
// swap is tried again, so that every permit is counted. On one goroutine it differs from the floor
// by the order alone; on several it is the bound for a key that they share.
func FloorOrderedSubject() Subject {
	return Subject{Name: "floor", Clock: "ordered", Bound: true,
		New: func(count int, _ Load) Limiter { return newFloor(count, floorOrdered) }}
}

// FloorNewSubject is the floor of new keys: a call for each, on lines whose memory the system has not
// given yet. It looks for nothing, moves nothing and forgets nothing.
func FloorNewSubject() Subject {
	return Subject{Name: "floor", Clock: "exact", Bound: true,
		New: func(count int, _ Load) Limiter { return newFloor(count, floorNew) }}
}

// NewFloor returns a floor of count lines (>= 1) that reads its clock.
func NewFloor(count int) *Floor { return newFloor(count, floorLeast) }

// NewFloorNoClock returns a floor of count lines (>= 1) that reads no clock.
func NewFloorNoClock(count int) *Floor { return newFloor(count, floorNoClock) }

func newFloor(count int, kind floorKind) *Floor {
	return &Floor{
		first: maphash.MakeSeed(), second: maphash.MakeSeed(),
		start: time.Now(), lines: make([]line, count), kind: kind,
	}
}

// Run pays the floor n times. It returns n: a floor admits everything.
func (f *Floor) Run(k *Keys, n int) int {
	switch f.kind {
	case floorNoClock:
		return f.runNoClock(k, n)
	case floorOrdered:
		return f.runOrdered(k, n)
	}
	for range n {
		k.Next()
		key := k.Bytes() // maphash.String is the same hash, by one call more
		first, second := maphash.Bytes(f.first, key), maphash.Bytes(f.second, key)
		f.swap(first^k.state, second+f.Now())
	}
	return n
}

func (f *Floor) runNoClock(k *Keys, n int) int {
	for range n {
		k.Next()
		key := k.Bytes() // maphash.String is the same hash, by one call more
		first, second := maphash.Bytes(f.first, key), maphash.Bytes(f.second, key)
		f.swap(first^k.state, second)
	}
	return n
}

func (f *Floor) runOrdered(k *Keys, n int) int {
	for range n {
		k.Next()
		key := k.Bytes() // maphash.String is the same hash, by one call more
		first, second := maphash.Bytes(f.first, key), maphash.Bytes(f.second, key)
		word := f.lineOf(first ^ k.state)
		old := word.Load()
		for add := second + f.Now(); !word.CompareAndSwap(old, (old+add)|1); { // odd: never the word of an empty line
			old = word.Load()
		}
	}
	return n
}

// Now returns the monotonic time since the floor was made, in nanoseconds.
func (f *Floor) Now() uint64 { return uint64(time.Since(f.start)) }

// Fingerprint returns the two hashes of key.
func (f *Floor) Fingerprint(key string) (first, second uint64) {
	return maphash.String(f.first, key), maphash.String(f.second, key)
}

// swap tries one compare-and-swap on the line that spread picks. A lost one is
// not tried again: a floor is a bound.
func (f *Floor) swap(spread, add uint64) bool {
	word := f.lineOf(spread)
	old := word.Load()
	return word.CompareAndSwap(old, (old+add)|1) // odd: never the word of an empty line
}

// lineOf returns the word of the line that spread picks.
func (f *Floor) lineOf(spread uint64) *atomic.Uint64 {
	index, _ := bits.Mul64(spread, uint64(len(f.lines)))
	return &f.lines[index].word
}

// SwapHot runs n compare-and-swaps on one line and returns how many won.
func (f *Floor) SwapHot(n int) (won int) {
	for i := range n {
		if f.swap(0, uint64(i)) {
			won++
		}
	}
	return won
}

// Fill writes the lines from..to-1 once, so that their pages are there. The floor of new keys calls
// Allow for the keys from..to-1.
func (f *Floor) Fill(k *Keys, from, to uint64) {
	if f.kind == floorNew {
		for i := from; i < to; i++ {
			f.Allow(k.At(i))
		}
		return
	}
	for i := from; i < to; i++ {
		f.lines[i].word.Store(1)
	}
}

// Allow pays the floor once, for key.
func (f *Floor) Allow(key string) bool {
	first, second := f.Fingerprint(key)
	f.swap(first, second+f.Now())
	return true
}

// Len returns the number of lines.
func (f *Floor) Len() int { return len(f.lines) }

// Close does nothing.
func (f *Floor) Close() {}
