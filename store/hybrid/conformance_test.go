package hybrid_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
	"github.com/penstock-go/penstock/store/storetest"
)

// forward is a monotonic clock beside one that may step back: steps back do not count.
type forward struct {
	mu         sync.Mutex
	clock      engine.Clock
	last, time time.Duration
}

func (f *forward) Now() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	f.time += max(0, now-f.last)
	f.last = now
	return f.time
}

// TestConformance: the kit of all stores, with a synchronous hybrid over the memory. Refusals are not
// kept in mind: the kit steps clocks back, after which they would stand up to DefaultNegativeCache too
// long.
func TestConformance(t *testing.T) {
	var clock engine.Clock
	storetest.Run(t, storetest.Kit{
		New: func(_ *testing.T, c engine.Clock) store.Storage {
			clock = c
			return store.NewMemory(time.Microsecond, c)
		},
		Wrap: func(tb testing.TB, l *store.Shared) store.Limiter {
			tb.Helper()
			opts := []hybrid.Option{hybrid.WithSlack(0), hybrid.WithNegativeCache(0)}
			if clock != nil {
				opts = append(opts, hybrid.WithClock(&forward{clock: clock}))
			}
			h, err := hybrid.New(l, opts...)
			require.NoError(tb, err)
			tb.Cleanup(func() { require.NoError(tb, h.Close()) })
			return h
		},
	})
}

// twinLimits are limits of every kind, of which some calls pass and some do not.
func twinLimits() []engine.Limit {
	return []engine.Limit{
		engine.TokenBucket(engine.PerSecond(10), 20),
		engine.GCRA(engine.Rate{Tokens: 7, Per: 3 * time.Second}, 5),
		engine.LeakyBucket(engine.PerMinute(50), 10),
		engine.LeakyQueue(engine.PerSecond(3), 8),
		engine.TokenBucket(engine.Rate{Tokens: 0, Per: time.Second}, 30),
		engine.FixedWindow(20, time.Second),
		engine.SlidingWindow(20, time.Second),
		engine.Unlimited(),
		engine.Blocked(),
	}
}

// TestSynchronousEqualsShared: without leases a hybrid makes the decisions of the limiter inside, call
// by call, refusals from memory included: these may only say of permits too few for the call that they
// have not come free yet, and round a wait up twice.
func TestSynchronousEqualsShared(t *testing.T) {
	for i, limit := range twinLimits() {
		t.Run(limit.String(), func(t *testing.T) { twins(t, limit, rand.New(rand.NewPCG(uint64(i), 3))) })
	}
}

func twins(t *testing.T, limit engine.Limit, rnd *rand.Rand) {
	t.Helper()
	clock := enginetest.NewClock()
	clock.Set(2811 * 7 * 24 * time.Hour)
	var twins [2]*store.Shared
	for i := range twins {
		backend, err := store.NewBackend(store.NewMemory(time.Microsecond, clock), patient)
		require.NoError(t, err)
		twins[i], err = backend.Limiter("twin", limit, store.WithPolicy(store.Closed))
		require.NoError(t, err)
	}
	h, err := hybrid.New(twins[1], hybrid.WithSlack(0), hybrid.WithClock(clock))
	require.NoError(t, err)
	defer h.Close()
	negative := 0
	for range 20_000 {
		clock.Advance(time.Duration(rnd.IntN(30)) * time.Millisecond)
		key, n := fmt.Sprint(rnd.IntN(5)), int64(rnd.IntN(5))-1
		want, err := twins[0].Take(t.Context(), key, n)
		require.NoError(t, err)
		var got store.Decision
		if rnd.IntN(4) == 0 {
			got = h.TakeBatch(t.Context(), []store.Request{{Key: key, N: n}})[0].Decision
		} else {
			got, err = h.Take(t.Context(), key, n)
			require.NoError(t, err)
		}
		if got.Source == store.SourceNegative {
			negative++
			require.False(t, want.Allowed)
			got.Source, got.Remaining = want.Source, want.Remaining // others may have come free meanwhile
			require.InDelta(t, want.RetryAfter, got.RetryAfter, 2000, "two ticks")
			require.GreaterOrEqual(t, got.RetryAfter, want.RetryAfter)
			got.RetryAfter = want.RetryAfter
		}
		require.Equal(t, want, got)
	}
	if limit.Capacity() > 0 && limit.Algorithm() != engine.AlgorithmUnlimited {
		require.Positive(t, negative, "no refusal came from memory")
	}
}
