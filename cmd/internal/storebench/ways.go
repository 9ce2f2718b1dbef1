package storebench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/cmd/internal/stores"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
)

// callFunc makes a call for the key of a number and tells whether its answer was
// the one that the row is about.
type callFunc func(ctx context.Context, key int) (expected bool, err error)

// way is one way to call.
type way struct {
	name       string
	keys       int          // that are called in turn, all if 0
	floor      string       // the way that it is compared with, "" if none
	command    string       // of the server's statistics
	call       callFunc     // is called by many at once
	storeCalls func() int64 // since the beginning, nil if each call is one
}

// setup is what all ways need.
type setup struct {
	ways    []way
	meter   meter
	closers []func() error
}

func (s *setup) close() {
	for _, c := range s.closers {
		_ = c() // nothing is written any more
	}
}

// The names of the ways.
const (
	wayAllow  = "allow"
	wayDeny   = "deny"
	wayHybrid = "hybrid"
)

// hotKeys is how many keys share the calls of leases, which are for keys that are
// called for often: a key with less than two calls in the life of a lease costs what
// a call to the store costs.
const hotKeys = 10

const (
	// callDeadline is how long a call may take: what is slow is to be seen as slow.
	callDeadline = 10 * time.Second
	preparers    = 16 // keys that are used up at once
)

// keys are the keys of callers.
var keys = func() (all [keyCount]string) {
	for i := range all {
		all[i] = fmt.Sprintf("client-%04d", i)
	}
	return all
}()

// denySpec is a limit of the same algorithm of which each key is used up.
func denySpec(s limits.Spec) limits.Spec {
	return limits.Spec{Algorithm: s.Algorithm, Tokens: 1, Per: 300 * 24 * time.Hour, Burst: 1}
}

// limiters makes the limiters of all ways.
func limiters(target stores.Target, scratch *stores.Scratch, spec limits.Spec) (allow, deny, leased *store.Shared, err error) {
	backend, err := store.NewBackend(target.Storage(), store.WithDeadline(callDeadline), store.WithPrefix(scratch.Prefix))
	if err != nil {
		return nil, nil, nil, err
	}
	make1 := func(name string, spec limits.Spec) (*store.Shared, error) {
		limit, err := limits.Build(spec)
		if err != nil {
			return nil, err
		}
		l, err := backend.Limiter(name, limit, store.WithPolicy(store.Closed))
		if err != nil {
			return nil, err
		}
		for _, key := range &keys {
			scratch.Keep(l.Key(key))
		}
		return l, nil
	}
	if allow, err = make1(wayAllow, spec); err != nil {
		return nil, nil, nil, err
	}
	if deny, err = make1(wayDeny, denySpec(spec)); err != nil {
		return nil, nil, nil, err
	}
	leased, err = make1(wayHybrid, spec)
	return allow, deny, leased, err
}

// prepare uses up the keys that are to be denied.
func prepare(ctx context.Context, target stores.Target, scratch *stores.Scratch, spec limits.Spec) error {
	_, deny, _, err := limiters(target, scratch, spec)
	if err != nil {
		return err
	}
	return useUp(ctx, preparers, take(deny, true))
}

// useUp calls for every key once, so many at a time.
func useUp(ctx context.Context, workers int, call callFunc) error {
	var next atomic.Int64
	var done sync.WaitGroup
	failed := make([]error, workers)
	for worker := range workers {
		done.Go(func() {
			for i := next.Add(1) - 1; i < keyCount && failed[worker] == nil; i = next.Add(1) - 1 {
				_, failed[worker] = call(ctx, int(i))
			}
		})
	}
	done.Wait()
	for _, err := range failed {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("using up the keys that are to be denied: %w", err)
		}
	}
	return nil
}

// seen calls for every key that is used up once before anything is measured: a store may have to find out
// first that it is, by a dearer call. No more call at once than when it is measured.
func (s *setup) seen(ctx context.Context, callers int) error {
	i := slices.IndexFunc(s.ways, func(w way) bool { return w.name == wayDeny })
	return useUp(ctx, min(callers, preparers), s.ways[i].call)
}

// newSetup makes all ways to call a store.
func newSetup(ctx context.Context, target stores.Target, scratch *stores.Scratch, spec limits.Spec) (*setup, error) {
	s := &setup{}
	allowFloor, denyFloor, command, err := s.floors(ctx, target, scratch)
	if err != nil {
		return nil, err
	}
	allow, deny, leased, err := limiters(target, scratch, spec)
	if err != nil {
		return nil, err
	}
	fast, err := hybrid.New(leased)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, fast.Close)
	s.ways = append(s.ways,
		way{name: wayAllow, floor: allowFloor, command: command, call: take(allow, true)},
		way{name: wayDeny, floor: denyFloor, command: command, call: take(deny, false)},
		way{
			name: wayHybrid, keys: hotKeys, floor: allowFloor, command: command, call: take(fast, true),
			storeCalls: func() int64 { return fast.Stats().Calls },
		})
	return s, nil
}

// floors adds the ways that do without penstock, and says which of them the others are compared with.
func (s *setup) floors(ctx context.Context, target stores.Target, scratch *stores.Scratch) (allow, deny, command string, err error) {
	switch target := target.(type) {
	case *stores.Redis:
		s.meter = meter{target.Masters(ctx)}
		s.ways, err = redisFloors(ctx, target, scratch)
		return wayScript, wayScript, "evalsha", err
	case *stores.DynamoDB:
		s.ways = dynamoFloors(target, scratch)
		return wayUpdate, wayRead, "", nil
	}
	return "", "", "", nil
}

// take calls a limiter.
func take(l store.Limiter, allowed bool) callFunc {
	return func(ctx context.Context, key int) (bool, error) {
		d, err := l.Take(ctx, keys[key], 1)
		return d.Allowed == allowed, err
	}
}
