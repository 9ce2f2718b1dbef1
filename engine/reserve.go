package engine

import (
	"context"
	"math"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/sched"
	"github.com/penstock-go/penstock/sharded"
)

// The way of a reservation: a call that cannot pass now is charged at the first instant at which it
// could, in the same word. Nobody passes by it, so the order of reservations is the order in which
// they act. What is promised to whom is in the table's ledger, see sharded/reserve.go.

// Reservation is the answer to [Limiter.Reserve]: permits that are the caller's at some time, or
// none. It must not be copied; its methods are safe for concurrent use.
type Reservation[K comparable] struct {
	limiter *Limiter[K]
	key     K
	n       int64
	err     error
	booking booking
	given   sched.Bool // given up
}

// Reserve takes n permits of key now, or promises them for the first instant at which they may act
// if nobody gives up a reservation before: [Reservation.Delay] says how long that is. Act then, not
// before, or give up by [Reservation.Cancel]. Reservations act in the order in which they were made,
// and no call passes by them, except that what one of them gives back goes to whoever calls next: the
// others keep their times. n == 0 is granted at once and changes nothing.
//
// A reservation is refused at once ([Reservation.Err]) if it could never act, not within
// [WithMaxWait], or not within the bounds of [WithQueue]. A [LeakyQueue] holds its own bound: what
// does not fit in it is refused. With [WithAlso] a reservation is for the time at which all limits
// let it act.
//
// For a bucket, what acts in any interval [x, y] is at most burst + (y-x)*rate, reservations counted
// when they act; for the windows, each acts as a call at its time would. A limit that changes leaves
// the promises of before as they are: they are paid for by what is carried over, and act besides
// what the new limit admits. [Limiter.Reset] forgets them; they act all the same.
//
// Cost: as [Limiter.Take] if it is granted at once, besides an allocation; else a lock that the
// reservations of some keys share, and 24 bytes until it has acted, or some 150 for the first of a key.
func (m *Limiter[K]) Reserve(key K, n int64) *Reservation[K] {
	r := &Reservation[K]{limiter: m, key: key, n: n}
	r.err = m.reserve(m.ruleOf(key), key, n, patience{m.maxWait, math.MaxInt64}, &r.booking)
	m.stats.count(r.err == nil)
	return r
}

// OK reports whether the permits are, or will be, the caller's.
func (r *Reservation[K]) OK() bool { return r.err == nil }

// Err returns why the reservation was refused: a [*WaitError] around [ErrNever], [ErrMaxWait],
// [ErrQueueFull] or [ErrNoRoom]. It is nil if it was not.
func (r *Reservation[K]) Err() error { return r.err }

// Delay returns how long the caller has to wait from now on before acting: 0 if the time has come,
// and [Never], which is negative, if the reservation was refused: look at [Reservation.OK] first.
func (r *Reservation[K]) Delay() time.Duration {
	if r.err != nil {
		return Never
	}
	if !r.booking.waits {
		return 0
	}
	return time.Duration(max(0, r.booking.at-r.limiter.time.sure(readClock)))
}

// Cancel gives up a reservation whose permits have not been used, and reports whether it was in
// time. What was promised is given back as if it had never been: whole, if nobody came after it; else
// as much as leaves those that came after it their times, and the rest as they give up too. Once
// its time has passed a promise is used up, and Cancel changes nothing. What was granted at once can
// be given back later too, as by [Receipt.Refund]. Cancel may be called again: only the first call
// gives anything back. After a change of the key's limit as much is given back as is still owed;
// after a reset, or once the key was forgotten, nothing.
func (r *Reservation[K]) Cancel() bool {
	if r.err != nil || r.n <= 0 || !r.given.CompareAndSwap(false, true) {
		return false
	}
	return r.limiter.unbook(r.key, r.n, &r.booking)
}

// patience is how long a reservation may have to wait, by the limiter's rule and by the caller's.
type patience struct{ most, deadline time.Duration }

// allows returns nil if a wait for n permits is within both.
func (p patience) allows(n, wait int64) error {
	switch {
	case wait == atomicstate.Never:
		return &WaitError{Err: ErrNever, Asked: n, Wait: Never}
	case wait > int64(p.most):
		return &WaitError{Err: ErrMaxWait, Asked: n, Wait: time.Duration(wait), Most: p.most}
	case wait > int64(p.deadline):
		return &WaitError{Err: context.DeadlineExceeded, Asked: n, Wait: time.Duration(wait), Most: p.deadline}
	}
	return nil
}

// booking is what was charged for one reservation.
type booking struct {
	at    int64 // when the permits act, if it waits
	waits bool  // promised for later; else taken at once
	main  claim
	also  []claim // of the limits of WithAlso
}

