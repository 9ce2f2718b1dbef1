package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// batch is the way of several calls through one round trip.
type batch struct {
	shared   *Shared
	ctx      context.Context //nolint:containedctx // lives as long as the one call of TakeBatch
	requests []Request
	outcomes []Outcome

	ops    []Op
	of     []int // request of each op
	gates  []*gate
	passes []pass
}

func (b *batch) make() {
	s := b.shared
	if err := begun(b.ctx); err != nil {
		for i := range b.outcomes {
			b.outcomes[i] = Outcome{Decision{Cause: err}, err}
		}
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, s.backend.deadline)
	defer cancel()
	b.gather()
	if len(b.ops) == 0 {
		return
	}
	began, results := time.Now(), make([]Result, len(b.ops))
	s.backend.applier.Apply(ctx, b.ops, results)
	b.again(ctx, results)
	waited := time.Since(began)
	for j, r := range results {
		c, err := s.applied(b.ops[j], r)
		b.gates[j].leave(b.passes[j], s.backend.blame(ctx, err, waited), err, time.Now())
		b.settle(b.of[j], c, err)
	}
}

// gather answers what needs no store, and makes ops of the rest.
func (b *batch) gather() {
	s := b.shared
	for i, r := range b.requests {
		if d, ok := s.fixed(r.N); ok {
			b.outcomes[i].Decision = s.counters.decided(d)
			continue
		}
		key := s.Key(r.Key)
		gate := s.backend.breakers.of(s.backend.node(key))
		leave, ok := gate.enter(time.Now())
		switch {
		case s.backend.closed.Load():
			b.settle(i, charged{}, fmt.Errorf("%w: %w", ErrUnavailable, ErrClosed))
		case !ok:
			b.settle(i, charged{}, fmt.Errorf("%w: %w: %s %s", ErrUnavailable, ErrBreakerOpen, s.backend.info.Name, gate.node))
		default:
			b.ops, b.of = append(b.ops, Op{Key: key, Law: s.law, Min: r.N, Max: r.N}), append(b.of, i)
			b.gates, b.passes = append(b.gates, gate), append(b.passes, leave)
		}
	}
}

// again makes those ops a second time that were surely not executed.
func (b *batch) again(ctx context.Context, results []Result) {
	var ops []Op
	var of []int
	for j, r := range results {
		if errors.Is(r.Err, ErrUnavailable) && !errors.Is(r.Err, ErrThrottled) {
			ops, of = append(ops, b.ops[j]), append(of, j)
		}
	}
	if len(ops) == 0 || ctx.Err() != nil {
		return
	}
	second := make([]Result, len(ops))
	b.shared.backend.applier.Apply(ctx, ops, second)
	for k, j := range of {
		results[j] = second[k]
	}
}

// settle writes the outcome of a request.
func (b *batch) settle(i int, c charged, err error) {
	s, r := b.shared, b.requests[i]
	if err != nil {
		b.outcomes[i].Decision, b.outcomes[i].Err = s.away(b.ctx, r.Key, r.N, err)
		return
	}
	b.outcomes[i].Decision = s.counters.decided(s.answer(c, r.N))
}
