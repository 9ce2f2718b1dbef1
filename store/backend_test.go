package store_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

// TestOptions: everything that is wrong is said at once, and how to put it right.
func TestOptions(t *testing.T) {
	_, err := store.NewBackend(nil)
	require.ErrorIs(t, err, store.ErrOption)
	memory := store.NewMemory(time.Microsecond, nil)
	_, err = store.NewBackend(memory, store.WithDeadline(0), store.WithPrefix("{x}"), store.WithBreaker(store.Breaker{Share: 2}), nil)
	require.ErrorIs(t, err, store.ErrOption)
	for _, text := range []string{"WithDeadline(0s): use a duration above 0", "WithPrefix(\"{x}\"): use no braces", "share of at most 1"} {
		require.ErrorContains(t, err, text)
	}
	_, err = store.NewBackend(store.NewMemory(0, nil))
	require.ErrorContains(t, err, "use 1ns to 1s")
	backend, err := store.NewBackend(memory)
	require.NoError(t, err)
	_, err = backend.Limiter("a:b", engine.TokenBucket(engine.PerSecond(-1), 1), store.WithPolicy(9), store.WithProcesses(0), nil)
	require.ErrorIs(t, err, engine.ErrRate)
	require.ErrorIs(t, err, store.ErrOption)
	for _, text := range []string{"without colons and braces", "WithPolicy(9)", "WithProcesses(0): use 1 or more"} {
		require.ErrorContains(t, err, text)
	}
	_, err = store.NewBackend(memory, store.WithBreaker(store.Breaker{Share: math.NaN()}))
	require.ErrorIs(t, err, store.ErrOption)
	_, err = store.NewBackend(memory, store.WithBreaker(store.Breaker{Pause: math.MaxInt64}))
	require.ErrorContains(t, err, "a pause of at most 24h")
	_, err = store.NewBackend(memory, store.WithPrefix(strings.Repeat("x", 101)))
	require.ErrorContains(t, err, "WithPrefix of 101 bytes: use up to 100")
	_, err = backend.Limiter(strings.Repeat("x", 101), engine.FixedWindow(1, time.Second))
	require.ErrorContains(t, err, "name has 101 bytes: use up to 100")
	_, err = backend.Limiter("log", engine.SlidingLog(5, time.Second))
	require.ErrorIs(t, err, store.ErrNotSupported)
}

// TestCallsThatNeedNoStore: what can never pass, and limits without a state.
func TestCallsThatNeedNoStore(t *testing.T) {
	faulty := storetest.NewFaulty(store.NewMemory(time.Microsecond, nil))
	faulty.SetBefore(fails(errReset))
	never := engine.Decision{Limit: 5, RetryAfter: engine.Never}
	for name, c := range map[string]struct {
		limit engine.Limit
		n     int64
		want  engine.Decision
	}{
		"negative":               {engine.TokenBucket(engine.PerSecond(1), 5), -1, never},
		"above the capacity":     {engine.TokenBucket(engine.PerSecond(1), 5), 6, never},
		"the largest":            {engine.FixedWindow(5, time.Second), math.MaxInt64, never},
		"unlimited":              {engine.Unlimited(), math.MaxInt64, engine.Decision{Allowed: true, Limit: math.MaxInt64, Remaining: math.MaxInt64}},
		"unlimited, negative":    {engine.Unlimited(), -1, engine.Decision{Limit: math.MaxInt64, RetryAfter: engine.Never}},
		"blocked":                {engine.Blocked(), 1, engine.Decision{RetryAfter: engine.Never}},
		"blocked, nothing asked": {engine.Blocked(), 0, engine.Decision{Allowed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			l := limiter(t, faulty, c.limit)
			d, err := l.Take(t.Context(), "key", c.n)
			require.NoError(t, err)
			require.Equal(t, store.Decision{Decision: c.want, Source: store.SourceFixed}, d)
			outcomes := l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: c.n}})
			require.Equal(t, []store.Outcome{{Decision: d}}, outcomes)
			require.Equal(t, uint64(2), l.Stats().Fixed)
		})
	}
	unlimited := limiter(t, faulty, engine.Unlimited())
	d, taken, err := unlimited.TakeUpTo(t.Context(), "key", 1, 7)
	require.NoError(t, err)
	require.True(t, d.Allowed)
	require.Equal(t, int64(7), taken)
	require.NoError(t, unlimited.Reset(t.Context(), "key"))
	require.Nil(t, unlimited.Law())
	_, _, err = unlimited.TakeUpTo(t.Context(), "key", 0, 7)
	require.ErrorIs(t, err, store.ErrOption)
}

