package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
)

// limiter returns a limiter on a memory storage, by the two ways.
func limiter(t *testing.T, storage store.Storage, l engine.Limit, opts ...store.LimitOption) *store.Shared {
	t.Helper()
	backend, err := store.NewBackend(storage)
	require.NoError(t, err)
	shared, err := backend.Limiter("test", l, opts...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, shared.Close())
		require.NoError(t, backend.Close())
	})
	return shared
}

func TestTakeByBothWays(t *testing.T) {
	for name, hide := range map[string]func(store.Storage) store.Storage{
		"apply": func(s store.Storage) store.Storage { return s }, "swap": store.WithoutApply,
	} {
		t.Run(name, func(t *testing.T) {
			clock := enginetest.NewClock()
			clock.Set(1_700_000_000 * time.Second)
			l := limiter(t, hide(store.NewMemory(time.Microsecond, clock)), engine.TokenBucket(engine.PerSecond(10), 2))
			ctx := t.Context()
			for i := range 3 {
				d, err := l.Take(ctx, "alice", 1)
				require.NoError(t, err)
				require.Equal(t, store.SourceStore, d.Source)
				require.Equal(t, i < 2, d.Allowed)
				require.Equal(t, max(0, int64(1-i)), d.Remaining)
			}
			d, err := l.Peek(ctx, "alice")
			require.NoError(t, err)
			require.Equal(t, 100*time.Millisecond, d.RetryAfter)
			clock.Advance(100 * time.Millisecond)
			d, err = l.Take(ctx, "alice", 1)
			require.NoError(t, err)
			require.True(t, d.Allowed)
			require.NoError(t, l.Reset(ctx, "alice"))
			d, taken, err := l.TakeUpTo(ctx, "alice", 1, 5)
			require.NoError(t, err)
			require.Equal(t, int64(2), taken)
			require.True(t, d.Allowed)
		})
	}
}
