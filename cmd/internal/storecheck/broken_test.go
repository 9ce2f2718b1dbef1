//go:build unix

package storecheck

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/stores"
	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

var errStubborn = errors.New("no")

// broken is a target whose storages have a fault.
type broken struct {
	stores.Target
	fault func(store.Storage) store.Storage
}

// Storage returns one with the fault.
func (b broken) Storage() store.Storage { return b.fault(b.Target.Storage()) }

// AtClock returns one with the fault.
func (b broken) AtClock(ctx context.Context, c engine.Clock) (store.Storage, error) {
	s, err := b.Target.AtClock(ctx, c)
	if err != nil {
		return nil, err
	}
	return b.fault(s), nil
}

// Losing returns one with the fault.
func (b broken) Losing(ctx context.Context, loss *stores.Loss) (store.Storage, error) {
	s, err := b.Target.Losing(ctx, loss)
	if err != nil {
		return nil, err
	}
	return b.fault(s), nil
}

// faulty is a storage with faults. Those that are nil are none.
type faulty struct {
	store.Applier
	op     func(*store.Op)
	apply  func(ctx context.Context, next store.Applier, ops []store.Op, results []store.Result)
	result func(*store.Result)
	get    func(store.Reading) store.Reading
	swap   func(ctx context.Context, next store.Applier, key string, old, word uint64, ttl time.Duration) (store.Reading, bool, error)
}

// Apply has the faults of op, apply and result.
func (f faulty) Apply(ctx context.Context, ops []store.Op, results []store.Result) {
	for i := range ops {
		if f.op != nil {
			f.op(&ops[i])
		}
	}
	if f.apply != nil {
		f.apply(ctx, f.Applier, ops, results)
	} else {
		f.Applier.Apply(ctx, ops, results)
	}
	for i := range results {
		if f.result != nil {
			f.result(&results[i])
		}
	}
}

// Get has the fault of get.
func (f faulty) Get(ctx context.Context, key string) (store.Reading, error) {
	at, err := f.Applier.Get(ctx, key)
	if f.get != nil {
		at = f.get(at)
	}
	return at, err
}

// CompareAndSwap has the fault of swap.
func (f faulty) CompareAndSwap(ctx context.Context, key string, old, next uint64, ttl time.Duration) (store.Reading, bool, error) {
	if f.swap != nil {
		return f.swap(ctx, f.Applier, key, old, next, ttl)
	}
	return f.Applier.CompareAndSwap(ctx, key, old, next, ttl)
}

// memo lets a storage answer the first result of each key for ever.
func memo() func(context.Context, store.Applier, []store.Op, []store.Result) {
	var mu sync.Mutex
	seen := map[string]store.Result{}
	return func(ctx context.Context, next store.Applier, ops []store.Op, results []store.Result) {
		next.Apply(ctx, ops, results)
		mu.Lock()
		defer mu.Unlock()
		for i, op := range ops {
			if old, ok := seen[op.Key]; ok {
				results[i] = old
			}
			seen[op.Key] = results[i]
		}
	}
}

// Each fault is found by a check that is for it; where a store is right in all else, the others may pass.
func TestFaultsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		fault faulty
		found []string // the checks that must fail
	}{
		"numbers that are floats": {
			faulty{get: func(r store.Reading) store.Reading { r.Word = uint64(float64(r.Word)); return r }}, []string{"words"},
		},
		"a swap without a compare": {
			faulty{swap: func(ctx context.Context, next store.Applier, key string, _, word uint64, ttl time.Duration) (store.Reading, bool, error) {
				return store.Reading{}, true, next.Put(ctx, key, word, ttl)
			}}, []string{"words", "callers"},
		},
		"a key that stays": {
			faulty{get: func(r store.Reading) store.Reading { r.Word = max(r.Word, 1); return r }}, []string{"words", "expiry"},
		},
		"a permit too many": {
			faulty{op: func(op *store.Op) {
				if op.Max > 1 {
					op.Min, op.Max = op.Min-1, op.Max-1
				}
			}}, []string{"cases", "random", "own clock", "expiry"},
		},
		"one key for all": {
			faulty{op: func(op *store.Op) {
				if before, _, found := strings.Cut(op.Key, "~"); found {
					op.Key = before + op.Key[strings.LastIndexByte(op.Key, '}'):]
				}
			}}, []string{"cases", "random"},
		},
		"a clock that is late": {
			faulty{result: func(r *store.Result) { r.Now++ }}, []string{"cases", "random", "own clock"},
		},
		"an answer that is kept": {faulty{apply: memo()}, []string{"cases", "random", "own clock", "callers", "expiry"}},
		"an error for everything": {
			faulty{result: func(r *store.Result) { r.Err = errStubborn }}, []string{"cases", "random", "own clock", "callers", "expiry"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			target, address := reach(t, "memory://")
			fault := func(s store.Storage) store.Storage {
				f := c.fault
				f.Applier = s.(store.Applier) //nolint:errcheck // it is one
				return f
			}
			rep, err := Run(t.Context(), address.String(), broken{target, fault}, options(t))
			require.NoError(t, err)
			for _, check := range rep.Checks {
				for _, text := range check.Failures {
					assert.True(t, strings.HasPrefix(text, "FAIL "), text)
				}
				assert.Len(t, check.Failures, max(check.Failed, len(check.Failures)))
				for _, found := range c.found {
					if check.Name == found {
						assert.Positive(t, check.Failed, found)
					}
				}
			}
			assert.Positive(t, rep.Failed)
		})
	}
}

// again makes calls again that have failed, as clients do that are not told otherwise.
func again(ctx context.Context, next store.Applier, ops []store.Op, results []store.Result) {
	next.Apply(ctx, ops, results)
	if results[0].Err != nil {
		next.Apply(ctx, ops, results)
	}
}

// mild says of each error that nothing was charged.
func mild(r *store.Result) {
	if r.Err != nil {
		r.Err = store.ErrUnavailable
	}
}

func TestLostAnswersAreFound(t *testing.T) {
	addr := servertest.StartRedis(t).Addr
	target, address := reach(t, "redis://"+addr)
	for name, c := range map[string]struct {
		fault faulty
		says  string
	}{
		"made again":       {faulty{apply: again}, "a call whose answer was lost: allowed, error none"},
		"said to be known": {faulty{result: mild}, "a call whose answer was lost: allowed, error none; want store: no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			fault := func(s store.Storage) store.Storage {
				f := c.fault
				f.Applier = s.(store.Applier) //nolint:errcheck // it is one
				return f
			}
			rep, err := Run(t.Context(), address.String(), broken{target, fault}, Options{Orders: 1})
			require.NoError(t, err)
			last := rep.Checks[len(rep.Checks)-1]
			assert.Equal(t, "lost answers", last.Name)
			assert.Equal(t, 3, last.Failed)
			assert.Contains(t, last.Failures[0], c.says)
		})
	}
}
