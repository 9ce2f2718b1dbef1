package hybrid

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// lease is permits that were charged to the store and may be spent until it ends. Only left and
// counted change once it is published; a lease is never filled again, so that whoever holds an old one
// finds it empty.
type lease struct {
	left atomic.Int64 // permits not spent yet

	until   int64 // end, exclusive
	low     int64 // the next lease is due when this much is left
	granted int64 // permits at the beginning
	beyond  int64 // what the store had left after the charge, in permits
	resetAt int64 // when the key would equal a new one, as the store knew at the charge
	counted int64 // spent permits that the key's demand has taken note of; guarded by entry.mu
}

// take spends n permits at now, all or none, and returns what is left. now was read after the lease
// was found, so that it lies after the charge; what the bound needs besides is that it lies before the
// end. Compare-and-swap, for a subtraction that is taken back would add permits to a lease that
// was emptied in between.
func (a *lease) take(n, now int64) (left int64, ok bool) {
	if now >= a.until {
		return 0, false
	}
	for {
		left = a.left.Load()
		if left < n {
			return left, false
		}
		if a.left.CompareAndSwap(left, left-n) {
			return left - n, true
		}
	}
}

// describe writes the answer to a call that was served, after which the lease has left permits.
func (a *lease) describe(d *store.Decision, capacity, left, now int64) {
	d.Allowed = true
	d.Limit = capacity
	d.Remaining = min(capacity, left+a.beyond)
	d.ResetAfter = after(a.resetAt, now)
	d.Source = store.SourceLease
}

// spent returns how many permits were spent so far.
func (a *lease) spent() int64 {
	if a == nil {
		return 0
	}
	return a.granted - a.left.Load()
}

// never marks a time that does not come: that of a reset or a retry.
const never int64 = math.MinInt64

// at returns the time that lies d after now, never if d is none.
func at(now int64, d time.Duration) int64 {
	if d < 0 {
		return never
	}
	if sum := now + int64(d); sum >= now {
		return sum
	}
	return math.MaxInt64
}

// after returns how long it is from now until a time, 0 if that is over, engine.Never if it does not
// come.
func after(when, now int64) time.Duration {
	if when == never {
		return engine.Never
	}
	return time.Duration(max(0, when-now))
}
