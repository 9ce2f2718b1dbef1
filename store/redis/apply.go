package redis

import (
	"context"
	"fmt"
	"strconv"
	"sync"

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
	if len(ops) == 1 {
		results[0] = s.applyOne(ctx, &ops[0])
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

// single is the call of one op, with room for what it consists of. It is used again by another call, most
// often one under the same law, whose numbers it has as text already. Clients keep nothing of it.
type single struct {
	law     *store.Law
	numbers []string
	args    [6]string
	keys    [1]string
	calls   [1]call
	replies [1]reply
}

var singles = sync.Pool{New: func() any { return new(single) }}

// applyOne decides one op.
func (s *Storage) applyOne(ctx context.Context, op *store.Op) store.Result {
	one := singles.Get().(*single) //nolint:errcheck // there is nothing else in the pool
	defer singles.Put(one)
	if one.law != op.Law {
		one.law, one.numbers = op.Law, numbers(op.Law)
	}
	one.keys[0] = op.Key
	args := append(one.args[:0], decimal(op.Min), decimal(op.Max))
	args = append(args, one.numbers...)
	if s.extra != nil {
		args = append(args, s.extra()...)
	}
	one.calls[0] = call{script: s.scripts.one[op.Law.Numbers().Kind], keys: one.keys[:], args: args}
	s.client.run(ctx, one.calls[:], one.replies[:])
	return result(op.Law, &one.replies[0])
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
