package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

var errReset = errors.New("connection reset")

// fails is a fault that always happens.
func fails(err error) storetest.Fault {
	return func(context.Context, storetest.Call, string) error { return err }
}

// hangs is a fault that lasts until the caller's time is up.
func hangs(ctx context.Context, _ storetest.Call, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

// way is a test of one way to decide: faulty is the storage, writes the operation that charges.
type way struct {
	*testing.T
	faulty *storetest.Faulty
	writes storetest.Call
}

// bothWays runs a test on a storage that decides by itself and on one that only swaps.
func bothWays(t *testing.T, test func(t *way)) {
	t.Helper()
	for name, writes := range map[string]storetest.Call{"apply": storetest.CallApply, "swap": storetest.CallSwap} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var storage store.Storage = store.NewMemory(time.Microsecond, nil)
				if writes == storetest.CallSwap {
					storage = store.WithoutApply(storage)
				}
				test(&way{t, storetest.NewFaulty(storage), writes})
			})
		})
	}
}

// TestPolicies: a store that does not answer, in three ways, under each policy: the answer says whose
// it is and why, comes within the deadline, and is no "limit exceeded" (scenario S10).
func TestPolicies(t *testing.T) {
	limit := engine.TokenBucket(engine.PerHour(8), 8)
	for name, fault := range map[string]storetest.Fault{
		"error":   fails(errReset),
		"refused": fails(fmt.Errorf("%w: connection refused", store.ErrUnavailable)),
		"hangs":   hangs,
	} {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *way) {
				t.faulty.SetBefore(fault)
				began := time.Now()

				closed := limiter(t.T, t.faulty, limit, store.WithPolicy(store.Closed))
				d, err := closed.Take(t.Context(), "key", 1)
				require.True(t, errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUnknownOutcome), err)
				require.Equal(t, store.Decision{Source: store.SourceClosed, Cause: err}, d)

				open := limiter(t.T, t.faulty, limit, store.WithPolicy(store.Open))
				d, err = open.Take(t.Context(), "key", 1)
				require.NoError(t, err)
				require.Error(t, d.Cause)
				require.Equal(t, engine.Decision{Allowed: true}, d.Decision, "no quota is invented")
				require.Equal(t, store.SourceOpen, d.Source)

				local := limiter(t.T, t.faulty, limit, store.WithProcesses(4))
				for i := range 3 {
					d, err = local.Take(t.Context(), "key", 1)
					require.NoError(t, err)
					require.Error(t, d.Cause)
					require.Equal(t, store.SourceLocal, d.Source)
					require.Equal(t, int64(2), d.Limit, "a quarter of the burst")
					require.Equal(t, i < 2, d.Allowed)
				}
				require.Equal(t, 30*time.Minute, d.RetryAfter.Round(time.Second), "a quarter of the rate")
				d, err = local.Take(t.Context(), "key", 5)
				require.NoError(t, err)
				require.Equal(t, 500*time.Millisecond, d.RetryAfter, "more than the share, not more than the limit")

				require.LessOrEqual(t, time.Since(began), 6*store.DefaultDeadline)
				require.Equal(t, uint64(1), closed.Stats().Closed)
				require.Equal(t, uint64(1), open.Stats().Open)
				require.Equal(t, uint64(4), local.Stats().Local)
				require.Equal(t, uint64(4), local.Stats().Unavailable+local.Stats().Unknown)

				t.faulty.SetBefore(nil)
				d, err = closed.Take(t.Context(), "key", 1)
				require.NoError(t, err)
				require.Equal(t, store.SourceStore, d.Source, "it comes back by itself")
			})
		})
	}
}

