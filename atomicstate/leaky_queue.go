package atomicstate

import "time"

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
