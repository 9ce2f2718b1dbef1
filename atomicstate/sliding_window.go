package atomicstate

import (
	"math/bits"
	"time"
)

// SlidingWindow estimates a sliding window from two counts: with windows aligned at time 0, e
// the time into the present one, prev and curr the permits of the window before and of this
// one, a call of n passes if
//
//	prev*(window-e)/window + curr + n <= limit
//
// in exact integers (both sides times window, as 128-bit products). Word: index of the window,
// prev and curr, see grid. A SlidingWindow is immutable; its methods are safe for concurrent
// use.
type SlidingWindow struct{ grid }

var _ Law = (*SlidingWindow)(nil)

// NewSlidingWindow compiles a sliding window counter. Errors: [ErrWindow], [ErrTooLarge]
// (limits from 2^27 on, less for windows below some seconds).
func NewSlidingWindow(limit int64, window time.Duration) (*SlidingWindow, error) {
	g, err := newGrid(limit, window, 2)
	if err != nil {
		return nil, err
	}
	return &SlidingWindow{g}, nil
}

// counts is a word read at a time: the window in force, how far the time is into it, and what
// the window before and this one count.
type counts struct {
	index, into int64
	prev, curr  int64
}

func (s *SlidingWindow) pack(c counts) uint64 {
	return live(uint64(c.index)<<(2*s.countBits) | uint64(c.prev)<<s.countBits | uint64(c.curr))
}

// Counted returns the window in force at now, what the window before it counts and what it counts
// itself, as [SlidingWindow.Word] takes them.
func (s *SlidingWindow) Counted(word uint64, now int64) (index, prev, curr int64) {
	c := s.at(word, now)
	return c.index, c.prev, c.curr
}

// Word returns the word of the window index with these counts, cut at what a count can hold.
func (s *SlidingWindow) Word(index, prev, curr int64) uint64 {
	most := int64(s.mask())
	return s.pack(counts{index: index, prev: min(max(0, prev), most), curr: min(max(0, curr), most)})
}

// at reads word at now; a time before the word's window counts as its start. It lies there where
// permits were reserved in a window to come, and after a step back of time: until that window
// begins nothing passes.
func (s *SlidingWindow) at(word uint64, now int64) counts {
	index := s.index(now)
	c := counts{index: index, into: s.into(now, index)}
	prev, curr := int64(value(word)>>s.countBits&s.mask()), int64(value(word)&s.mask())
	switch ahead := s.ahead(word, index); {
	case ahead == 0:
		c.prev, c.curr = prev, curr
	case ahead == 1:
		c.prev = curr
	case ahead < 0:
		c = counts{index: index - ahead, prev: prev, curr: curr}
	}
	return c
}

// fits reports whether n more permits pass at c.
func (s *SlidingWindow) fits(c counts, n int64) bool {
	room := s.limit - c.curr - n
	if room < 0 || n > s.limit {
		return false
	}
	if c.prev == 0 {
		return true
	}
	wantHigh, wantLow := bits.Mul64(uint64(c.prev), uint64(s.window-c.into))
	roomHigh, roomLow := bits.Mul64(uint64(room), uint64(s.window))
	return wantHigh < roomHigh || wantHigh == roomHigh && wantLow <= roomLow
}

// Capacity returns the limit.
func (s *SlidingWindow) Capacity() int64 { return s.limit }

// Horizon returns 2^(indexBits-1) windows.
func (s *SlidingWindow) Horizon() int64 { return s.horizon() }

// Fresh returns the word of two windows with nothing in them.
func (s *SlidingWindow) Fresh(now int64) uint64 { return s.pack(counts{index: s.index(now)}) }

// Take counts n >= 1 permits in the window of now. Cost: one division.
func (s *SlidingWindow) Take(word uint64, now, n int64) (next uint64, ok bool) {
	c := s.at(word, now)
	if !s.fits(c, n) || s.begins(c.index, now) > 0 {
		return word, false
	}
	c.curr += n
	return s.pack(c), true
}

// Reserve is [Law.Reserve]: in this window when enough of the one before has slid out, or in the
// next one.
func (s *SlidingWindow) Reserve(word uint64, now, n int64) (next uint64, wait int64, ok bool) {
	return reserve(s, word, now, n)
}

