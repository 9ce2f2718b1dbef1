package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/stretchr/testify/require"
)

func TestValidateNamesEverythingThatIsWrong(t *testing.T) {
	for _, c := range []struct {
		limit engine.Limit
		errs  []error
	}{
		{engine.TokenBucket(engine.Rate{-1, 0}, -1), []error{engine.ErrRate, engine.ErrBurst}},
		{engine.TokenBucket(engine.Rate{1, -time.Second}, 1), []error{engine.ErrRate}},
		{engine.GCRA(engine.PerSecond(math.MinInt64), 1), []error{engine.ErrRate}},
		{engine.SlidingLog(-1, 0), []error{engine.ErrWindow}},
		{engine.TokenBucket(engine.PerSecond(1), math.MaxInt64), []error{engine.ErrTooLarge}},
		{engine.TokenBucket(engine.Rate{math.MaxInt64, 1}, 1), []error{engine.ErrTooLarge}},
		{engine.Limit{}, []error{engine.ErrAlgorithm}},
	} {
		err := c.limit.Validate()
		for _, want := range c.errs {
			require.ErrorIs(t, err, want, c.limit.String())
		}
		_, err = engine.New[int](c.limit)
		require.ErrorIs(t, err, c.errs[0])
		require.Panics(t, func() { engine.Must[int](c.limit) })
		require.NotPanics(t, func() { _, _, _ = c.limit.Exact(), c.limit.Error(), c.limit.Effective() })
	}
	for _, l := range []engine.Limit{
		engine.Unlimited(), engine.Blocked(), engine.SlidingLog(0, 1), engine.TokenBucket(engine.Rate{0, 1}, 0),
		engine.TokenBucket(engine.Rate{math.MaxInt64, math.MaxInt64}, 1<<60),
	} {
		require.NoError(t, l.Validate(), l.String())
	}
}

func TestExactAndError(t *testing.T) {
	round := engine.TokenBucket(engine.PerSecond(65535), 65535)
	require.True(t, round.Exact())
	require.Zero(t, round.Error())
	require.Equal(t, engine.Rate{13107, 200_000_000}, round.Effective())
	odd := engine.GCRA(engine.Rate{1_000_000_007, time.Second}, 10)
	require.False(t, odd.Exact())
	require.Positive(t, odd.Error())
	require.Less(t, odd.Error(), 1e-6)
	require.NoError(t, odd.Validate())
	require.Equal(t, engine.Rate{5, time.Minute}, engine.SlidingLog(5, time.Minute).Effective())
}

func TestLimitsCompare(t *testing.T) {
	require.Equal(t, engine.TokenBucket(engine.PerSecond(1), 2), engine.TokenBucket(engine.Every(time.Second), 2))
	require.NotEqual(t, engine.TokenBucket(engine.PerSecond(1), 2), engine.GCRA(engine.PerSecond(1), 2))
}

func TestLimitText(t *testing.T) {
	require.Equal(t, "token_bucket 10/1s burst 20", engine.TokenBucket(engine.PerSecond(10), 20).String())
	require.Equal(t, "sliding_log 2/1m0s", engine.SlidingLog(2, time.Minute).String())
	require.Equal(t, "unlimited", engine.Unlimited().String())
	require.Equal(t, "invalid limit", engine.Limit{}.String())
	require.Equal(t, "10/1h0m0s", engine.PerHour(10).String())
	require.Equal(t, int64(math.MaxInt64), engine.Unlimited().Capacity())
	require.EqualValues(t, 20, engine.TokenBucket(engine.PerSecond(10), 20).Capacity())
	require.Equal(t, engine.AlgorithmGCRA, engine.GCRA(engine.PerSecond(10), 20).Algorithm())
}

func TestOptionsAreChecked(t *testing.T) {
	for _, opt := range []engine.Option{
		engine.WithMaxKeys(-1, engine.CapDeny), engine.WithMaxKeys(1, 9), engine.WithSweepInterval(0),
		engine.WithCoarseClock(0), engine.WithCoarseClock(time.Nanosecond),
	} {
		_, err := engine.New[int](engine.Unlimited(), opt)
		require.ErrorIs(t, err, engine.ErrOption)
	}
	_, err := engine.New[int](engine.Limit{}, engine.WithMaxKeys(-1, 9), engine.WithSweepInterval(-1))
	require.ErrorIs(t, err, engine.ErrAlgorithm)
	require.ErrorContains(t, err, "WithMaxKeys(-1)")
	require.ErrorContains(t, err, "policy 9")
	require.ErrorContains(t, err, "WithSweepInterval(-1ns)")
	_, err = engine.New[int](engine.Unlimited(), nil)
	require.NoError(t, err)
}
