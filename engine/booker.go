package engine

import (
	"math"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/sharded"
)

// booker makes one promise under all rules of a key. All of them are asked first, under the ledger
// of the key, for the latest of the first instants at which each would let the permits act; all let
// them act then, since without other traffic what passes at an instant passes later too. Then each is
// charged at that instant. Takes go on beside it: if one was faster the promise is made anew.
type booker[K comparable] struct {
	limiter  *Limiter[K]
	main     *rule
	key      K
	n        int64
	patience patience
	booking  booking
	err      error

	now     int64           // of this try
	offer   sharded.Offer   // of the main rule
	offers  []sharded.Offer // of those of WithAlso; an array would enlarge the stack of everyone who waits
	missing int             // the rule that has nothing for the key yet
	touches int             // how often the key was made known to one
	free    [maxRules]bool  // rules that do not count the key: there is no room for it
}

// tried says what came of a try.
type tried uint8

const (
	tryAgain   tried = iota // somebody was faster
	tryDone                 // promised, or refused: see err
	trySweep                // time has leapt
	tryMissing              // the key has no word, or no log, under one of its rules
)

// try makes one attempt, under the key's ledger and, if some rule has no room for the key, that of
// the shared bucket, which is locked first.
func (w *booker[K]) try() tried {
	own, shared := w.limiter.table.Ledger(w.limiter.hasher.Key(w.key)), w.limiter.table.Ledger(sharded.Overflow)
	if own != shared && w.shares() {
		shared.Lock()
		defer shared.Unlock()
	}
	own.Lock()
	defer own.Unlock()
	w.now = w.limiter.time.settled()
	at, out := w.agree()
	if out != tryDone || w.err != nil {
		return out
	}
	if w.err = w.acceptable(at - w.now); w.err != nil {
		return tryDone
	}
	return w.charge(at)
}

// rules returns how many rules the key is under.
func (w *booker[K]) rules() int { return 1 + len(w.limiter.also) }

// offerOf returns where the offer of the i-th rule is kept.
func (w *booker[K]) offerOf(i int) *sharded.Offer {
	if i == 0 {
		return &w.offer
	}
	return &w.offers[i-1]
}

// shares reports whether any rule counts the key in its shared bucket.
func (w *booker[K]) shares() bool {
	for i := range w.rules() {
		if w.booking.claim(i).key.IsOverflow() {
			return true
		}
	}
	return false
}

// agree returns the first instant at which all rules let the permits act. It is found in one round
// for one rule, in two for more.
func (w *booker[K]) agree() (at int64, out tried) {
	for from := w.now; ; from = at {
		at = from
		for i := range w.rules() {
			wait, out := w.ask(i, from)
			if out != tryDone || w.err != nil {
				return 0, out
			}
			at = max(at, w.now+wait)
		}
		if at == from || w.rules() == 1 {
			return at, tryDone
		}
	}
}

// ask asks the i-th rule for the first instant, from on, at which it lets the permits act: wait after
// now.
func (w *booker[K]) ask(i int, from int64) (wait int64, out tried) {
	m := w.limiter
	p, r := m.ruleAt(w.main, i)
	switch {
	case r.verdict == always || w.free[i]:
		return from - w.now, tryDone
	case r.verdict == byLog:
		return w.askLog(i, p, r, from)
	}
	k := w.booking.claim(i).key
	offer, wait, a := m.table.Ledger(k).Offer(k, r.number, w.now, from, w.n)
	switch a {
	case sharded.Missing:
		w.missing = i
		return 0, tryMissing
	case sharded.SweepFirst:
		return 0, trySweep
	case sharded.Refused:
		w.err = w.refusal(r, wait)
	case sharded.Offered:
		*w.offerOf(i) = offer
	}
	return wait, tryDone
}

// refusal is the error of a rule that makes no offer.
func (w *booker[K]) refusal(r *rule, wait int64) error {
	switch {
	case wait == atomicstate.Never:
		return &WaitError{Err: ErrNever, Asked: w.n, Wait: Never}
	case r.limit.algorithm == leakyQueue:
		return &WaitError{Err: ErrQueueFull, Asked: w.n, Wait: time.Duration(wait)}
	}
	return &WaitError{Err: ErrMaxWait, Asked: w.n, Wait: time.Duration(wait)}
}

// askLog is ask for a rule of logs.
func (w *booker[K]) askLog(i int, p *place[K], r *rule, from int64) (wait int64, out tried) {
	g := w.limiter.logsAt(p)
	var d sharded.LogDecision
	var known bool
	if w.booking.claim(i).key.IsOverflow() {
		known = g.overflow.Has(struct{}{})
		d = g.overflow.Peek(struct{}{}, r.logLimit(), w.n, from)
	} else {
		known = g.Has(w.key)
		d = g.Peek(w.key, r.logLimit(), w.n, from)
	}
	switch {
	case !known:
		w.missing = i
		return 0, tryMissing
	case d.RetryAfterNanos == sharded.LogNever:
		w.err = &WaitError{Err: ErrNever, Asked: w.n, Wait: Never}
	case from > math.MaxInt64-d.RetryAfterNanos:
		w.err = &WaitError{Err: ErrMaxWait, Asked: w.n, Wait: math.MaxInt64}
	}
	return from - w.now + d.RetryAfterNanos, tryDone
}

// acceptable returns nil if the caller is ready to wait for so long, and the queue has a place.
func (w *booker[K]) acceptable(wait int64) error {
	if err := w.patience.allows(w.n, wait); err != nil || wait <= 0 {
		return err
	}
	q := w.limiter.queue
	for i := range w.rules() {
		k := w.booking.claim(i).key
		calls, permits := w.limiter.table.Ledger(k).Waiting(k)
		if calls >= q.calls || permits > q.permits-w.n {
			return &WaitError{Err: ErrQueueFull, Asked: w.n, Wait: time.Duration(wait)}
		}
	}
	return nil
}

// charge charges all rules at the time at, or none.
func (w *booker[K]) charge(at int64) tried {
	w.booking.at, w.booking.waits = at, at > w.now
	for i := range w.rules() {
		if w.chargeOne(i, at) {
			continue
		}
		for j := range i {
			c := w.booking.claim(j)
			p, _ := w.limiter.ruleAt(w.main, j)
			w.limiter.withdraw(p, w.key, w.n, c)
		}
		return tryAgain
	}
	return tryDone
}

// chargeOne charges the i-th rule, or reports false if somebody was faster.
func (w *booker[K]) chargeOne(i int, at int64) (done bool) {
	m, c := w.limiter, w.booking.claim(i)
	p, r := m.ruleAt(w.main, i)
	from := fromKey
	if c.key.IsOverflow() {
		from = fromOverflow
	}
	c.receipt = receipt{rule: r, at: at, from: from, epoch: m.table.Epoch()}
	l := m.table.Ledger(c.key)
	switch {
	case r.verdict == always || w.free[i]:
		return true
	case r.verdict == byWord:
		c.promise, done = l.Make(c.key, *w.offerOf(i))
	case from == fromOverflow:
		c.generation, done = m.logsAt(p).overflow.Reserve(struct{}{}, r.logLimit(), w.n, w.now, at)
	default:
		c.generation, done = m.logsAt(p).Reserve(w.key, r.logLimit(), w.n, w.now, at)
	}
	if done && r.verdict == byLog {
		c.promise = l.Note(c.key, atomicstate.Act{At: at, N: w.n})
	}
	c.charged = done
	return done
}
