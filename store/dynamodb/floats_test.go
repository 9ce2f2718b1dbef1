package dynamodb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// TestCountsThatNoFloatHolds: a window counts on to the last permit where the server computes in floats too.
func TestCountsThatNoFloatHolds(t *testing.T) {
	const limit = int64(1)<<54 + 3
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			client := dynamodbtest.Client(t, server.URL)
			l := on(t, server.OpenTable(t, client, dynamodbtest.Table(t, client)), engine.FixedWindow(limit, 365*24*time.Hour), store.WithDeadline(patient))
			_, err := l.Take(t.Context(), "key", limit-3)
			require.NoError(t, err)
			for i := range 5 {
				d, err := l.Take(t.Context(), "key", 1)
				require.NoError(t, err)
				require.Equal(t, i < 3, d.Allowed, "permit %d of 3", i+1)
			}
			require.Zero(t, l.Stats().Mismatches)
		})
	}
}