// TestNotExecutedIsMadeOnceMore, and only once.
func TestNotExecutedIsMadeOnceMore(t *testing.T) {
	bothWays(t, func(t *way) {
		refusals := 1
		t.faulty.SetBefore(func(_ context.Context, call storetest.Call, _ string) error {
			if call == t.writes && refusals > 0 {
				refusals--
				return fmt.Errorf("%w: loading", store.ErrUnavailable)
			}
			return nil
		})
		l := limiter(t.T, t.faulty, engine.TokenBucket(engine.PerHour(1), 5), store.WithPolicy(store.Closed))
		d, err := l.Take(t.Context(), "key", 1)
		require.NoError(t, err)
		require.Equal(t, int64(4), d.Remaining)
		refusals = 1
		outcome := l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: 1}})[0]
		require.NoError(t, outcome.Err)

		refusals = 2
		_, err = l.Take(t.Context(), "key", 1)
		require.ErrorIs(t, err, store.ErrUnavailable)
		refusals = 2
		require.ErrorIs(t, l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: 1}})[0].Err, store.ErrUnavailable)
		require.Equal(t, 2, t.faulty.Executed(t.writes))
	})
}

// TestUnknownIsNeverMadeAgain: a lost answer may have charged.
func TestUnknownIsNeverMadeAgain(t *testing.T) {
	bothWays(t, func(t *way) {
		t.faulty.SetAfter(func(_ context.Context, call storetest.Call, _ string) error {
			if call == t.writes {
				return errReset
			}
			return nil
		})
		l := limiter(t.T, t.faulty, engine.TokenBucket(engine.PerHour(1), 5), store.WithPolicy(store.Closed))
		_, err := l.Take(t.Context(), "key", 1)
		require.ErrorIs(t, err, store.ErrUnknownOutcome)
		require.ErrorIs(t, err, errReset)
		require.NotErrorIs(t, err, store.ErrUnavailable)
		require.Equal(t, 1, t.faulty.Executed(t.writes))
		require.ErrorIs(t, l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: 1}})[0].Err, store.ErrUnknownOutcome)
		require.Equal(t, 2, t.faulty.Executed(t.writes))
		require.Equal(t, uint64(2), l.Stats().Unknown)
		t.faulty.SetAfter(nil)
		d, err := l.Peek(t.Context(), "key")
		require.NoError(t, err)
		require.Equal(t, int64(3), d.Remaining, "both were charged")
	})
}

// TestThrottledKey: a key that the store takes no calls for is not asked again, and opens no breaker.
func TestThrottledKey(t *testing.T) {
	bothWays(t, func(t *way) {
		asked := 0
		t.faulty.SetBefore(func(context.Context, storetest.Call, string) error {
			asked++
			return fmt.Errorf("%w: hot partition", store.ErrThrottled)
		})
		l := limiter(t.T, t.faulty, engine.TokenBucket(engine.PerHour(1), 5), store.WithPolicy(store.Closed))
		for range 30 {
			_, err := l.Take(t.Context(), "key", 1)
			require.ErrorIs(t, err, store.ErrThrottled)
			require.ErrorIs(t, err, store.ErrUnavailable)
		}
		require.Equal(t, 30, asked)
		require.Zero(t, l.Stats().OpenBreakers)
	})
}

// TestStoreFreezes: 64 callers with 20 ms each while the store hangs for a second. Nobody waits longer
// than that, the breaker opens after some and spares the rest, and it closes by itself; one line each.
func TestStoreFreezes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faulty := storetest.NewFaulty(store.NewMemory(time.Microsecond, nil))
		var lines bytes.Buffer
		backend, err := store.NewBackend(faulty, store.WithLogger(slog.New(slog.NewTextHandler(&lines, nil))))
		require.NoError(t, err)
		l, err := backend.Limiter("frozen", engine.TokenBucket(engine.PerSecond(1000), 1000), store.WithProcesses(2))
		require.NoError(t, err)
		defer l.Close()
		faulty.SetBefore(hangs)
		finished := make(chan store.Source)
		rounds := func(n int) (bySource map[store.Source]int) {
			bySource = map[store.Source]int{}
			for range n {
				for i := range 64 {
					go func() {
						ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
						defer cancel()
						began := time.Now()
						d, err := l.Take(ctx, fmt.Sprint(i), 1)
						if err != nil || time.Since(began) > 20*time.Millisecond {
							t.Errorf("caller %d: %v after %v", i, err, time.Since(began))
						}
						finished <- d.Source
					}()
				}
				for range 64 {
					bySource[<-finished]++
				}
				time.Sleep(20 * time.Millisecond)
			}
			return bySource
		}
		frozen := rounds(25)
		require.Equal(t, 25*64, frozen[store.SourceLocal])
		require.Zero(t, faulty.Executed(storetest.CallApply))
		faulty.SetBefore(nil)
		time.Sleep(time.Second)
		require.Positive(t, rounds(1)[store.SourceStore], "the probe, and those after it")
		require.Equal(t, 64, rounds(1)[store.SourceStore])
		require.Equal(t, 2, strings.Count(lines.String(), "\n"), lines.String())
	})
}

