package store

import (
	"context"
	"errors"
	"time"
)

// batch is the way of several calls through one round trip.
type batch struct {
	shared   *Shared
	requests []Request
	outcomes []Outcome
	began    time.Time // when the caller called

	ops   []Op
	of    []int // request of each op
	gates []*gate
	nodes map[*gate]*visit
}

// visit is a batch's call to one node, which counts once whatever became of its ops.
type visit struct {
	pass    pass
	ok      bool // the breaker let it pass
	verdict verdict
	cause   error
}

// run makes the batch; ctx is the caller's.
func (b *batch) run(caller context.Context) {
	s := b.shared
	if err := begun(caller); err != nil {
		b.tooLate(caller, err)
		return
	}
	ctx, cancel := context.WithTimeout(caller, s.backend.deadline)
	defer cancel()
	panicked := true
	defer func() { b.leave(ctx, panicked) }()
	if b.gather(caller); len(b.ops) > 0 {
		b.apply(caller, ctx)
	}
	panicked = false
}

// apply makes the ops within ctx, the caller's with the deadline.
func (b *batch) apply(caller, ctx context.Context) {
	s := b.shared
	began, results := time.Now(), make([]Result, len(b.ops))
	s.backend.applier.Apply(ctx, b.ops, results)
	b.again(ctx, results)
	waited := time.Since(began)
	for j, r := range results {
		c, err := s.applied(b.ops[j], r)
		v := b.nodes[b.gates[j]]
		if blame := s.backend.blame(ctx, err, waited); blame < v.verdict {
			v.verdict, v.cause = blame, err
		}
		b.settle(caller, b.of[j], c, err)
	}
}

// leave tells the breakers what became of the batch. A node that has not answered when the storage panicked fails too.
func (b *batch) leave(ctx context.Context, panicked bool) {
	for gate, v := range b.nodes {
		if panicked && v.verdict == nothing {
			v.verdict, v.cause = failed, errPanicked
		}
		if v.ok {
			gate.leave(ctx, v.pass, v.verdict, v.cause, time.Now())
		}
	}
}

// tooLate answers a batch whose caller did not wait from the beginning: only what needs no store.
func (b *batch) tooLate(caller context.Context, err error) {
	for i, r := range b.requests {
		if d, ok := b.shared.fixed(r.N); ok {
			b.outcomes[i].Decision = b.shared.counters.decided(d)
			continue
		}
		b.settle(caller, i, charged{}, err)
	}
}

// gather answers what needs no store, and makes ops of the rest.
func (b *batch) gather(caller context.Context) {
	s := b.shared
	for i, r := range b.requests {
		if d, ok := s.fixed(r.N); ok {
			b.outcomes[i].Decision = s.counters.decided(d)
			continue
		}
		key := s.Key(r.Key)
		gate := s.backend.breakers.of(s.backend.node(key))
		switch v := b.visit(gate); {
		case s.backend.closed.Load():
			b.settle(caller, i, charged{}, s.backend.closedError())
		case !v.ok:
			b.settle(caller, i, charged{}, s.backend.openError(gate.node))
		default:
			b.ops, b.of = append(b.ops, Op{Key: key, Law: s.law, Min: r.N, Max: r.N}), append(b.of, i)
			b.gates = append(b.gates, gate)
		}
	}
}

// visit asks a node's breaker for leave, once a batch.
func (b *batch) visit(g *gate) *visit {
	if v, ok := b.nodes[g]; ok {
		return v
	}
	v := &visit{verdict: nothing}
	v.pass, v.ok = g.enter(time.Now())
	b.nodes[g] = v
	return v
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
func (b *batch) settle(caller context.Context, i int, c charged, err error) {
	s, r := b.shared, b.requests[i]
	if err != nil {
		b.outcomes[i].Decision, b.outcomes[i].Err = s.away(caller, r.Key, r.N, err, b.began)
		return
	}
	b.outcomes[i].Decision = s.counters.decided(s.answer(c, r.N))
}
