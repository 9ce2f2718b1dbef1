package lineartest

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

func TestMemory(t *testing.T) {
	Run(t, storetest.Kit{New: func(_ *testing.T, clock engine.Clock) store.Storage {
		return store.NewMemory(time.Microsecond, clock)
	}})
}

// torn is a storage whose CompareAndSwap is a Get and a Put.
type torn struct{ store.Storage }

func (s torn) CompareAndSwap(ctx context.Context, key string, old, next uint64, ttl time.Duration) (store.Reading, bool, error) {
	at, err := s.Get(ctx, key)
	if err != nil || at.Word != old {
		return at, false, err
	}
	runtime.Gosched()
	return at, true, s.Put(ctx, key, next, ttl)
}

// stale is a storage that reads from a replica: what it read last, half of the time.
type stale struct {
	store.Storage
	mu   *sync.Mutex
	last map[string]store.Reading
	n    *int
}

func (s stale) Get(ctx context.Context, key string) (store.Reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *s.n++; *s.n%2 == 0 {
		if at, ok := s.last[key]; ok {
			return at, nil
		}
	}
	at, err := s.Storage.Get(ctx, key)
	s.last[key] = at
	return at, err
}

// TestBrokenStoresAreFound: the check must be able to fail.
func TestBrokenStoresAreFound(t *testing.T) {
	memory := func() store.Storage { return store.WithoutApply(store.NewMemory(time.Microsecond, nil)) }
	for name, broken := range map[string]func() store.Storage{
		"torn swap":   func() store.Storage { return torn{memory()} },
		"stale reads": func() store.Storage { return stale{memory(), new(sync.Mutex), map[string]store.Reading{}, new(int)} },
	} {
		t.Run(name, func(t *testing.T) {
			for _, faults := range []bool{false, true} {
				found := false
				for seed := range uint64(20) {
					err := words(t.Context(), broken(), seed, faults)
					if found = err != nil; found {
						require.ErrorIs(t, err, errNotLinear)
						break
					}
				}
				require.True(t, found, "faults %t", faults)
			}
		})
	}
	t.Run("decisions on a torn swap", func(t *testing.T) {
		found := false
		for seed := uint64(0); seed < 40 && !found; seed++ {
			found = decisions(t.Context(), torn{memory()}, seed, false) != nil
		}
		require.True(t, found)
	})
}

// TestSteps: what each operation may answer, by hand.
func TestSteps(t *testing.T) {
	swap := wordCall{call: storetest.CallSwap, old: 1, next: 2}
	require.Equal(t, []any{uint64(2)}, wordStep(1, swap, wordAnswer{ok: true, known: true}))
	require.Empty(t, wordStep(3, swap, wordAnswer{ok: true, known: true}))
	require.Empty(t, wordStep(1, swap, wordAnswer{word: 1, known: true}))
	require.Empty(t, wordStep(3, swap, wordAnswer{word: 4, known: true}))
	require.Equal(t, []any{uint64(3)}, wordStep(3, swap, wordAnswer{word: 3, known: true}))
	require.Equal(t, []any{uint64(1), uint64(2)}, wordStep(1, swap, wordAnswer{}))
	require.Equal(t, []any{int64(40)}, limitStep(38, limitCall{kind: take, n: 2}, limitAnswer{2, 0, true}))
	require.Empty(t, limitStep(39, limitCall{kind: take, n: 2}, limitAnswer{2, 0, true}))
	require.Equal(t, []any{int64(40)}, limitStep(39, limitCall{kind: some, n: 2}, limitAnswer{1, 0, true}))
	require.Equal(t, []any{int64(39)}, limitStep(39, limitCall{kind: peek, n: 2}, limitAnswer{0, 1, true}))
	require.Equal(t, []any{int64(5), int64(0)}, limitStep(5, limitCall{kind: reset}, limitAnswer{}))
}
