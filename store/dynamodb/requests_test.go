package dynamodb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// TestRequestsOfACall counts what each call costs: an allowed one is an update, with a failed one before it only
// where the form had to be guessed; one that is refused by what was last seen is a read.
func TestRequestsOfACall(t *testing.T) {
	for name, limit := range map[string]engine.Limit{
		"token bucket": engine.TokenBucket(engine.PerHour(5), 5), "fixed window": engine.FixedWindow(5, time.Hour),
		"sliding window": engine.SlidingWindow(5, time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			server := dynamodbtest.Minidyn(t)
			w, wrap := counted()
			client := dynamodbtest.Client(t, server.URL, wrap)
			table := dynamodbtest.Table(t, client)
			clock := enginetest.NewClock()
			clock.Set(time.Duration(time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC).UnixNano()))
			open := func() *store.Shared {
				return on(t, server.OpenTable(t, client, table, fakeTime(clock)...), limit, store.WithDeadline(patient))
			}
			costs := func(what string, call func() (store.Decision, error), allowed bool, updates, failed, reads int) {
				t.Helper()
				sent, lost := w.counts("UpdateItem")
				read, _ := w.counts("GetItem")
				d, err := call()
				require.NoError(t, err)
				require.Equal(t, allowed, d.Allowed, what)
				sentNow, lostNow := w.counts("UpdateItem")
				readNow, _ := w.counts("GetItem")
				require.Equal(t, [3]int{updates, failed, reads}, [3]int{sentNow - sent, lostNow - lost, readNow - read}, what)
			}
			take := func(l *store.Shared, n int64) func() (store.Decision, error) {
				return func() (store.Decision, error) { return l.Take(t.Context(), "key", n) }
			}
			a, b, c := open(), open(), open()
			costs("a new key", take(a, 1), true, 1, 0, 0)
			costs("a key in use", take(a, 1), true, 1, 0, 0)
			costs("first seen in use", take(b, 1), true, 2, 1, 0)
			costs("seen in use", take(b, 1), true, 1, 0, 0)
			costs("a look", func() (store.Decision, error) { return c.Peek(t.Context(), "key") }, true, 0, 0, 1)
			costs("after a look", take(c, 1), true, 1, 0, 0)
			costs("used up", take(c, 1), false, 0, 0, 1)
			costs("used up, seen before that", take(b, 1), false, 1, 1, 0)
			costs("used up, seen so", take(b, 1), false, 0, 0, 1)
			clock.Advance(3 * time.Hour)
			costs("as new again", take(b, 1), true, 1, 0, 0)
			costs("more than is left", take(b, 5), false, 0, 0, 1)
		})
	}
}

// TestWhatWasSeenIsOld: another process resets the key and charges less; what the first one has seen decides nothing,
// neither in the same window or bucket nor in the next window.
func TestWhatWasSeenIsOld(t *testing.T) {
	for name, c := range map[string]struct {
		limit engine.Limit
		later time.Duration
		want  int64
	}{
		"token bucket":            {engine.TokenBucket(engine.PerHour(1), 20), 0, 17},
		"fixed window":            {engine.FixedWindow(20, time.Hour), 0, 17},
		"sliding window":          {engine.SlidingWindow(20, time.Hour), 0, 17},
		"the next sliding window": {engine.SlidingWindow(20, time.Hour), 90 * time.Minute, 18}, // half of 3 weighs 2
	} {
		t.Run(name, func(t *testing.T) {
			server := dynamodbtest.Minidyn(t)
			client := dynamodbtest.Client(t, server.URL)
			table := dynamodbtest.Table(t, client)
			clock := enginetest.NewClock()
			clock.Set(time.Duration(time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC).UnixNano()))
			var l [2]*store.Shared
			for i := range l {
				l[i] = on(t, server.OpenTable(t, client, table, fakeTime(clock)...), c.limit, store.WithDeadline(patient))
			}
			_, err := l[0].Take(t.Context(), "key", 10)
			require.NoError(t, err)
			require.NoError(t, l[1].Reset(t.Context(), "key"))
			_, err = l[1].Take(t.Context(), "key", 3)
			require.NoError(t, err)
			clock.Advance(c.later)
			d, taken, err := l[0].TakeUpTo(t.Context(), "key", 1, 20)
			require.NoError(t, err)
			require.Equal(t, c.want, taken)
			require.Zero(t, d.Remaining)
			require.Zero(t, l[0].Stats().Mismatches)
		})
	}
}
