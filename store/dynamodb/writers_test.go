package dynamodb_test

import (
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
	calls   = 20 // of each
	passing = 200
)

// TestWritersWasteNothing: 16 processes call at once for one key, 320 times in all, under a limit of 200.
// Exactly 200 pass, and no write is lost to a race: each process has one whose form it had to guess, before it had
// seen the key, and one that told it that the limit is used up; beyond that it may have met a key that just went
// over, which is counted as the refusal that it is.
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
	w, wrap := counted()
	client := dynamodbtest.Client(t, server.URL, wrap)
	table := dynamodbtest.Table(t, client)
	processes := make([]*store.Shared, writers)
	for i := range processes {
		processes[i] = on(t, server.OpenTable(t, client, table), limit, store.WithDeadline(10*time.Second))
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
	updates, failed := w.counts("UpdateItem")
	reads, _ := w.counts("GetItem")
	t.Logf("%d updates, of which %d failed, and %d reads, for %d passed and %d refused", updates, failed, reads, passing, writers*calls-passing)
	require.Equal(t, passing, updates-failed, "an update that passes is a call that passes")
	require.LessOrEqual(t, failed, 2*writers, "one guess of the form and one of the end of the limit, for each process")
	require.Zero(t, w.inconsistent, "reads that an emulator answers right and DynamoDB may not")
	for _, l := range processes {
		require.Zero(t, l.Stats().Mismatches)
	}
}
