package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// All takes permits of one key from several limits, all or nothing, by one script: 10 a second and
// 1000 an hour, say. The keys of all of them have the caller's key as their hash tag, so that this
// works in a cluster too. Its methods are safe for concurrent use. Make one with [NewAll].
type All struct {
	storage  *Storage
	backend  *store.Backend
	limiters []*store.Shared
}

// NewAll joins limiters of one backend, whose storage is a [*Storage]. Errors: [store.ErrOption] for
// none, for those of different backends or of another storage, and for two of one key;
// [store.ErrNotSupported] for limits that go by compare-and-swap.
func NewAll(limiters ...*store.Shared) (*All, error) {
	if len(limiters) == 0 {
		return nil, fmt.Errorf("%w: redis.NewAll of no limiters: pass one or more", store.ErrOption)
	}
	b := limiters[0].Backend()
	s, ok := b.Storage().(*Storage)
	if !ok {
		return nil, fmt.Errorf("%w: redis.NewAll of limiters in a %T: make them by a backend on a redis.Storage",
			store.ErrOption, b.Storage())
	}
	a := &All{storage: s, backend: b}
	seen := map[string]bool{}
	for _, l := range limiters {
		if l.Backend() != b {
			return nil, fmt.Errorf("%w: redis.NewAll of limiters of several backends: make them by one", store.ErrOption)
		}
		a.limiters = append(a.limiters, l)
		if l.Law() == nil {
			continue
		}
		if err := s.Accepts(l.Law()); err != nil {
			return nil, err
		}
		if key := l.Key(""); seen[key] {
			return nil, fmt.Errorf("%w: redis.NewAll of two limiters with one key, %q: give them names of their own", store.ErrOption, key)
		}
		seen[l.Key("")] = true
	}
	return a, nil
}

// Take takes n permits of key from every limit, or from none. The decision is that of the strictest
// limit: of refusals the one with the longest wait, of permissions the one with the least left; its Rule
// says which, by the order given to NewAll. When the store does not answer, each limit follows its
// policy: the call passes if all let it pass, and fails if one is [store.Closed]. Shares that let it
// pass in this process are charged then also if another refuses.
func (a *All) Take(ctx context.Context, key string, n int64) (store.Decision, error) {
	var ops []store.Op
	var of []int
	strictest := store.Decision{Decision: engine.Decision{Allowed: true}, Source: store.SourceFixed}
	first := true
	for i, l := range a.limiters {
		if law := l.Law(); law != nil && n >= 0 && n <= law.Numbers().Limit {
			ops, of = append(ops, store.Op{Key: l.Key(key), Law: law, Min: n, Max: n}), append(of, i)
			continue
		}
		d, err := l.Take(ctx, key, n) // needs no store
		if d.Rule = i; err != nil || !d.Allowed {
			return d, err
		}
		strictest, first = tighter(strictest, d, first), false
	}
	if len(ops) == 0 {
		return strictest, nil
	}
	if err := begun(ctx); err != nil { // no policy answers a caller that did not wait from the beginning
		return store.Decision{Cause: err}, err
	}
	results := make([]store.Result, len(ops))
	err := a.backend.Call(ctx, ops[0].Key, func(ctx context.Context) error { return a.storage.ApplyAll(ctx, ops, results) })
	if err != nil {
		return a.away(ctx, key, n, err)
	}
	passed := true
	for _, r := range results {
		passed = passed && r.Taken == n
	}
	for j, r := range results {
		law := ops[j].Law
		d := store.Decision{Decision: law.Describe(law.Word(r.Before, r.Now), r.Now, n), Source: store.SourceStore}
		if passed {
			d.Decision = law.Decide(law.Word(r.Before, r.Now), r.Now, n, r.Taken)
		}
		d.Rule = of[j]
		strictest, first = tighter(strictest, d, first), false
	}
	return strictest, nil
}

// away answers a call that the store did not.
func (a *All) away(ctx context.Context, key string, n int64, cause error) (store.Decision, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return store.Decision{Cause: cause}, cause
	}
	if !errors.Is(cause, store.ErrUnavailable) {
		cause = fmt.Errorf("%w: %w", store.ErrUnknownOutcome, cause)
	}
	var strictest store.Decision
	for i, l := range a.limiters {
		d, err := l.Fallback(key, n, cause)
		if d.Rule = i; err != nil {
			return d, err
		}
		strictest = tighter(strictest, d, i == 0)
	}
	return strictest, nil
}

// ApplyAll makes all ops, all or nothing, at one instant: their keys have one hash tag, they are different,
// and of each op Min == Max. It writes what became of ops[i] to results[i]; Taken is 0 in all of
// them if one was refused. [All] is the convenient form.
func (s *Storage) ApplyAll(ctx context.Context, ops []store.Op, results []store.Result) error {
	if err := begun(ctx); err != nil {
		return err
	}
	c := call{script: s.scripts.all}
	for i := range ops {
		op := &ops[i]
		c.keys = append(c.keys, op.Key)
		c.args = append(c.args, kindName[op.Law.Numbers().Kind], decimal(op.Max))
		c.args = append(c.args, numbers(op.Law)...)
		if op.Law.Numbers().Kind != store.KindBucket {
			c.args = append(c.args, "0") // each has three numbers
		}
	}
	if s.extra != nil {
		c.args = append(c.args, s.extra()...)
	}
	calls, replies := []call{c}, make([]reply, 1)
	s.client.run(ctx, calls, replies)
	r := &replies[0]
	if r.err == nil && len(r.numbers) != 1+4*len(ops) {
		r.err = errReply
	}
	if r.err != nil {
		return r.err
	}
	for i := range ops {
		n := r.numbers[1+4*i : 5+4*i]
		if n[0] != 0 && n[0] != ops[i].Max || slices.Min(n) < 0 {
			return errReply
		}
		results[i] = store.Result{Now: r.numbers[0], Taken: n[0], Before: state(ops[i].Law, n[1:])}
	}
	return nil
}

// kindName is what a kind of law is called in the script for several.
var kindName = map[store.Kind]string{store.KindBucket: "b", store.KindFixedWindow: "f", store.KindSlidingWindow: "s"}

// tighter joins the answers of two limits to one call, as the engine does: a refusal beats a
// permission, the longer wait the shorter one, then less left more; of equals the first. The longest
// delay counts.
func tighter(a, b store.Decision, first bool) store.Decision {
	if first {
		return b
	}
	delay := max(a.Delay, b.Delay)
	if stricter(b, a) {
		a = b
	}
	if a.Allowed {
		a.Delay = delay
	}
	return a
}

// stricter reports whether b is a stricter answer than a.
func stricter(b, a store.Decision) bool {
	switch {
	case a.Allowed != b.Allowed:
		return a.Allowed
	case a.RetryAfter != b.RetryAfter:
		return longer(b.RetryAfter, a.RetryAfter)
	}
	return b.Remaining < a.Remaining
}

// longer reports whether b is a longer wait than a.
func longer(b, a time.Duration) bool { return a != engine.Never && (b == engine.Never || b > a) }