// TestCallerLeaves: who leaves gets an error and no policy, and the store is not blamed.
func TestCallerLeaves(t *testing.T) {
	bothWays(t, func(t *way) {
		l := limiter(t.T, t.faulty, engine.TokenBucket(engine.PerHour(1), 5), store.WithPolicy(store.Open))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for _, take := range []func() error{
			func() error { _, err := l.Take(gone, "key", 1); return err },
			func() error { _, err := l.Peek(gone, "key"); return err },
			func() error { return l.TakeBatch(gone, []store.Request{{Key: "key", N: 1}})[0].Err },
			func() error { return l.Reset(gone, "key") },
		} {
			err := take()
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, store.ErrUnavailable)
		}
		require.Zero(t, t.faulty.Executed(storetest.CallApply)+t.faulty.Executed(storetest.CallGet))
		_, _, err := l.TakeUpTo(gone, "key", 1, 2)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, store.Stats{Left: 4}, l.Stats())
		t.faulty.SetBefore(hangs)
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(store.DefaultDeadline-1, cancel)
			d, err := l.Take(ctx, "key", 1)
			require.ErrorIs(t, err, context.Canceled)
			require.False(t, d.Allowed)
		}
		require.Equal(t, store.Stats{Left: 24}, l.Stats())
	})
}

// TestCallerHurries: a caller whose own deadline gives the store less than a quarter of its time follows the policy,
// and the store is not blamed, by its breaker or by the counts; from a quarter on it is.
func TestCallerHurries(t *testing.T) {
	bothWays(t, func(t *way) {
		t.faulty.SetBefore(hangs)
		l := limiter(t.T, t.faulty, engine.TokenBucket(engine.PerHour(1), 5), store.WithPolicy(store.Open))
		hurry := func(time time.Duration, take func(context.Context) (store.Decision, error)) {
			ctx, cancel := context.WithTimeout(t.Context(), time)
			defer cancel()
			d, err := take(ctx)
			require.NoError(t, err)
			require.Equal(t, store.SourceOpen, d.Source)
			require.ErrorIs(t, d.Cause, context.DeadlineExceeded)
		}
		one := func(ctx context.Context) (store.Decision, error) { return l.Take(ctx, "key", 1) }
		batch := func(ctx context.Context) (store.Decision, error) {
			o := l.TakeBatch(ctx, []store.Request{{Key: "key", N: 1}})[0]
			return o.Decision, o.Err
		}
		const short = store.DefaultDeadline/4 - 1
		for range 10 {
			hurry(short, one)
			hurry(short, batch)
		}
		require.Equal(t, store.Stats{Open: 20, Left: 20}, l.Stats())
		for range 2 {
			hurry(short+1, one)
			hurry(short+1, batch)
		}
		hurry(store.DefaultDeadline, one)
		stats := l.Stats()
		require.Equal(t, uint64(5), stats.Unavailable+stats.Unknown)
		require.Equal(t, uint64(20), stats.Left)
		require.Equal(t, 1, stats.OpenBreakers)
	})
}

