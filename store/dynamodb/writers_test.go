package dynamodb_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

const (
	writers = 16
	calls   = 20  // of each
	passing = 200 // calls under the limit
)

// TestWritersWasteNothing: 16 processes call at once for one key, 320 times in all, under a limit of 200.
// Exactly 200 pass, and no write is lost to a race. Of each process the updates are, in their order: one whose form
// it had to guess, before it had seen the key, and which passes in the first process only; those that pass; and at most one that
// told it that the limit is used up, after which it sends none any more. Who took the last permit knows without.
func TestWritersWasteNothing(t *testing.T) {
	for name, limit := range map[string]engine.Limit{
		"token bucket":   engine.TokenBucket(engine.Rate{Tokens: 1, Per: 24 * time.Hour}, passing),
		"fixed window":   engine.FixedWindow(passing, 365*24*time.Hour),
		"sliding window": engine.SlidingWindow(passing, 365*24*time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			for name, start := range emulators {
				t.Run(name, func(t *testing.T) { wasteNothing(t, start(t), limit) })
			}
		})
	}
}

func wasteNothing(t *testing.T, server *dynamodbtest.Server, limit engine.Limit) {
	t.Helper()
	table := dynamodbtest.Table(t, dynamodbtest.Client(t, server.URL))
	processes, wires := make([]*store.Shared, writers), make([]*wire, writers)
	for i := range processes {
		w, wrap := counted()
		client := dynamodbtest.Client(t, server.URL, wrap)
		processes[i], wires[i] = on(t, server.OpenTable(t, client, table), limit, store.WithDeadline(10*time.Second)), w
	}
	var allowed, denied atomic.Int64
	var done sync.WaitGroup
	start := make(chan struct{})
	for _, l := range processes {
		done.Go(func() {
			<-start
			for range calls {
				d, err := l.Take(t.Context(), "hot", 1)
				switch {
				case err != nil:
					t.Error(err)
				case d.Allowed:
					allowed.Add(1)
				default:
					denied.Add(1)
				}
			}
		})
	}
	close(start)
	done.Wait()
	require.Equal(t, int64(passing), allowed.Load())
	require.Equal(t, int64(writers*calls-passing), denied.Load())
	var updates []byte
	for i, w := range wires {
		require.Regexp(t, `^[gG]\+*-?$`, string(w.updates), "a guess, what passed, and the end of the limit")
		require.Zero(t, w.inconsistent, "reads that an emulator answers right and DynamoDB may not")
		require.Zero(t, processes[i].Stats().Mismatches)
		updates = append(updates, w.updates...)
	}
	count := func(outcome byte) int { return bytes.Count(updates, []byte{outcome}) }
	t.Logf("of %d updates %d were guesses that failed, and %d told that the limit is used up", len(updates), count(guessFailed), count(refused))
	require.Equal(t, passing, count(guessPassed)+count(passed), "an update that passes is a call that passes")
	require.Equal(t, 1, count(guessPassed), "one of the processes finds the key new")
	require.LessOrEqual(t, count(refused), writers-1, "one of the processes took the last permit")
}