// TestChangeOfALimit: windows of one length keep what was used, up and down; other limits begin anew.
func TestChangeOfALimit(t *testing.T) {
	remaining := func(storage store.Storage, l engine.Limit, n int64) int64 {
		d, err := limiter(t, storage, l).Take(t.Context(), "key", n)
		require.NoError(t, err)
		require.True(t, d.Allowed)
		return d.Remaining
	}
	for _, window := range []func(int64, time.Duration) engine.Limit{engine.FixedWindow, engine.SlidingWindow} {
		storage := store.NewMemory(time.Microsecond, nil)
		require.Equal(t, int64(3), remaining(storage, window(10, 365*24*time.Hour), 7))
		require.Equal(t, int64(0), remaining(storage, window(5, 365*24*time.Hour), 0))
		require.Equal(t, int64(13), remaining(storage, window(20, 365*24*time.Hour), 0))
	}
	storage := store.NewMemory(time.Microsecond, nil)
	require.Equal(t, int64(3), remaining(storage, engine.TokenBucket(engine.PerHour(1), 10), 7))
	require.Equal(t, int64(3), remaining(storage, engine.GCRA(engine.PerHour(1), 10), 0), "the same law by another name")
	require.Equal(t, int64(9), remaining(storage, engine.TokenBucket(engine.PerHour(1), 10+1), 2))
}

// TestClosedBackend: calls after Close follow their policy.
func TestClosedBackend(t *testing.T) {
	backend, err := store.NewBackend(store.NewMemory(time.Microsecond, nil))
	require.NoError(t, err)
	l, err := backend.Limiter("closed", engine.TokenBucket(engine.PerSecond(1), 1), store.WithPolicy(store.Closed))
	require.NoError(t, err)
	require.NoError(t, backend.Close())
	_, err = l.Take(t.Context(), "key", 1)
	require.ErrorIs(t, err, store.ErrClosed)
	require.ErrorIs(t, l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: 1}})[0].Err, store.ErrClosed)
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
}

// TestLocal: an engine's limiter behind the same interface.
func TestLocal(t *testing.T) {
	clock := enginetest.NewClock()
	inner := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 2), engine.WithClock(clock))
	t.Cleanup(func() { require.NoError(t, inner.Close()) })
	var l store.Limiter = store.NewLocal(inner)
	d, err := l.Take(t.Context(), "key", 1)
	require.NoError(t, err)
	require.Equal(t, store.SourceLocal, d.Source)
	outcomes := l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: 1}, {Key: "key", N: 1}})
	require.True(t, outcomes[0].Decision.Allowed)
	require.False(t, outcomes[1].Decision.Allowed)
	d, err = l.Peek(t.Context(), "key")
	require.NoError(t, err)
	require.Equal(t, time.Second, d.RetryAfter)
	require.NoError(t, l.Reset(t.Context(), "key"))
	d, err = l.Peek(t.Context(), "key")
	require.NoError(t, err)
	require.Equal(t, int64(2), d.Remaining)
	require.NoError(t, l.Close())
}

// TestMemoryForgets: a flood of keys that are not seen again does not stay.
func TestMemoryForgets(t *testing.T) {
	clock := enginetest.NewClock()
	clock.Set(1_700_000_000 * time.Second)
	memory := store.NewMemory(time.Microsecond, clock)
	l := limiter(t, memory, engine.TokenBucket(engine.PerSecond(100), 5))
	for i := range 20_000 {
		clock.Advance(time.Millisecond)
		_, err := l.Take(t.Context(), time.Duration(i).String(), 1)
		require.NoError(t, err)
	}
	require.Less(t, memory.Len(), 200, "10 at a time owe something")
}

// TestSources: each has a name.
func TestSources(t *testing.T) {
	seen := map[string]bool{}
	for s := store.SourceNone; s <= store.SourceFixed; s++ {
		require.False(t, seen[s.String()])
		seen[s.String()] = true
	}
	require.Equal(t, "negative", store.SourceNegative.String())
	require.Equal(t, "unknown", store.Source(99).String())
}

// TestLostRacesChargeNothing: an Applier that lost every race says so, and no more than that.
func TestLostRacesChargeNothing(t *testing.T) {
	faulty := storetest.NewFaulty(store.NewMemory(time.Microsecond, nil))
	faulty.SetBefore(fails(store.ErrContended))
	l := limiter(t, faulty, engine.TokenBucket(engine.PerSecond(1), 5), store.WithPolicy(store.Closed))
	_, err := l.Take(t.Context(), "key", 1)
	require.ErrorIs(t, err, store.ErrContended)
	require.NotErrorIs(t, err, store.ErrUnknownOutcome)
	require.Equal(t, uint64(1), l.Stats().Contended)
}
