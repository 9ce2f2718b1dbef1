package linear

import (
	"github.com/penstock-go/penstock/engine"
)

// kind is what a goroutine does.
type kind uint8

const (
	take    kind = iota
	charge       // take with a receipt
	refund       // of what the goroutine charged last
	reserve      // for the first instant at which it may act
	cancel       // what the goroutine reserved last
	peek
	reset
	kinds
)

var kindNames = [kinds]string{"take", "charge", "refund", "reserve", "cancel", "peek", "reset"}

// call is one call, and what is known of its time.
type call struct {
	kind  kind
	n     int64
	owner int     // the goroutine, whose receipt or reservation it makes or gives back
	times []int64 // at one of which it was decided
	raced bool    // a reset was under way at the same time
	kept  bool    // something of it is given back later
}

// slot is where the sequential limiter keeps what the call makes or gives back.
func (c call) slot() int {
	if c.kind == reserve || c.kind == cancel {
		return clients + c.owner
	}
	return c.owner
}

// answer is what came of it.
type answer struct {
	decision engine.Decision // of take, charge and peek
	ok       bool            // of reserve, refund and cancel
	acts     []int64         // when a reservation may act, as its delay tells: nil at once, or by now
}

// hand is what a goroutine has to give back.
type hand struct {
	receipt     *engine.Receipt[int]
	reservation *engine.Reservation[int]
	left        int64 // permits of the receipt
}

// do makes a call on the key of the history. delay is what the reservation said.
func (h *hand) do(l *engine.Limiter[int], c call) (a answer, delay int64) {
	switch c.kind {
	case take:
		a.decision = l.Take(watched, c.n)
	case charge:
		a.decision, h.receipt = l.TakeReceipt(watched, c.n)
		h.left = c.n
	case refund:
		a.ok = h.receipt.Refund(c.n)
		h.left -= c.n
	case reserve:
		h.reservation = l.Reserve(watched, c.n)
		a.ok = h.reservation.OK()
		delay = int64(h.reservation.Delay())
	case cancel:
		a.ok = h.reservation.Cancel()
		h.reservation = nil
	case peek:
		a.decision = l.Peek(watched)
	case reset:
		l.Reset(watched)
	}
	return a, delay
}

// watched is the key of the history.
const watched = 0
