package oracle

import "time"

// FixedWindow counts permits in the windows [k*window, (k+1)*window), aligned
// at time 0 (also before it: k is the floor of t/window).
type FixedWindow struct {
	limit  int64
	window int64
	time   latest
	index  int64 // of the window that count belongs to
	count  int64
}

var _ Model = (*FixedWindow)(nil)

// NewFixedWindow returns an unused counter. A limit below 0 counts as 0, a
// window below 1 ns as 1 ns.
func NewFixedWindow(limit int64, window time.Duration) *FixedWindow {
	return &FixedWindow{limit: max(limit, 0), window: max(int64(window), 1)}
}

// used returns the permits taken in the window of the effective time now.
func (w *FixedWindow) used(now int64) int64 {
	if floorDiv(now, w.window) != w.index {
		return 0
	}
	return w.count
}

// ends returns the time from now to the end of its window.
func (w *FixedWindow) ends(now int64) int64 {
	return w.window - floorMod(now, w.window)
}

// Take implements [Model].
func (w *FixedWindow) Take(now, n int64) (allowed bool, retryAfterNanos int64) {
	allowed, retryAfterNanos = w.Peek(now, n)
	if n < 1 || n > w.limit {
		return allowed, retryAfterNanos
	}
	now = w.time.see(now)
	if allowed {
		w.count = w.used(now) + n
		w.index = floorDiv(now, w.window)
	}
	return allowed, retryAfterNanos
}

// Peek implements [Model].
func (w *FixedWindow) Peek(now, n int64) (allowed bool, retryAfterNanos int64) {
	switch {
	case n < 0:
		return false, Never
	case n == 0:
		return true, 0
	case n > w.limit:
		return false, Never
	}
	now = w.time.effective(now)
	if n <= w.limit-w.used(now) {
		return true, 0
	}
	return false, w.ends(now)
}

// Remaining implements [Model].
func (w *FixedWindow) Remaining(now int64) int64 {
	return w.limit - w.used(w.time.effective(now))
}

// ResetAfter implements [Model].
func (w *FixedWindow) ResetAfter(now int64) int64 {
	now = w.time.effective(now)
	if w.used(now) == 0 {
		return 0
	}
	return w.ends(now)
}