// Inspect describes word at now for a call of n permits.
func (s *SlidingWindow) Inspect(word uint64, now, n int64) State {
	c := s.at(word, now)
	early := s.begins(c.index, now)
	fits := s.fits(c, n)
	st := State{Allowed: n == 0 || fits && early == 0}
	if early == 0 {
		st.Remaining = s.remaining(c)
	}
	switch {
	case c.curr > 0:
		st.ResetNanos = saturated(early+s.window-c.into, s.window)
	case c.prev > 0:
		st.ResetNanos = early + s.window - c.into
	default:
		st.ResetNanos = early
	}
	switch {
	case st.Allowed:
	case n > s.limit:
		st.RetryNanos = Never
	case fits:
		st.RetryNanos = early
	default:
		st.RetryNanos = early + s.retry(c, n)
	}
	return st
}

// remaining returns limit - curr - ceil(prev*(window-e)/window), 0 or more.
func (s *SlidingWindow) remaining(c counts) int64 {
	return max(0, s.limit-c.curr-scaleUp(uint64(c.prev), uint64(s.window-c.into), uint64(s.window)))
}

// retry returns the wait of a call of n <= limit permits that does not pass at c: in this
// window, when enough of the one before has slid out; else in the next one, when enough of
// this one has.
func (s *SlidingWindow) retry(c counts, n int64) int64 {
	if room := s.limit - c.curr - n; room >= 0 {
		return s.slidOut(c.prev, room) - c.into
	}
	return saturated(s.window-c.into, s.slidOut(c.curr, s.limit-n))
}

// slidOut returns the first time into a window at which no more than room permits of the prev
// counted in the window before still weigh: the least e with prev*(window-e) <= room*window.
func (s *SlidingWindow) slidOut(prev, room int64) int64 {
	if prev <= room {
		return 0
	}
	high, low := bits.Mul64(uint64(room), uint64(s.window))
	still, _ := bits.Div64(high, low, uint64(prev)) // room < prev, so it fits
	return s.window - int64(still)
}

// Delay is 0: what passes, passes at once.
func (s *SlidingWindow) Delay(uint64, int64, int64) int64 { return 0 }

// Refund takes n off the count of the window in which they count, if that still weighs.
func (s *SlidingWindow) Refund(word uint64, act Act, now, n int64, _ []Promise) (next uint64, ok bool) {
	c := s.at(word, now)
	if n <= 0 || n > act.N {
		return word, false
	}
	switch s.index(act.At) {
	case c.index:
		c.curr -= n
	case c.index - 1:
		c.prev -= n
	default:
		return word, false
	}
	if c.curr < 0 || c.prev < 0 {
		return word, false
	}
	return s.pack(c), true
}

// Release takes off the counts what was given up in either window.
func (s *SlidingWindow) Release(word uint64, now int64, promised []Promise) (next uint64, given int64) {
	return release(s, word, now, promised)
}

// EqualsNew reports whether neither window counts anything any more.
func (s *SlidingWindow) EqualsNew(word uint64, base, now int64) bool {
	c := s.at(word, base)
	index := s.index(now)
	switch {
	case c.curr > 0:
		return index > c.index+1
	case c.prev > 0:
		return index > c.index
	}
	return index >= c.index
}

// Aged reports whether the word is an eighth of the horizon old or more.
func (s *SlidingWindow) Aged(word uint64, now int64) bool { return s.aged(word, now) }

// Usage returns what both windows weigh, in whole permits rounded up. If the later one is still to
// come, the windows until then count as used up.
func (s *SlidingWindow) Usage(word uint64, now int64) Usage {
	c := s.at(word, now)
	weight := scaleUp(uint64(c.prev), uint64(s.window-c.into), uint64(s.window))
	return s.usage(c.index, now, c.curr+weight)
}

// Carry returns the word that counts usage, in whole permits rounded up, in the window of now.
func (s *SlidingWindow) Carry(usage Usage, now int64) uint64 {
	return s.pack(counts{index: s.index(now), curr: s.cut(usage)})
}

// adopt returns the word that counts what word of another limit counts, window by window, or what
// that amounts to if its window lies farther ahead than this index can tell.
func (s *SlidingWindow) adopt(other *SlidingWindow, word uint64, now int64) uint64 {
	c := other.at(word, now)
	if (c.index-s.index(now))*PromiseShare > int64(1)<<(s.indexBits-1) {
		return s.Carry(other.Usage(word, now), now)
	}
	c.prev, c.curr = min(c.prev, int64(s.mask())), min(c.curr, int64(s.mask()))
	return s.pack(c)
}
