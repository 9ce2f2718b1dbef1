package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/engine"
)

// TestLawInTicks: the fraction of a rate, and the length of a window, in ticks.
func TestLawInTicks(t *testing.T) {
	rate := func(tokens int64, per time.Duration) engine.Rate { return engine.Rate{Tokens: tokens, Per: per} }
	for _, c := range []struct {
		rate       engine.Rate
		tick       time.Duration
		units, per int64 // L and W
	}{
		{rate(10, time.Second), time.Nanosecond, 1, 100_000_000},
		{rate(10, time.Second), time.Microsecond, 1, 100_000},
		{rate(10, time.Second), 30 * time.Millisecond, 3, 10},
		{rate(7, 1500*time.Nanosecond), time.Microsecond, 14, 3},
		{rate(3, 2*time.Nanosecond), time.Microsecond, 1500, 1},
		{rate(0, time.Second), time.Microsecond, 0, 1},
	} {
		for _, limit := range []engine.Limit{engine.TokenBucket(c.rate, 5), engine.LeakyQueue(c.rate, 5)} {
			for _, maxUnits := range []int64{0, 1 << 52} {
				law, err := limit.Law(c.tick, maxUnits)
				require.NoError(t, err)
				bucket, ok := law.(interface{ Rate() (int64, time.Duration) })
				require.True(t, ok)
				tokens, per := bucket.Rate()
				require.Equal(t, []int64{c.units, c.per}, []int64{tokens, int64(per)}, "%v in ticks of %v", limit, c.tick)
				require.Equal(t, int64(5), law.Capacity())
			}
		}
	}
	law, err := engine.SlidingWindow(5, time.Second).Law(time.Microsecond, 1)
	require.NoError(t, err)
	window, ok := law.(*atomicstate.SlidingWindow)
	require.True(t, ok)
	require.Equal(t, int64(1_000_000), window.Window())
	for _, none := range []engine.Limit{engine.Unlimited(), engine.Blocked(), engine.SlidingLog(5, time.Second)} {
		law, err := none.Law(time.Microsecond, 0)
		require.NoError(t, err)
		require.Nil(t, law)
	}
}

func TestLawErrors(t *testing.T) {
	for name, c := range map[string]struct {
		limit engine.Limit
		tick  time.Duration
		want  error
	}{
		"invalid limit":     {engine.FixedWindow(-1, time.Second), 1, engine.ErrWindow},
		"no tick":           {engine.TokenBucket(engine.PerSecond(1), 1), 0, engine.ErrRate},
		"part of a tick":    {engine.FixedWindow(1, time.Second+1), time.Microsecond, engine.ErrWindow},
		"too fast":          {engine.TokenBucket(engine.PerSecond(1<<26), 1), 10 * time.Second, engine.ErrTooLarge},
		"beyond an integer": {engine.TokenBucket(engine.Rate{Tokens: 1 << 53, Per: 1 << 30}, 1), time.Second, engine.ErrTooLarge},
	} {
		_, err := c.limit.Law(c.tick, 0)
		require.ErrorIs(t, err, c.want, name)
	}
}

// TestShare: n shares together are never more than the limit, as long as each is a permit.
func TestShare(t *testing.T) {
	rate := engine.PerSecond(10)
	for _, c := range []struct {
		limit engine.Limit
		n     int64
		want  engine.Limit
	}{
		{engine.TokenBucket(rate, 20), 4, engine.TokenBucket(engine.Rate{Tokens: 10, Per: 4 * time.Second}, 5)},
		{engine.LeakyQueue(rate, 7), 4, engine.LeakyQueue(engine.Rate{Tokens: 10, Per: 4 * time.Second}, 1)},
		{engine.GCRA(rate, 3), 4, engine.GCRA(engine.Rate{Tokens: 10, Per: 4 * time.Second}, 1)},
		{engine.LeakyBucket(rate, 0), 4, engine.LeakyBucket(engine.Rate{Tokens: 10, Per: 4 * time.Second}, 0)},
		{engine.FixedWindow(10, time.Second), 3, engine.FixedWindow(3, time.Second)},
		{engine.SlidingWindow(2, time.Second), 3, engine.SlidingWindow(1, time.Second)},
		{engine.SlidingLog(9, time.Second), 3, engine.SlidingLog(3, time.Second)},
		{engine.TokenBucket(rate, 20), 0, engine.TokenBucket(rate, 20)},
		{engine.TokenBucket(engine.Rate{Tokens: 10, Per: math.MaxInt64}, 20), 4, engine.TokenBucket(engine.Rate{Tokens: 2, Per: math.MaxInt64}, 5)},
		{engine.Unlimited(), 4, engine.Unlimited()},
		{engine.Blocked(), 4, engine.Blocked()},
	} {
		require.Equal(t, c.want, c.limit.Share(c.n), c.limit)
	}
}
