//go:build unix

package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

// aDay is long enough that no permit comes back during a test.
const aDay = 24 * time.Hour

// algorithms are limits of n permits of every algorithm, none of which come back during a test.
func algorithms(n int64) map[string]engine.Limit {
	rate := engine.Rate{Tokens: 1, Per: 365 * aDay}
	return map[string]engine.Limit{
		"token_bucket": engine.TokenBucket(rate, n), "gcra": engine.GCRA(rate, n),
		"leaky_bucket": engine.LeakyBucket(rate, n), "leaky_queue": engine.LeakyQueue(rate, n),
		"fixed_window": engine.FixedWindow(n, 365*aDay), "sliding_window": engine.SlidingWindow(n, 365*aDay),
	}
}

func TestCallersAtOnce(t *testing.T) { callersAtOnce(t, alone(t)) }

// callersAtOnce: of fifty callers at once under a limit of 25, half of them by each client library, 25
// pass, also when each operation takes a while. A call that lost every race is made again.
func callersAtOnce(t *testing.T, p *place) {
	t.Helper()
	const callers, permits = 50, 25
	for way, of := range ways {
		for name, limit := range algorithms(permits) {
			t.Run(way+"/"+name, func(t *testing.T) {
				p.flush(t)
				var limiters []*store.Shared
				for _, connect := range libraries {
					slow := storetest.NewFaulty(of(connect(t, nil, p.addrs...)))
					slow.SetBefore(storetest.Delay(time.Millisecond))
					limiters = append(limiters, limiter(t, slow, limit, patient()))
				}
				var allowed, denied atomic.Int64
				var done sync.WaitGroup
				start := make(chan struct{})
				for i := range callers {
					done.Go(func() {
						<-start
						d, err := again(t.Context(), limiters[i%len(limiters)])
						switch {
						case err != nil:
							t.Errorf("caller %d: %v", i, err)
						case d.Allowed:
							allowed.Add(1)
						default:
							denied.Add(1)
						}
					})
				}
				close(start)
				done.Wait()
				require.EqualValues(t, permits, allowed.Load())
				require.EqualValues(t, callers-permits, denied.Load())
			})
		}
	}
}

// again takes a permit, again as long as others are faster.
func again(ctx context.Context, l *store.Shared) (d store.Decision, err error) {
	for {
		if d, err = l.Take(ctx, "key", 1); !errors.Is(err, store.ErrContended) {
			return d, err
		}
	}
}

func TestSlowKey(t *testing.T) { slowKey(t, alone(t)) }

// slowKey: calls for one key that hang hold up no calls for another.
func slowKey(t *testing.T, p *place) {
	t.Helper()
	for way, of := range ways {
		t.Run(way, func(t *testing.T) {
			p.flush(t)
			hung, release := make(chan struct{}, 1), make(chan struct{})
			faulty := storetest.NewFaulty(of(byRueidis(t, nil, p.addrs...)))
			l := limiter(t, faulty, only(5), patient())
			faulty.SetBefore(func(_ context.Context, _ storetest.Call, key string) error {
				if key == l.Key("slow") {
					hung <- struct{}{}
					<-release
				}
				return nil
			})
			var done sync.WaitGroup
			done.Go(func() {
				if d, err := l.Take(t.Context(), "slow", 1); err != nil || !d.Allowed {
					t.Errorf("%+v, %v", d, err)
				}
			})
			<-hung
			for range 5 {
				d, err := l.Take(t.Context(), "quick", 1)
				require.NoError(t, err)
				require.True(t, d.Allowed)
			}
			faulty.SetBefore(nil)
			close(release)
			done.Wait()
		})
	}
}

func TestBeginningOfAWindow(t *testing.T) { beginningOfAWindow(t, alone(t)) }

