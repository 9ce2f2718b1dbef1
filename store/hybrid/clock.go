package hybrid

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// timeline is a limiter's time in nanoseconds since an origin of its own. It does not move back. It
// must not be copied once in use.
type timeline struct {
	origin time.Time
	user   engine.Clock // nil: the monotonic clock
	latest atomic.Int64 // of the user's clock
}

func (t *timeline) init(user engine.Clock) {
	t.origin, t.user = time.Now(), user
	t.latest.Store(math.MinInt64)
}

// now returns the time.
func (t *timeline) now() int64 {
	if t.user == nil {
		return int64(time.Since(t.origin))
	}
	return t.advance(int64(t.user.Now()))
}

// advance moves the latest time to now, if that is later, and returns it.
func (t *timeline) advance(now int64) int64 {
	for {
		latest := t.latest.Load()
		if now <= latest {
			return latest
		}
		if t.latest.CompareAndSwap(latest, now) {
			return now
		}
	}
}