// claim is what was charged by one rule.
type claim struct {
	receipt
	key     sharded.Key
	promise sharded.Promise
}

// claim returns the claim of the i-th rule.
func (b *booking) claim(i int) *claim {
	if i == 0 {
		return &b.main
	}
	return &b.also[i-1]
}

// reserve takes n permits of key now, or promises them, and writes to b, which is empty, what it
// charged. b is worth nothing if there is an error.
func (m *Limiter[K]) reserve(main *rule, key K, n int64, p patience, b *booking) error {
	if n < 0 {
		return &WaitError{Err: ErrNever, Asked: n, Wait: Never}
	}
	if n == 0 {
		return nil
	}
	queues := false
	for i := range 1 + len(m.also) {
		_, r := m.ruleAt(main, i)
		if n > r.limit.Capacity() {
			return &WaitError{Err: ErrNever, Asked: n, Wait: Never}
		}
		queues = queues || r.limit.algorithm == leakyQueue
	}
	if len(m.also) > 0 {
		b.also = make([]claim, len(m.also))
	}
	if (!queues || !sameKey(key, key)) && m.takeNow(main, key, n, b) {
		return nil
	}
	return m.promise(main, key, n, p, b)
}

// sameKey is ==, for a comparison of a key with itself that is meant: one that does not equal itself
// is a new one at every call, in a queue of its own.
func sameKey[K comparable](a, b K) bool { return a == b }

// takeNow takes n permits of key if they may act now.
func (m *Limiter[K]) takeNow(main *rule, key K, n int64, b *booking) bool {
	if !m.alone {
		return m.takeAllNow(main, key, n, b)
	}
	d, rc := m.takeOne(&m.main, main, key, n, readClock)
	b.main.receipt = rc
	return d.Allowed
}

// takeAllNow is takeNow under several rules. It is a function of its own because its frame is large, and
// so would be the stack of everyone who waits.
func (m *Limiter[K]) takeAllNow(main *rule, key K, n int64, b *booking) bool {
	d, done := m.takeSeveral(main, key, n, readClock)
	for i := range 1 + len(m.also) {
		b.claim(i).receipt = done[i] //nolint:gosec // New holds the rules to maxRules
	}
	return d.Allowed
}

// promise finds the first instant at which all rules let n permits of key act, and charges them
// there.
func (m *Limiter[K]) promise(main *rule, key K, n int64, p patience, b *booking) error {
	w := &booker[K]{limiter: m, main: main, key: key, n: n, patience: p, booking: *b}
	w.offers = make([]sharded.Offer, len(m.also))
	for i := range 1 + len(m.also) {
		place, _ := m.ruleAt(main, i)
		w.booking.claim(i).key = m.hasher.Key(key).WithIndex(place.index)
	}
	for {
		m.time.sure(readClock) // the user's clock, outside every lock
		switch w.try() {
		case tryDone:
			*b = w.booking
			return w.err
		case trySweep:
			m.table.CatchUp(m.time.sure(readClock))
		case tryMissing:
			if err := w.touch(); err != nil {
				return err
			}
		case tryAgain:
		}
	}
}

// unbook gives back what a booking charged, and reports whether it was in time.
func (m *Limiter[K]) unbook(key K, n int64, b *booking) (inTime bool) {
	m.time.sure(readClock)
	for i := range 1 + len(m.also) {
		place, _ := m.ruleAt(nil, i)
		c := b.claim(i)
		if !b.waits {
			inTime = m.refundOne(place, key, n, n, c.receipt) || inTime
			continue
		}
		l := m.table.Ledger(c.key)
		l.Lock()
		inTime = m.cancel(place, l, key, n, c) || inTime
		l.Unlock()
	}
	return inTime
}

// withdraw gives up one claim that was made a moment ago; the caller holds the key's ledger.
func (m *Limiter[K]) withdraw(p *place[K], key K, n int64, c *claim) {
	if !c.charged {
		return
	}
	m.table.Ledger(c.key).Withdraw(c.key, c.promise)
	if c.rule.verdict == byLog {
		m.refundLog(p, key, n, c.receipt)
	}
	c.charged = false
}

// cancel gives up one claim on a promise; the caller holds the key's ledger.
func (m *Limiter[K]) cancel(p *place[K], l *sharded.Ledger, key K, n int64, c *claim) bool {
	if !c.charged || !l.Cancel(c.key, c.promise) {
		return false
	}
	if c.rule.verdict == byLog {
		m.refundLog(p, key, n, c.receipt)
	}
	return true
}
