package store_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

// stressTime is how long a stress test runs: PENSTOCK_STRESS, or half a second.
func stressTime(t *testing.T) time.Duration {
	t.Helper()
	if s := os.Getenv("PENSTOCK_STRESS"); s != "" {
		d, err := time.ParseDuration(s)
		require.NoError(t, err, "PENSTOCK_STRESS must be a duration such as 60s")
		return d
	}
	return time.Second / 2
}

// TestStressBound: several processes, each with several callers that wait briefly, fight for two keys.
// No more is admitted than burst and rate allow from before the first call to after the last. And they
// did get into each other's way: races were lost, callers left early, and the limit was met.
func TestStressBound(t *testing.T) {
	const processes, callers, keys, burst, perSecond = 4, 5, 2, 20, 500
	memory := store.NewMemory(time.Nanosecond, nil)
	faulty := storetest.NewFaulty(store.WithoutApply(memory))
	faulty.SetBefore(func(_ context.Context, call storetest.Call, _ string) error {
		if call == storetest.CallSwap { // others are to come in between
			runtime.Gosched()
		}
		return nil
	})
	var limiters [processes]*store.Shared
	for i := range limiters {
		backend, err := store.NewBackend(faulty, store.WithDeadline(time.Minute)) // a busy machine is no failure
		require.NoError(t, err)
		limiters[i], err = backend.Limiter("stress", engine.TokenBucket(engine.PerSecond(perSecond), burst), store.WithPolicy(store.Closed))
		require.NoError(t, err)
	}
	var admitted [keys]atomic.Int64
	var left, denied atomic.Int64
	var running sync.WaitGroup
	began, lasts := time.Now(), stressTime(t)
	for i := range processes * callers {
		running.Go(func() {
			for call := i; time.Since(began) < lasts; call++ {
				ctx, cancel := t.Context(), func() {}
				if i < processes { // one of each
					ctx, cancel = context.WithTimeout(ctx, 50*time.Microsecond)
				}
				d, err := limiters[i%processes].Take(ctx, fmt.Sprint(call%keys), 1)
				cancel()
				switch {
				case err != nil:
					left.Add(1)
				case d.Allowed:
					admitted[call%keys].Add(1)
				default:
					denied.Add(1)
				}
			}
		})
	}
	running.Wait()
	most := burst + int64(time.Since(began))*perSecond/int64(time.Second)
	races := uint64(0)
	for _, l := range limiters {
		races += l.Stats().Retries
	}
	for i := range admitted {
		require.LessOrEqual(t, admitted[i].Load(), most)
	}
	t.Logf("%d and %d of %d admitted, %d denied, %d races lost, %d callers left early",
		admitted[0].Load(), admitted[1].Load(), most, denied.Load(), races, left.Load())
	require.Positive(t, races, "no race was provoked")
	require.Positive(t, left.Load(), "nobody left early")
	require.Positive(t, denied.Load(), "the limit was never met")
}
