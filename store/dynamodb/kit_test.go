package dynamodb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
	"github.com/penstock-go/penstock/store/hybrid"
	"github.com/penstock-go/penstock/store/storetest"
)

// emulators are the servers that the tests run on.
var emulators = map[string]func(testing.TB) *dynamodbtest.Server{
	"minidyn":  dynamodbtest.Minidyn,
	"dynalite": dynamodbtest.Dynalite,
}

// ways are the two ways to decide.
var ways = map[string]func(store.Storage) store.Storage{
	"apply": func(s store.Storage) store.Storage { return s },
	"swap":  store.WithoutApply,
}

// kit is that of a server: each storage has a table of its own.
func kit(server *dynamodbtest.Server, steps int) storetest.Kit {
	return storetest.Kit{
		Steps: steps,
		New: func(t *testing.T, clock engine.Clock) store.Storage {
			t.Helper()
			if clock == nil {
				return server.Open(t)
			}
			return server.Open(t, dynamodb.WithClock(clock), dynamodb.WithMaxSkew(dynamodb.AnySkew))
		},
	}
}

func TestConformance(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "minidyn" {
				t.Skip("not with -short: it takes the longest")
			}
			storetest.Run(t, kit(start(t), 40))
		})
	}
}

// TestHybridConformance: a hybrid that asks the store each time decides as the store does. Refusals are not kept in
// mind, for the kit steps clocks back.
func TestHybridConformance(t *testing.T) {
	k := kit(dynamodbtest.Minidyn(t), 40)
	var clock engine.Clock
	open := k.New
	k.New = func(t *testing.T, c engine.Clock) store.Storage {
		t.Helper()
		clock = c
		return open(t, c)
	}
	k.Wrap = func(tb testing.TB, l *store.Shared) store.Limiter {
		tb.Helper()
		opts := []hybrid.Option{hybrid.WithSlack(0), hybrid.WithNegativeCache(0)}
		if clock != nil {
			opts = append(opts, hybrid.WithClock(clock))
		}
		h, err := hybrid.New(l, opts...)
		require.NoError(tb, err)
		tb.Cleanup(func() { require.NoError(tb, h.Close()) })
		return h
	}
	storetest.Run(t, k)
}

// TestSlidingLogIsRefused: a limit that the store cannot enforce is an error when it is made, which says why
// and what to use.
func TestSlidingLogIsRefused(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			backend, err := store.NewBackend(start(t).Open(t))
			require.NoError(t, err)
			_, err = backend.Limiter("log", engine.SlidingLog(5, time.Minute))
			require.ErrorIs(t, err, store.ErrNotSupported)
			require.ErrorContains(t, err, "dynamodb: a sliding log keeps each admission")
			require.ErrorContains(t, err, "use a sliding window")
		})
	}
}
