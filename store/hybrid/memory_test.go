package hybrid_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
)

// TestBytesAKey: a key that is kept in mind takes 256 bytes at most, beside its string and its leases.
func TestBytesAKey(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory of its own")
	}
	const n = 50_000
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
	}
	backend, err := store.NewBackend(nothing{}, patient)
	require.NoError(t, err)
	shared, err := backend.Limiter("test", engine.TokenBucket(engine.PerHour(1000), 1000), store.WithPolicy(store.Closed))
	require.NoError(t, err)
	h, err := hybrid.New(shared, hybrid.WithClock(enginetest.NewClock())) // stands still, so that no key is idle
	require.NoError(t, err)
	before := heap()
	for _, key := range keys {
		_, err := h.Take(t.Context(), key, 1)
		require.NoError(t, err)
	}
	bytes := (heap() - before) / n
	require.Equal(t, n, h.Len())
	require.LessOrEqual(t, bytes, uint64(256))
	t.Logf("%d bytes a key", bytes)
	require.NoError(t, h.Close())
	runtime.KeepAlive(keys)
}

// nothing is a storage that keeps nothing.
type nothing struct{ store.Storage }

// Info describes a storage.
func (nothing) Info() store.Info { return store.Info{Name: "nothing", Tick: tick, SharedClock: true} }

// Get finds nothing.
func (nothing) Get(context.Context, string) (store.Reading, error) {
	return store.Reading{Now: int64(time.Hour)}, nil
}

// CompareAndSwap forgets what it is given.
func (nothing) CompareAndSwap(context.Context, string, uint64, uint64, time.Duration) (store.Reading, bool, error) {
	return store.Reading{}, true, nil
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
