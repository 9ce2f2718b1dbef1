package redis

import (
	"context"
	"fmt"
	"strconv"

	"github.com/penstock-go/penstock/store"
)

// Accepts accepts every law whose numbers the scripts can hold exactly.
func (s *Storage) Accepts(law *store.Law) error {
	n := law.Numbers()
	switch {
	case n.Tick != tick:
		return fmt.Errorf("%w: a law in ticks of %v: compile it for this store, whose tick is %v", store.ErrNotSupported, n.Tick, tick)
	case n.Limit > maxUnits || n.Units > maxUnits:
		return fmt.Errorf("%w: %v: scripts count to 2^52 exactly: it goes by compare-and-swap", store.ErrNotSupported, law.Limit())
	case n.Window > maxTicks:
		return fmt.Errorf("%w: %v: scripts take windows of up to 71 years: it goes by compare-and-swap", store.ErrNotSupported, law.Limit())
	}
	return nil
}

// Apply decides all ops: each by a script of its own, all of one node in one go.
func (s *Storage) Apply(ctx context.Context, ops []store.Op, results []store.Result) {
	if err := begun(ctx); err != nil {
		for i := range results {
			results[i] = store.Result{Err: err}
		}
		return
	}
	calls, replies := make([]call, len(ops)), make([]reply, len(ops))
	for i := range ops {
		calls[i] = s.call(&ops[i])
	}
	s.client.run(ctx, calls, replies)
	for i := range ops {
		results[i] = result(ops[i].Law, &replies[i])
	}
}

// call makes the call of an op.
func (s *Storage) call(op *store.Op) call {
	args := make([]string, 0, 6)
	args = append(args, decimal(op.Min), decimal(op.Max))
	args = append(args, numbers(op.Law)...)
	if s.extra != nil {
		args = append(args, s.extra()...)
	}
	return call{script: s.scripts.one[op.Law.Numbers().Kind], keys: []string{op.Key}, args: args}
}

// numbers returns the numbers of a law as a script takes them.
func numbers(law *store.Law) []string {
	n := law.Numbers()
	if n.Kind == store.KindBucket {
		return []string{decimal(n.Rate), decimal(n.Unit), decimal(n.Units)}
	}
	return []string{decimal(n.Limit), decimal(n.Window)}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// result reads the reply of a script to an op.
func result(law *store.Law, r *reply) store.Result {
	switch {
	case r.err != nil:
		return store.Result{Err: r.err}
	case len(r.numbers) != maxNumbers:
		return store.Result{Err: errReply}
	}
	return store.Result{Now: r.numbers[0], Taken: r.numbers[1], Before: state(law, r.numbers[2:])}
}

// state reads the three numbers of a state.
func state(law *store.Law, n []int64) store.State {
	if law.Numbers().Kind == store.KindBucket {
		return store.State{Debt: n[0]}
	}
	if n[1] == 0 && n[2] == 0 {
		return store.State{} // equals new
	}
	return store.State{Window: n[0], Prev: n[1], Curr: n[2]}
}
