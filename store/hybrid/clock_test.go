package hybrid_test

import (
	"sync/atomic"
	"time"
)

// stepping is the time since 1970 that can be made to step.
type stepping struct {
	origin time.Time
	offset atomic.Int64
}

func (s *stepping) Now() time.Duration {
	return time.Duration(s.origin.UnixNano()) + time.Since(s.origin) + time.Duration(s.offset.Load())
}

func (s *stepping) step(d time.Duration) { s.offset.Add(int64(d)) }
