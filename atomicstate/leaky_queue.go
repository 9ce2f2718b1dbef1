package atomicstate

import (
	"math"
	"time"
)

// LeakyQueue is the leaky bucket as a queue: permits leave one after the other at a constant
// rate, and a call that passes is told how long to wait for its turn. Its word is that of a
// [Bucket] whose debt is the backlog: the delay is what was owed before the call. At most
// capacity permits are in the queue, the one that is leaving among them.
type LeakyQueue struct{ Bucket }

var _ Law = (*LeakyQueue)(nil)

// NewLeakyQueue compiles a queue that lets tokens out in every period per and holds capacity.
// Errors: [ErrRate], [ErrBurst], [ErrTooLarge].
func NewLeakyQueue(tokens int64, per time.Duration, capacity int64) (*LeakyQueue, error) {
	b, err := NewBucket(tokens, per, capacity)
	if err != nil {
		return nil, err
	}
	return &LeakyQueue{*b}, nil
}

// Within returns the queue compiled again as [Bucket.Within] does. Errors: [ErrTooLarge].
func (q *LeakyQueue) Within(maxUnits int64) (*LeakyQueue, error) {
	b, err := q.Bucket.Within(maxUnits)
	if err != nil {
		return nil, err
	}
	return &LeakyQueue{*b}, nil
}

// Delay returns how long the n permits whose charge at now led to word wait for their turn:
// the time in which the backlog before them leaves, rounded up; [Never] if nothing ever leaves.
func (q *LeakyQueue) Delay(word uint64, now, n int64) int64 {
	return q.wait(q.Debt(word, now) - n*q.unit)
}

// Reserve is [Law.Reserve]: a place in the queue now, or none; wait is until its turn. A queue
// that is full has no place to promise: then it reports false, and when a call would have had its
// turn that came when there is one.
func (q *LeakyQueue) Reserve(word uint64, now, n int64) (next uint64, wait int64, ok bool) {
	next, ok = q.Take(word, now, n)
	if ok {
		wait = q.Delay(next, now, n)
		return next, wait, wait != Never && now <= math.MaxInt64-wait
	}
	room := q.Inspect(word, now, n).RetryNanos
	if room == Never {
		return word, Never, false
	}
	return word, saturated(room, q.wait(q.capacity-n*q.unit)), false
}

// Refund gives back what the last in the queue has not used of its turn, and nothing to any other:
// those behind it keep the turns that they were told.
func (q *LeakyQueue) Refund(word uint64, act Act, now, n int64, _ []Promise) (next uint64, ok bool) {
	next, given := q.leave(word, act, now, q.units(n))
	return next, given > 0 && n > 0 && n <= act.N
}

// Release lets those who gave up leave the end of the queue.
func (q *LeakyQueue) Release(word uint64, now int64, promised []Promise) (next uint64, given int64) {
	next = word
	for i := len(promised) - 1; i >= 0 && promised[i].Owed > 0; i-- {
		var one int64
		if next, one = q.leave(next, promised[i].Act, now, promised[i].Owed); one == 0 {
			break
		}
		given += one
	}
	return next, given
}

// leave takes due units of act off the end of the queue, if act is there.
func (q *LeakyQueue) leave(word uint64, act Act, now, due int64) (next uint64, given int64) {
	debt := q.Debt(word, now)
	// A turn is a whole nanosecond, up to one after the backlog before it has left: where more than
	// one permit leaves in a nanosecond, one behind could be taken for that.
	own := q.units(act.N)
	if q.unit < int64(q.rate) {
		own -= int64(q.rate) - 1
	}
	if act.At >= now {
		own = saturated(own, q.earned(now, act.At))
	} else {
		own -= q.earned(act.At, now)
		due = min(due, own)
	}
	given = min(due, debt)
	if debt > own || given <= 0 {
		return word, 0
	}
	return lower(word, given), given
}
