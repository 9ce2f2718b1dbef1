package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// charged is what a charge came to: the word and time on which it was decided, and how much was taken.
type charged struct {
	word  uint64
	now   int64
	taken int64
}

// charge takes least to most permits of a full key, or looks if both are 0. ctx has the deadline.
func (s *Shared) charge(ctx context.Context, key string, least, most int64) (charged, error) {
	if !s.applies {
		return s.chargeByWord(ctx, key, least, most)
	}
	var c charged
	err := s.backend.guarded(ctx, s.backend.node(key), func() (err error) {
		ops, results := [1]Op{{Key: key, Law: s.law, Min: least, Max: most}}, [1]Result{}
		s.backend.applier.Apply(ctx, ops[:], results[:])
		c, err = s.applied(ops[0], results[0])
		return err
	})
	return c, err
}

// applied reads the result of an op, and counts it if the store decided otherwise than the law would.
func (s *Shared) applied(op Op, r Result) (charged, error) {
	err := r.Err
	if err == nil && !r.possible(op) {
		err = fmt.Errorf("store: the storage answered a call of %d to %d permits by %+v, which no op comes to", op.Min, op.Max, r)
	}
	switch {
	case err != nil && op.Max == 0:
		return charged{}, read(err)
	case err != nil:
		return charged{}, written(err)
	}
	c := charged{s.law.Word(r.Before, r.Now), r.Now, r.Taken}
	if _, taken := s.law.Take(c.word, c.now, op.Min, op.Max); taken != r.Taken {
		s.counters.mismatches.Add(1)
	}
	return c, nil
}

// possible reports whether an op can have come to the result. What cannot is no decision, neither yes nor no.
func (r *Result) possible(op Op) bool {
	if b := r.Before; b.Debt < 0 || b.Prev < 0 || b.Curr < 0 {
		return false
	}
	return r.Taken == 0 || op.Min <= r.Taken && r.Taken <= op.Max && r.Taken > 0
}

// read classifies the error of a call that writes nothing.
func read(err error) error {
	if err == nil || errors.Is(err, ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// written classifies the error of a call that writes.
func written(err error) error {
	if err == nil || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnknownOutcome) || errors.Is(err, ErrContended) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}

// TakeBatch makes each of the requests as Take would, for itself. If the store is an [Applier] that
// accepts the limit they share one round trip and one deadline; else they are made one after the
// other, each with a deadline of its own, and those for which the caller's time is up before their turn
// follow the policy.
func (s *Shared) TakeBatch(ctx context.Context, requests []Request) []Outcome {
	outcomes := make([]Outcome, len(requests))
	if !s.applies {
		s.takeInTurn(ctx, requests, outcomes)
		return outcomes
	}
	b := batch{shared: s, requests: requests, outcomes: outcomes, began: time.Now(), nodes: map[*gate]*visit{}}
	b.run(ctx)
	return outcomes
}

// takeInTurn makes the requests of a batch one after the other. If the store takes the caller's time for the first
// ones it has not answered the others either: they did not come too late.
func (s *Shared) takeInTurn(ctx context.Context, requests []Request, outcomes []Outcome) {
	tooLate, began := begun(ctx) != nil, time.Now()
	for i, r := range requests {
		o := &outcomes[i]
		if d, ok := s.fixed(r.N); ok {
			o.Decision = s.counters.decided(d)
			continue
		}
		o.Decision, o.Err = s.take(ctx, r.Key, r.N, began)
		if !tooLate && errors.Is(o.Err, errNotAsked) && !errors.Is(ctx.Err(), context.Canceled) {
			o.Decision, o.Err = s.Fallback(r.Key, r.N, o.Err)
		}
	}
}
