//go:build unix

package redis

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// Decisions at chosen times are those of the law at these times; keys live by the server's clock; and the
// storage that it was made of stays open.
func TestAtClock(t *testing.T) {
	server := servertest.StartRedis(t)
	s, clock := byRueidis(t, nil, server.Addr), enginetest.NewClock()
	clock.Set(20_000 * 24 * time.Hour)
	at := s.AtClock(clock)
	require.Equal(t, s.Info(), at.Info())
	for _, limit := range []engine.Limit{
		engine.TokenBucket(engine.Rate{Tokens: 7, Per: 3 * time.Second}, 5), engine.FixedWindow(8, 5*time.Second), engine.SlidingWindow(20, time.Minute),
	} {
		l, model := limiter(t, at, limit, patient()), limiter(t, store.NewMemory(tick, clock), limit)
		rnd := rand.New(rand.NewPCG(1, uint64(limit.Capacity())))
		refused := 0
		for range 300 {
			clock.Advance(time.Duration(rnd.Int64N(int64(time.Second))))
			n := 1 + rnd.Int64N(4)
			want, err := model.Take(t.Context(), "key", n)
			require.NoError(t, err)
			got, err := l.Take(t.Context(), "key", n)
			require.NoError(t, err)
			require.Equal(t, want, got, limit.String())
			if !got.Allowed {
				refused++
			}
		}
		require.Positive(t, refused, limit.String())
		life := time.Duration(server.Integer(t, "PTTL", l.Key("key"))) * time.Millisecond
		require.Greater(t, life, 9*time.Minute)
		require.LessOrEqual(t, life, 10*time.Minute)
	}
	require.NoError(t, at.Close())
	_, err := s.Get(t.Context(), "key")
	require.NoError(t, err)
}
