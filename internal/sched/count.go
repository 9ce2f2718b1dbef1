package sched

import (
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v3"
)

// Count is a statistic: nothing is decided by it.
type Count = atomic.Uint64

// Counter is a [Count] striped over cache lines, for the path of every call.
type Counter = xsync.Counter

// NewCounter returns a counter at 0.
func NewCounter() *Counter { return xsync.NewCounter() }
