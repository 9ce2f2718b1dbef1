package linear

import (
	"errors"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/engine"
)

// state is the sequential limiter: one key's.
type state struct {
	word     uint64             // 0: the key equals a new one
	log      entries            // of a sliding log, in place of the word
	given    [2 * clients]given // what each goroutine could give back: a charge, and a reservation
	promises promises
}

// given is a charge that its goroutine may give back.
type given struct {
	at, left int64 // when it acts, and how many permits are left
	live     bool  // there is one
	promised bool  // it is among the promises
	stale    bool  // the key was reset since
	unsure   bool  // a reset was under way when it was charged: it may count as of before
}

// model is the sequential limiter of a limit.
type model interface {
	// step returns the states that may follow, none if the call could not have been answered so.
	step(s state, c call, a answer) []state
}

// modelOf returns the sequential limiter of a limit.
func modelOf(l engine.Limit) (model, error) {
	law, err := l.Law(time.Nanosecond, 0)
	switch {
	case err != nil:
		return nil, err
	case law != nil:
		return wordModel{law}, nil
	}
	return logModel{limit: l.Effective().Tokens, window: int64(l.Effective().Per)}, nil
}

// patience bounds the check of one history.
const patience = 5 * time.Second

var (
	// errNotLinear reports a history that no order of its calls explains.
	errNotLinear = errors.New("linear: not linearizable")
	// errUndecided reports a history with too many orders to try them all: it shows nothing.
	errUndecided = fmt.Errorf("linear: not decided within %v", patience)
)

// judge returns an error if a history is not linearizable.
func judge(m model, operations []porcupine.Operation) error {
	sequential := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}} },
		Step: func(s, input, output any) []any {
			var next []any
			for _, n := range m.step(s.(state), input.(call), output.(answer)) { //nolint:errcheck // there is nothing else in them
				next = append(next, n)
			}
			return next
		},
	}
	switch porcupine.CheckOperationsTimeout(sequential.ToModel(), operations, patience) {
	case porcupine.Ok:
		return nil
	case porcupine.Illegal:
		return errNotLinear
	}
	return errUndecided
}

// reset returns s as it is once the key was reset: bumped tells whether that was noted, which it is
// not for a key that has nothing.
func (s state) reset(noted bool) state {
	s.word, s.log, s.promises = 0, entries{}, promises{}
	for i := range s.given {
		s.given[i].stale = s.given[i].stale || noted && s.given[i].live
	}
	return s
}

// spend is s with n permits less to give back.
func (s state) spend(slot int, n int64) state {
	g := &s.given[slot]
	if g.left -= n; g.left <= 0 {
		*g = given{}
	}
	return s
}

// keep is s with a charge that can be given back.
func (s state) keep(c call, at int64) state {
	s.given[c.slot()] = given{}
	if c.kept {
		s.given[c.slot()] = given{at: at, left: c.n, live: true, unsure: c.raced}
	}
	return s
}

// decisionOf is the answer that a state of a law describes.
func decisionOf(law atomicstate.Law, is atomicstate.State, delay int64) engine.Decision {
	return engine.Decision{
		Allowed: is.Allowed, Limit: law.Capacity(), Remaining: is.Remaining, Delay: time.Duration(delay),
		RetryAfter: time.Duration(is.RetryNanos), ResetAfter: time.Duration(is.ResetNanos),
	}
}
