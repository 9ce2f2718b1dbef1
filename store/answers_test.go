package store_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

// liar is a storage that answers every op by one result.
type liar struct {
	*store.Memory
	result store.Result
}

func (l *liar) Apply(_ context.Context, _ []store.Op, results []store.Result) {
	for i := range results {
		results[i] = l.result
	}
}

// TestImpossibleAnswers of a storage are no decisions, neither yes nor no: what was charged is not known, and nothing was
// if the call only looked.
func TestImpossibleAnswers(t *testing.T) {
	impossible := []store.Result{
		{Taken: -1}, {Taken: math.MinInt64}, {Taken: 1}, {Taken: 3}, {Taken: math.MaxInt64}, {Before: store.State{Debt: -1}},
		{Before: store.State{Prev: -1}}, {Before: store.State{Curr: math.MinInt64}}, {Taken: 2, Before: store.State{Curr: -5}},
	}
	for _, limit := range []engine.Limit{engine.TokenBucket(engine.PerSecond(1), 5), engine.FixedWindow(5, time.Hour), engine.SlidingWindow(5, time.Hour)} {
		for _, result := range impossible {
			t.Run(fmt.Sprintf("%v/%+v", limit, result), func(t *testing.T) {
				l := limiter(t, &liar{store.NewMemory(time.Microsecond, nil), result}, limit, store.WithPolicy(store.Closed))
				d, err := l.Take(t.Context(), "key", 2)
				require.ErrorIs(t, err, store.ErrUnknownOutcome)
				require.NotErrorIs(t, err, store.ErrUnavailable)
				require.False(t, d.Allowed)
				require.Equal(t, store.SourceClosed, d.Source)
				o := l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: 2}})
				require.ErrorIs(t, o[0].Err, store.ErrUnknownOutcome)
				_, taken, err := l.TakeUpTo(t.Context(), "key", 2, 2)
				require.ErrorIs(t, err, store.ErrUnknownOutcome)
				require.Zero(t, taken)
				_, err = l.Peek(t.Context(), "key")
				require.ErrorIs(t, err, store.ErrUnavailable)
			})
		}
	}
}

// TestStoragePanicsInABatch: it reaches the caller, counts against the node, and blocks neither key nor node, also when
// the batch is the probe of a breaker.
func TestStoragePanicsInABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faulty := storetest.NewFaulty(store.NewMemory(time.Microsecond, nil))
		l := limiter(t, faulty, engine.TokenBucket(engine.PerHour(1), 25), store.WithPolicy(store.Closed))
		batch := func() []store.Outcome {
			return l.TakeBatch(t.Context(), []store.Request{{Key: "a", N: 1}, {Key: "b", N: 1}})
		}
		faulty.SetBefore(func(context.Context, storetest.Call, string) error { panic("broken") })
		for i := range 5 {
			require.Zero(t, l.Stats().OpenBreakers, "batch %d", i)
			require.PanicsWithValue(t, "broken", func() { batch() })
		}
		require.Equal(t, 1, l.Stats().OpenBreakers)
		time.Sleep(time.Second)
		require.PanicsWithValue(t, "broken", func() { batch() }, "the probe")
		faulty.SetBefore(nil)
		time.Sleep(time.Second)
		for _, o := range batch() {
			require.NoError(t, o.Err)
			require.True(t, o.Decision.Allowed)
		}
		require.Zero(t, l.Stats().OpenBreakers)
	})
}
