package hybrid_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
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

// TestStressConservation lets many goroutines take, batch, reset and sweep in real time, on keys whose leases
// live so short that they end while they are spent: what was handed out from leases is what the
// counters say, to the permit, and never more than was charged. It counts the permits of leases that
// were in use when they ended.
func TestStressConservation(t *testing.T) {
	const goroutines, keys = 16, 3
	faulty := storetest.NewFaulty(store.NewMemory(time.Microsecond, nil))
	var ops atomic.Int64
	faulty.SetAfter(func(context.Context, storetest.Call, string) error {
		if ops.Add(1)%17 == 0 {
			return errLost
		}
		return nil
	})
	backend, err := store.NewBackend(faulty, steady, patient)
	require.NoError(t, err)
	shared, err := backend.Limiter("race", engine.TokenBucket(engine.PerSecond(2_000_000), 2_000), store.WithPolicy(store.Closed))
	require.NoError(t, err)
	h, err := hybrid.New(shared, hybrid.WithSlack(1)) // 1 ms
	require.NoError(t, err)
	var leased atomic.Int64
	var done sync.WaitGroup
	began, lasts := time.Now(), stressTime(t)
	for g := range goroutines {
		done.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 5))
			for time.Since(began) < lasts {
				leased.Add(anyCall(t, h, rnd, fmt.Sprint(rnd.IntN(keys))))
			}
		})
	}
	done.Wait()
	s := h.Stats()
	require.LessOrEqual(t, s.Spent, s.Leased)
	require.NoError(t, h.Close())
	s = accounted(t, h)
	require.Equal(t, leased.Load(), s.Spent)
	require.Zero(t, s.Held)
	require.Positive(t, s.Spent)
	require.Positive(t, s.Wasted, "no lease ended while it was in use")
	t.Logf("%+v", s)
}

// anyCall makes some call and returns how many permits it got from a lease.
func anyCall(t *testing.T, h *hybrid.Limiter, rnd *rand.Rand, key string) (leased int64) {
	t.Helper()
	n := 1 + rnd.Int64N(3)
	switch r := rnd.IntN(1000); {
	case r == 0:
		_ = h.Reset(t.Context(), key) // its reply may be lost
	case r == 1:
		h.Sweep()
	case r == 2:
		if s := h.Stats(); s.Spent > s.Leased {
			t.Errorf("more was spent than charged: %+v", s)
		}
	case r < 50:
		requests := []store.Request{{Key: key, N: n}, {Key: key, N: 1}}
		for i, o := range h.TakeBatch(t.Context(), requests) {
			if o.Decision.Source == store.SourceLease {
				leased += requests[i].N
			}
		}
	}
	if d, _ := h.Take(t.Context(), key, n); d.Source == store.SourceLease && d.Allowed {
		leased += n
	}
	return leased
}

// TestStressTogether: whatever many processes hold and lose, in real time they never admit
// more together than the burst, what the time earns, and the slack.
func TestStressTogether(t *testing.T) {
	const rate, burst, processes = 20_000, 1_000, 4
	backend, err := store.NewBackend(store.NewMemory(time.Microsecond, nil), steady, patient)
	require.NoError(t, err)
	began, lasts := time.Now(), stressTime(t)
	var admitted, leased, refused atomic.Int64
	var done sync.WaitGroup
	for range processes {
		shared, err := backend.Limiter("race", engine.TokenBucket(engine.PerSecond(rate), burst), store.WithPolicy(store.Closed))
		require.NoError(t, err)
		h, err := hybrid.New(shared, hybrid.WithSlack(0.5))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, h.Close()) })
		for range 4 {
			done.Go(func() {
				for time.Since(began) < lasts {
					d, err := h.Take(t.Context(), "key", 1)
					switch {
					case err != nil:
						t.Errorf("the store is there: %v", err)
					case !d.Allowed:
						refused.Add(1)
					case d.Source == store.SourceLease:
						leased.Add(1)
						fallthrough
					default:
						admitted.Add(1)
					}
				}
			})
		}
	}
	done.Wait()
	elapsed := time.Since(began)
	require.LessOrEqual(t, float64(admitted.Load()), burst+rate*elapsed.Seconds())
	require.Positive(t, leased.Load(), "no lease was spent")
	require.Positive(t, refused.Load(), "the limit was not met")
}