// TestBatchOfASlowStore: a store that hangs takes all the time that a caller has, whether it gets the calls of a batch at
// once or in turn. Each of them follows the policy, and none waits longer; who leaves gets errors.
func TestBatchOfASlowStore(t *testing.T) {
	bothWays(t, func(t *way) {
		t.faulty.SetBefore(hangs)
		requests := []store.Request{{Key: "a", N: 1}, {Key: "b", N: 1}, {Key: "a", N: 1}, {Key: "c", N: 0}, {Key: "d", N: 9}}
		l := limiter(t.T, t.faulty, engine.TokenBucket(engine.PerHour(1), 8), store.WithProcesses(8))
		batch := func(d time.Duration) []store.Outcome {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			began := time.Now()
			defer func() { require.LessOrEqual(t, time.Since(began), d) }()
			return l.TakeBatch(ctx, requests)
		}
		blamed := func() uint64 { s := l.Stats(); return s.Unavailable + s.Unknown }
		for i, o := range batch(20 * time.Millisecond) {
			require.NoError(t, o.Err)
			source := map[bool]store.Source{true: store.SourceFixed, false: store.SourceLocal}[requests[i].N > 8]
			require.Equal(t, source, o.Decision.Source)
			require.Equal(t, source == store.SourceLocal, o.Decision.Cause != nil)
			require.Equal(t, i != 2 && i != 4, o.Decision.Allowed, "a share of one permit for each key")
		}
		require.Equal(t, uint64(4), blamed(), "also those in turn behind the one that took the time")
		for i, o := range batch(0) {
			require.Equal(t, requests[i].N <= 8, o.Err != nil, "it came too late: %+v", o)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		for i, o := range l.TakeBatch(ctx, requests) {
			require.Equal(t, requests[i].N <= 8, errors.Is(o.Err, context.Canceled), "it has left: %+v", o)
		}
		require.Equal(t, uint64(4), blamed(), "callers who came too late, or left")
		require.Equal(t, uint64(8), l.Stats().Left)
	})
}

// TestBreakerSaysWhere: the error of an open breaker names the store, and its node if there are several, and when it is
// asked again.
func TestBreakerSaysWhere(t *testing.T) {
	bothWays(t, func(t *way) {
		t.faulty.SetBefore(fails(errReset))
		l := limiter(t.T, t.faulty, engine.TokenBucket(engine.PerHour(1), 8), store.WithPolicy(store.Closed))
		for range 5 {
			_, err := l.Take(t.Context(), "key", 1)
			require.ErrorIs(t, err, errReset)
		}
		want := "store: unavailable, nothing was charged: store: circuit breaker is open: " +
			"the calls before to memory failed: it is asked again within 750ms"
		_, err := l.Take(t.Context(), "key", 1)
		require.EqualError(t, err, want)
		require.EqualError(t, l.TakeBatch(t.Context(), []store.Request{{Key: "key", N: 1}})[0].Err, want)
	})
}

// TestBatchCountsOnce: however many of its calls fail, a batch is one call to a node, also as the probe
// of an open breaker, and calls for other keys make up for one that is throttled.
func TestBatchCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faulty := storetest.NewFaulty(store.NewMemory(time.Microsecond, nil))
		l := limiter(t, faulty, engine.TokenBucket(engine.PerHour(1), 100), store.WithPolicy(store.Closed))
		requests := make([]store.Request, 10)
		for i := range requests {
			requests[i] = store.Request{Key: fmt.Sprint(i), N: 1}
		}
		count := func() (failed int) {
			for _, o := range l.TakeBatch(t.Context(), requests) {
				if o.Err != nil {
					failed++
				}
			}
			return failed
		}
		faulty.SetBefore(fails(errReset))
		for i := range 5 {
			require.Zero(t, l.Stats().OpenBreakers, "batch %d", i)
			require.Equal(t, 10, count())
		}
		require.Equal(t, 1, l.Stats().OpenBreakers)
		faulty.SetBefore(nil)
		require.Equal(t, 10, count(), "the breaker is open")
		time.Sleep(time.Second)
		require.Zero(t, count(), "a batch is one probe")
		require.Zero(t, l.Stats().OpenBreakers)
		faulty.SetBefore(func(_ context.Context, _ storetest.Call, key string) error {
			if key == l.Key("9") {
				return errReset
			}
			return nil
		})
		for range 30 {
			require.Equal(t, 1, count())
		}
		require.Zero(t, l.Stats().OpenBreakers, "the node answers")
	})
}
