package store_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
)

// skewed is a storage whose callers bring clocks of their own: this one's is ahead.
type skewed struct {
	store.Storage
	ahead  int64 // ticks
	shared bool
}

func (s skewed) Info() store.Info {
	info := s.Storage.Info()
	info.SharedClock = s.shared
	return info
}

func (s skewed) Get(ctx context.Context, key string) (store.Reading, error) {
	at, err := s.Storage.Get(ctx, key)
	at.Now += s.ahead
	return at, err
}

func (s skewed) CompareAndSwap(ctx context.Context, key string, old, next uint64, ttl time.Duration) (store.Reading, bool, error) {
	at, ok, err := s.Storage.CompareAndSwap(ctx, key, old, next, ttl)
	at.Now += s.ahead
	return at, ok, err
}

// admitted is how many permits two callers, one of them 2 s ahead, get in 100 s of a bucket of 1 a
// second and a burst of 10.
func admitted(t *testing.T, shared bool) (n int64) {
	t.Helper()
	clock := enginetest.NewClock()
	clock.Set(1_700_000_000 * time.Second)
	memory := store.WithoutApply(store.NewMemory(time.Millisecond, clock))
	limit := engine.TokenBucket(engine.PerSecond(1), 10)
	callers := []*store.Shared{
		limiter(t, skewed{memory, 0, shared}, limit), limiter(t, skewed{memory, 2000, shared}, limit),
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		clock.Advance(10 * time.Millisecond)
		d, err := callers[rnd.IntN(2)].Take(t.Context(), "key", 1)
		require.NoError(t, err)
		if d.Allowed {
			n++
		}
	}
	return n
}

// TestClocksApart: where each caller brings a clock of its own, what is admitted in all exceeds the
// bound by what is earned in their difference, once. Were words from the future brought back to the
// present, as they are where all share a clock, the callers would pull the word to and fro.
func TestClocksApart(t *testing.T) {
	const burst, earned, difference = 10, 100, 2
	require.LessOrEqual(t, admitted(t, false), int64(burst+earned+difference))
	require.Greater(t, admitted(t, true), int64(2*earned), "the rule for a shared clock does not hold here")
}

// TestStepBackIsWrittenOnRefusal: after a step back of the clock of 40 s a refused call brings the word
// to the present, so that the key earns again at once, a permit a second.
func TestStepBackIsWrittenOnRefusal(t *testing.T) {
	for name, hide := range map[string]func(store.Storage) store.Storage{
		"apply": func(s store.Storage) store.Storage { return s }, "swap": store.WithoutApply,
	} {
		t.Run(name, func(t *testing.T) {
			clock := enginetest.NewClock()
			clock.Set(1_700_000_000 * time.Second)
			l := limiter(t, hide(store.NewMemory(time.Microsecond, clock)), engine.TokenBucket(engine.PerSecond(1), 3))
			for range 3 {
				_, err := l.Take(t.Context(), "key", 1)
				require.NoError(t, err)
			}
			clock.Advance(-40 * time.Second)
			for i := range 5 {
				d, err := l.Take(t.Context(), "key", 1)
				require.NoError(t, err)
				require.Equal(t, i > 0, d.Allowed)
				clock.Advance(time.Second)
			}
			if name == "swap" {
				require.Equal(t, uint64(1), l.Stats().Settled)
			}
		})
	}
}

// TestForeignWordIsOverwritten: a value that is none of ours, without a time to live, blocks nobody
// for ever (scenario S01).
func TestForeignWordIsOverwritten(t *testing.T) {
	clock := enginetest.NewClock()
	clock.Set(1_700_000_000 * time.Second)
	memory := store.NewMemory(time.Microsecond, clock)
	l := limiter(t, store.WithoutApply(memory), engine.TokenBucket(engine.PerSecond(1), 3))
	require.NoError(t, memory.Put(t.Context(), l.Key("key"), 6, store.Forever))
	d, err := l.Take(t.Context(), "key", 3)
	require.NoError(t, err)
	require.True(t, d.Allowed)
	require.Equal(t, uint64(1), l.Stats().Foreign)
	clock.Advance(time.Minute)
	at, err := memory.Get(t.Context(), l.Key("key"))
	require.NoError(t, err)
	require.Zero(t, at.Word, "it has a time to live now")
}
