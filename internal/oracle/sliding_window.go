package oracle

import (
	"math/big"
	"time"
)

// SlidingWindow is the sliding window counter: the permits of the current
// window plus those of the previous one, weighted by the part of it that one
// window back from now still covers. With e the time since the current window
// began, n permits are allowed if
//
//	prev * (window-e)/window + curr + n <= limit
//
// with the exact weight. Windows are aligned at time 0, also before it.
type SlidingWindow struct {
	limit  int64
	window int64
	time   latest
	index  int64 // of the window that curr belongs to
	prev   int64
	curr   int64
}

var _ Model = (*SlidingWindow)(nil)

// NewSlidingWindow returns an unused counter. A limit below 0 counts as 0, a
// window below 1 ns as 1 ns.
func NewSlidingWindow(limit int64, window time.Duration) *SlidingWindow {
	return &SlidingWindow{limit: max(limit, 0), window: max(int64(window), 1)}
}

// counts returns both counts as of the window with the given index, which is
// not before that of the last call.
func (w *SlidingWindow) counts(index int64) (prev, curr int64) {
	switch elapsed(index, w.index) {
	case 0:
		return w.prev, w.curr
	case 1:
		return w.curr, 0
	}
	return 0, 0
}

// usedAfter returns the weighted count at wait (>= 0) nanoseconds after the
// effective time now, if nobody calls in between. It never rises with wait: the
// weight falls within a window, and at the end of a window prev weighs 0 and
// curr becomes prev with weight 1.
func (w *SlidingWindow) usedAfter(now int64, wait *big.Int) *big.Rat {
	prev, curr := w.counts(floorDiv(now, w.window))
	e := new(big.Int).Add(big.NewInt(floorMod(now, w.window)), wait)
	window := big.NewInt(w.window)
	windows, e := new(big.Int).DivMod(e, window, new(big.Int))
	switch {
	case windows.Cmp(big.NewInt(1)) > 0:
		prev, curr = 0, 0
	case windows.Sign() > 0:
		prev, curr = curr, 0
	}
	used := new(big.Rat).SetFrac(window.Sub(window, e), big.NewInt(w.window))
	used.Mul(used, new(big.Rat).SetInt64(prev))
	return used.Add(used, new(big.Rat).SetInt64(curr))
}

// passesAfter tells whether n permits would be allowed wait nanoseconds after
// the effective time now.
func (w *SlidingWindow) passesAfter(now, n int64, wait *big.Int) bool {
	sum := w.usedAfter(now, wait)
	sum.Add(sum, new(big.Rat).SetInt64(n))
	return sum.Cmp(new(big.Rat).SetInt64(w.limit)) <= 0
}

// Take implements [Model].
func (w *SlidingWindow) Take(now, n int64) (allowed bool, retryAfterNanos int64) {
	allowed, retryAfterNanos = w.Peek(now, n)
	if n < 1 || n > w.limit {
		return allowed, retryAfterNanos
	}
	now = w.time.see(now)
	if allowed {
		index := floorDiv(now, w.window)
		w.prev, w.curr = w.counts(index)
		w.curr += n
		w.index = index
	}
	return allowed, retryAfterNanos
}

// Peek implements [Model].
func (w *SlidingWindow) Peek(now, n int64) (allowed bool, retryAfterNanos int64) {
	switch {
	case n < 0:
		return false, Never
	case n == 0:
		return true, 0
	case n > w.limit:
		return false, Never
	}
	now = w.time.effective(now)
	if w.passesAfter(now, n, new(big.Int)) {
		return true, 0
	}
	return false, w.search(func(wait *big.Int) bool { return w.passesAfter(now, n, wait) })
}

// search returns the smallest wait in [1, 2*window] that passes. Whatever was
// counted weighs nothing after two windows, and what passes at one wait passes
// at every longer one.
func (w *SlidingWindow) search(passes func(wait *big.Int) bool) int64 {
	one := big.NewInt(1)
	low := big.NewInt(1)
	high := new(big.Int).Lsh(big.NewInt(w.window), 1)
	for low.Cmp(high) < 0 {
		middle := new(big.Int).Add(low, high)
		middle.Rsh(middle, 1)
		if passes(middle) {
			high = middle
		} else {
			low = middle.Add(middle, one)
		}
	}
	return clampInt64(low)
}

// Remaining implements [Model].
func (w *SlidingWindow) Remaining(now int64) int64 {
	used := w.usedAfter(w.time.effective(now), new(big.Int))
	return w.limit - ceil(used).Int64()
}

// ResetAfter implements [Model].
func (w *SlidingWindow) ResetAfter(now int64) int64 {
	now = w.time.effective(now)
	unused := func(wait *big.Int) bool { return w.usedAfter(now, wait).Sign() == 0 }
	if unused(new(big.Int)) {
		return 0
	}
	return w.search(unused)
}
