package oracle

import "time"

// SlidingLog is the exact sliding window: a list of the time of every permit
// admitted. A permit taken at s stops counting at s + window, so at most limit
// permits fall in any half-open interval of one window.
type SlidingLog struct {
	limit  int64
	window uint64
	time   latest
	stamps []int64 // of the permits taken, oldest first
}

var _ Model = (*SlidingLog)(nil)

// NewSlidingLog returns an empty log. A limit below 0 counts as 0, a window
// below 1 ns as 1 ns. The memory used is 8 bytes a permit in the window.
func NewSlidingLog(limit int64, window time.Duration) *SlidingLog {
	return &SlidingLog{limit: max(limit, 0), window: uint64(max(window, 1))}
}

// live returns the stamps that count at the effective time now.
func (l *SlidingLog) live(now int64) []int64 {
	for i, s := range l.stamps {
		if elapsed(now, s) < l.window {
			return l.stamps[i:]
		}
	}
	return nil
}

// expiresIn returns when the stamp s, live at the effective time now, expires.
func (l *SlidingLog) expiresIn(now, s int64) int64 {
	return int64(l.window - elapsed(now, s))
}

// Take implements [Model].
func (l *SlidingLog) Take(now, n int64) (allowed bool, retryAfterNanos int64) {
	allowed, retryAfterNanos = l.Peek(now, n)
	if n < 1 || n > l.limit {
		return allowed, retryAfterNanos
	}
	now = l.time.see(now)
	if allowed {
		l.stamps = l.live(now)
		for range n {
			l.stamps = append(l.stamps, now)
		}
	}
	return allowed, retryAfterNanos
}

// Peek implements [Model].
func (l *SlidingLog) Peek(now, n int64) (allowed bool, retryAfterNanos int64) {
	switch {
	case n < 0:
		return false, Never
	case n == 0:
		return true, 0
	case n > l.limit:
		return false, Never
	}
	now = l.time.effective(now)
	live := l.live(now)
	mustExpire := int64(len(live)) - (l.limit - n)
	if mustExpire <= 0 {
		return true, 0
	}
	return false, l.expiresIn(now, live[mustExpire-1])
}

// Remaining implements [Model].
func (l *SlidingLog) Remaining(now int64) int64 {
	return l.limit - int64(len(l.live(l.time.effective(now))))
}

// ResetAfter implements [Model].
func (l *SlidingLog) ResetAfter(now int64) int64 {
	now = l.time.effective(now)
	live := l.live(now)
	if len(live) == 0 {
		return 0
	}
	return l.expiresIn(now, live[len(live)-1])
}