// beginningOfAWindow: two callers at the instant at which a window begins, while what is kept is of the
// one before, are both counted in the new one.
func beginningOfAWindow(t *testing.T, p *place) {
	t.Helper()
	const before, limit = 3, 20
	limits := map[string]engine.Limit{"fixed": engine.FixedWindow(limit, time.Minute), "sliding": engine.SlidingWindow(limit, time.Minute)}
	for way, of := range ways {
		for name, window := range limits {
			t.Run(way+"/"+name, func(t *testing.T) {
				p.flush(t)
				clock := enginetest.NewClock()
				clock.Set(30_000_000*time.Minute - tick)
				var limiters []*store.Shared
				for _, connect := range libraries {
					limiters = append(limiters, limiter(t, of(connect(t, nil, p.addrs...).withClock(clock)), window, patient()))
				}
				_, err := limiters[0].Take(t.Context(), "key", before)
				require.NoError(t, err)
				clock.Advance(tick)
				var done sync.WaitGroup
				for _, l := range limiters {
					done.Go(func() {
						if d, err := again(t.Context(), l); err != nil || !d.Allowed {
							t.Errorf("%+v, %v", d, err)
						}
					})
				}
				done.Wait()
				want := map[string]int64{"fixed": limit - 2, "sliding": limit - before - 2}[name]
				require.Equal(t, want, left(t, limiters[0], "key"))
			})
		}
	}
}

func TestLostRaces(t *testing.T) { lostRaces(t, alone(t)) }

// lostRaces: another writer is faster k times. After three a call comes out right, and is charged
// once; if it always is, that is an error of the store and no limit. By script nobody can be faster.
func lostRaces(t *testing.T, p *place) {
	t.Helper()
	const permits, others = 1000, 100
	for wins := range 6 {
		t.Run(fmt.Sprint(wins), func(t *testing.T) {
			p.flush(t)
			swap := store.WithoutApply(byRueidis(t, nil, p.addrs...))
			faulty := storetest.NewFaulty(swap)
			l, other := limiter(t, faulty, only(permits), patient()), limiter(t, swap, only(permits), patient())
			n := wins
			faulty.SetBefore(func(ctx context.Context, call storetest.Call, _ string) error {
				if call == storetest.CallSwap && n > 0 {
					n--
					_, err := other.Take(ctx, "key", others)
					return err
				}
				return nil
			})
			d, err := l.Take(t.Context(), "key", 1)
			if wins < 4 {
				require.NoError(t, err)
				require.True(t, d.Allowed)
				require.EqualValues(t, permits-others*wins-1, left(t, other, "key"))
				return
			}
			require.ErrorIs(t, err, store.ErrContended)
			require.Equal(t, store.SourceClosed, d.Source)
			require.Zero(t, d.Limit+d.Remaining)
			require.EqualValues(t, permits-others*4, left(t, other, "key"), "nothing was charged")
		})
	}
}

func TestCallersClock(t *testing.T) { callersClock(t, alone(t)) }

// callersClock: the time of a caller whose clock is 26 years behind is of no meaning: it waits as long
// as the others, and pushes back nothing that they have charged.
func callersClock(t *testing.T, p *place) {
	t.Helper()
	for way, of := range ways {
		t.Run(way, func(t *testing.T) {
			p.flush(t)
			limit := engine.TokenBucket(engine.Rate{Tokens: 2, Per: aDay}, 4)
			right := limiter(t, of(byRueidis(t, nil, p.addrs...)), limit, patient())
			for range 4 {
				d, err := right.Take(t.Context(), "key", 1)
				require.NoError(t, err)
				require.True(t, d.Allowed)
			}
			first, err := right.Take(t.Context(), "key", 1)
			require.NoError(t, err)
			var behind store.Decision
			synctest.Test(t, func(t *testing.T) { // where it is midnight of 2000-01-01
				require.Equal(t, 2000, time.Now().UTC().Year())
				wrong := limiter(t, of(byGoRedis(t, nil, p.addrs...)), limit, patient())
				behind, err = wrong.Take(t.Context(), "key", 1)
			})
			require.NoError(t, err)
			last, err := right.Take(t.Context(), "key", 1)
			require.NoError(t, err)
			for _, d := range []store.Decision{first, behind, last} {
				require.False(t, d.Allowed)
				require.Equal(t, store.SourceStore, d.Source)
			}
			require.GreaterOrEqual(t, first.RetryAfter, behind.RetryAfter)
			require.GreaterOrEqual(t, behind.RetryAfter, last.RetryAfter)
			require.Greater(t, last.RetryAfter, aDay/2-time.Hour)
		})
	}
}
