package atomicstate

import "time"

// FixedWindow counts permits in windows [k*window, (k+1)*window), aligned at time 0 of the
// caller's clock: at most limit in each. A refused call may come again when the window ends.
// Word: index of the window and count, see grid. A FixedWindow is immutable; its methods are
// safe for concurrent use.
type FixedWindow struct{ grid }

var _ Law = (*FixedWindow)(nil)

// NewFixedWindow compiles a fixed window. Errors: [ErrWindow], [ErrTooLarge] (limits from about
// 2^55 on, less for windows below 34 s).
func NewFixedWindow(limit int64, window time.Duration) (*FixedWindow, error) {
	g, err := newGrid(limit, window, 1)
	if err != nil {
		return nil, err
	}
	return &FixedWindow{g}, nil
}

func (f *FixedWindow) pack(index, count int64) uint64 {
	return live(uint64(index)<<f.countBits | uint64(count))
}

// Counted returns the window in force at now and what it counts, as [FixedWindow.Word] takes them.
func (f *FixedWindow) Counted(word uint64, now int64) (index, count int64) { return f.at(word, now) }

// Word returns the word of the window index with count permits counted in it, cut at what a count
// can hold.
func (f *FixedWindow) Word(index, count int64) uint64 {
	return f.pack(index, min(max(0, count), int64(f.mask())))
}

// at returns the window in force at now and what is counted in it: the word's own if now lies
// in it or before it. The latter is so where permits were reserved in a window to come, and after
// a step back of time: until that window begins nothing passes.
func (f *FixedWindow) at(word uint64, now int64) (index, count int64) {
	index = f.index(now)
	ahead := f.ahead(word, index)
	if ahead > 0 {
		return index, 0
	}
	return index - ahead, int64(value(word) & f.mask())
}

// Capacity returns the limit.
func (f *FixedWindow) Capacity() int64 { return f.limit }

// Horizon returns 2^(indexBits-1) windows.
func (f *FixedWindow) Horizon() int64 { return f.horizon() }

// Fresh returns the word of a window with nothing in it.
func (f *FixedWindow) Fresh(now int64) uint64 { return f.pack(f.index(now), 0) }

// Take counts n >= 1 permits in the window of now. Cost: one division.
func (f *FixedWindow) Take(word uint64, now, n int64) (next uint64, ok bool) {
	index, count := f.at(word, now)
	if n > f.limit-count || f.begins(index, now) > 0 {
		return word, false
	}
	return f.pack(index, count+n), true
}

// Reserve is [Law.Reserve]: a place in this window, or in the first one to come that has room.
func (f *FixedWindow) Reserve(word uint64, now, n int64) (next uint64, wait int64, ok bool) {
	return reserve(f, word, now, n)
}

// Inspect describes word at now for a call of n permits.
func (f *FixedWindow) Inspect(word uint64, now, n int64) State {
	index, count := f.at(word, now)
	begins := f.begins(index, now)
	ends := f.begins(index+1, now)
	s := State{Allowed: n == 0 || n <= f.limit-count && begins == 0}
	if begins == 0 {
		s.Remaining = max(0, f.limit-count)
	}
	switch {
	case count > 0:
		s.ResetNanos = ends
	case begins > 0:
		s.ResetNanos = begins
	}
	switch {
	case s.Allowed:
	case n > f.limit:
		s.RetryNanos = Never
	case n <= f.limit-count:
		s.RetryNanos = begins
	default:
		s.RetryNanos = ends
	}
	return s
}

// Delay is 0: what passes, passes at once.
func (f *FixedWindow) Delay(uint64, int64, int64) int64 { return 0 }

// Refund takes n off the count if they count in the window in force; what another window counted
// is nobody's any more.
func (f *FixedWindow) Refund(word uint64, act Act, now, n int64, _ []Promise) (next uint64, ok bool) {
	index, count := f.at(word, now)
	if n <= 0 || n > min(count, act.N) || f.index(act.At) != index {
		return word, false
	}
	return f.pack(index, count-n), true
}

// Release takes off the count what was given up in the window in force.
func (f *FixedWindow) Release(word uint64, now int64, promised []Promise) (next uint64, given int64) {
	return release(f, word, now, promised)
}

// EqualsNew reports whether the word's window has ended or counts nothing.
func (f *FixedWindow) EqualsNew(word uint64, base, now int64) bool {
	index, count := f.at(word, base)
	return f.index(now) > index || count == 0 && f.index(now) == index
}

// Aged reports whether the word is an eighth of the horizon old or more.
func (f *FixedWindow) Aged(word uint64, now int64) bool { return f.aged(word, now) }

// Usage returns the count of the window in force. If that is still to come, the windows until then
// count as used up: what they counted the word does not tell.
func (f *FixedWindow) Usage(word uint64, now int64) Usage {
	index, count := f.at(word, now)
	return f.usage(index, now, count)
}

// Carry returns the word that counts usage, in whole permits rounded up, in the window of now.
func (f *FixedWindow) Carry(usage Usage, now int64) uint64 {
	return f.pack(f.index(now), f.cut(usage))
}
