package fair_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/fair"
)

// TestErrorsAreTheEngines too, so that who uses both tests for one.
func TestErrorsAreTheEngines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fair.Must[string](engine.TokenBucket(engine.PerSecond(1), 2), fair.WithQueue(0, 0))
		require.NoError(t, l.Wait(t.Context(), "a", 2), "which need not wait")
		err := l.Wait(t.Context(), "a", 1)
		require.ErrorIs(t, err, fair.ErrQueueFull)
		require.ErrorIs(t, err, engine.ErrQueueFull)
		require.NotErrorIs(t, err, engine.ErrNever)
		err = l.Wait(t.Context(), "a", 3)
		require.ErrorIs(t, err, fair.ErrNever)
		require.ErrorIs(t, err, engine.ErrNever)
		require.NoError(t, l.Close())
		require.ErrorIs(t, l.Wait(t.Context(), "a", 1), engine.ErrClosed)
	})
}
