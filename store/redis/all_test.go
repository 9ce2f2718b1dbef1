//go:build unix

package redis

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// several are limits of every kind on one backend.
func several(t *testing.T, s *Storage, limits map[string]engine.Limit, names ...string) (*All, []*store.Shared) {
	t.Helper()
	backend, err := store.NewBackend(s, patient())
	require.NoError(t, err)
	var limiters []*store.Shared
	for _, name := range names {
		l, err := backend.Limiter(name, limits[name], store.WithPolicy(store.Closed))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		limiters = append(limiters, l)
	}
	all, err := NewAll(limiters...)
	require.NoError(t, err)
	return all, limiters
}

// TestAllEqualsEngine compares random calls under four limits with the engine's, which judges several
// limits too.
func TestAllEqualsEngine(t *testing.T) {
	server, clock := servertest.StartRedis(t), enginetest.NewClock()
	limits := map[string]engine.Limit{
		"a": engine.TokenBucket(engine.Rate{Tokens: 7, Per: 3 * time.Second}, 12), "b": engine.FixedWindow(20, 5*time.Second),
		"c": engine.SlidingWindow(30, 10*time.Second), "d": engine.LeakyQueue(engine.PerSecond(4), 9),
	}
	const begin = 1_796_000_000 * time.Second // a multiple of both windows
	clock.Set(begin)
	all, _ := several(t, byRueidis(t, nil, server.Addr).withClock(clock), limits, "a", "b", "c", "d")
	model, err := engine.New[string](limits["a"], engine.WithClock(clock), engine.WithAlso(limits["b"], limits["c"], limits["d"]))
	require.NoError(t, err)
	defer model.Close()
	rnd, allowed := rand.New(rand.NewPCG(1, 1)), 0
	for i := range 5000 {
		clock.Advance(time.Duration(rnd.IntN(400_000)) * time.Microsecond)
		key, n := []string{"x", "y"}[rnd.IntN(2)], rnd.Int64N(8)
		want := model.Take(key, n)
		got, err := all.Take(t.Context(), key, n)
		require.NoError(t, err)
		require.Equal(t, want.Allowed, got.Allowed, "call %d of %d", i, n)
		if n > 0 { // of equally strict limits any may be named
			require.Equal(t, rounded(want.RetryAfter), got.RetryAfter, "call %d of %d", i, n)
			require.Equal(t, rounded(want.Delay), got.Delay, "call %d of %d", i, n)
		}
		if got.Allowed && n > 0 {
			require.Equal(t, want.Remaining, got.Remaining)
			allowed++
		}
	}
	require.Greater(t, allowed, 500)
}

// rounded returns a wait in whole ticks.
func rounded(d time.Duration) time.Duration {
	if d == engine.Never {
		return d
	}
	return (d + tick - 1).Truncate(tick)
}

func TestAllAtOnce(t *testing.T) { allAtOnce(t, alone(t)) }

// allAtOnce lets callers race for a key with two limits: neither is charged for what the other refuses.
func allAtOnce(t *testing.T, p *place) {
	t.Helper()
	for name, connect := range libraries {
		t.Run(name, func(t *testing.T) {
			p.flush(t)
			limits := map[string]engine.Limit{"few": only(25), "many": engine.FixedWindow(40, 365*aDay)}
			all, limiters := several(t, connect(t, nil, p.addrs...), limits, "few", "many")
			var allowed atomic.Int64
			var done sync.WaitGroup
			for range 50 {
				done.Go(func() {
					d, err := all.Take(t.Context(), "key", 1)
					if err != nil {
						t.Error(err)
					}
					if d.Allowed {
						allowed.Add(1)
					}
				})
			}
			done.Wait()
			require.EqualValues(t, 25, allowed.Load())
			d, err := limiters[1].Peek(t.Context(), "key")
			require.NoError(t, err)
			require.EqualValues(t, 15, d.Remaining)
		})
	}
}

func TestAllRefuses(t *testing.T) {
	server := servertest.StartRedis(t)
	s := byRueidis(t, nil, server.Addr)
	all, limiters := several(t, s, map[string]engine.Limit{"a": only(5), "b": engine.Unlimited(), "c": engine.Blocked()}, "a", "b")
	d, err := all.Take(t.Context(), "key", 6)
	require.NoError(t, err)
	require.False(t, d.Allowed)
	require.Equal(t, engine.Never, d.RetryAfter)
	d, err = all.Take(t.Context(), "key", 2)
	require.NoError(t, err)
	require.True(t, d.Allowed)
	require.EqualValues(t, 3, d.Remaining)
	require.Equal(t, 0, d.Rule)
	_, err = NewAll()
	require.ErrorIs(t, err, store.ErrOption)
	_, err = NewAll(limiters[0], limiters[0])
	require.ErrorContains(t, err, "names of their own")
	_, err = NewAll(limiters[0], limiter(t, s, only(5)))
	require.ErrorContains(t, err, "several backends")
	_, err = NewAll(limiter(t, store.NewMemory(tick, nil), only(5)))
	require.ErrorContains(t, err, "store.Memory")
	backend, err := store.NewBackend(s)
	require.NoError(t, err)
	huge, err := backend.Limiter("huge", engine.FixedWindow(1<<53, 24*time.Hour))
	require.NoError(t, err)
	defer huge.Close()
	_, err = NewAll(huge)
	require.ErrorIs(t, err, store.ErrNotSupported)
}

// TestAllAway: when the store is away each limit follows its policy.
func TestAllAway(t *testing.T) {
	server := servertest.StartRedis(t)
	s := byRueidis(t, nil, server.Addr)
	backend, err := store.NewBackend(s)
	require.NoError(t, err)
	open, err := backend.Limiter("open", only(5), store.WithPolicy(store.Open))
	require.NoError(t, err)
	local, err := backend.Limiter("local", only(3), store.WithPolicy(store.LocalShare))
	require.NoError(t, err)
	defer local.Close()
	closed, err := backend.Limiter("closed", only(5), store.WithPolicy(store.Closed))
	require.NoError(t, err)
	server.Kill()
	soft, err := NewAll(open, local)
	require.NoError(t, err)
	for i := range 5 {
		d, err := soft.Take(t.Context(), "key", 1)
		require.NoError(t, err)
		require.Equal(t, i < 3, d.Allowed)
		require.Error(t, d.Cause)
	}
	hard, err := NewAll(open, closed)
	require.NoError(t, err)
	d, err := hard.Take(t.Context(), "key", 1)
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.False(t, d.Allowed)
}
