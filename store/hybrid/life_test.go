package hybrid_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
	"github.com/penstock-go/penstock/store/storetest"
)

// TestOptions: every bad one is said at once.
func TestOptions(t *testing.T) {
	_, err := hybrid.New(nil, hybrid.WithSlack(math.NaN()), hybrid.WithMaxLease(0), hybrid.WithNegativeCache(-1),
		hybrid.WithMaxKeys(0), hybrid.WithClock(nil), nil)
	require.ErrorIs(t, err, store.ErrOption)
	for _, part := range []string{"New(nil)", "WithSlack(NaN)", "WithMaxLease(0)", "WithNegativeCache(-1ns)", "WithMaxKeys(0)", "WithClock(nil)"} {
		require.ErrorContains(t, err, part)
	}
	for _, s := range []float64{-0.1, 1.1, math.Inf(1)} {
		_, err := hybrid.New(nil, hybrid.WithSlack(s))
		require.ErrorContains(t, err, "WithSlack")
	}
}

// TestSlackSetsLifeAndSize: E = s*B/R, a second at most, and L = s*B unless it is given.
func TestSlackSetsLifeAndSize(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		limit engine.Limit
		opts  []hybrid.Option
		life  time.Duration
		most  int64
	}{
		{engine.TokenBucket(engine.PerSecond(50_000), 5000), nil, 10 * time.Millisecond, 500},
		{engine.TokenBucket(engine.PerSecond(50_000), 5000), []hybrid.Option{hybrid.WithSlack(1)}, 100 * time.Millisecond, 5000},
		{engine.TokenBucket(engine.PerSecond(50_000), 5000), []hybrid.Option{hybrid.WithMaxLease(125)}, 10 * time.Millisecond, 125},
		{engine.TokenBucket(engine.PerHour(1000), 1000), nil, time.Second, 100},
		{engine.FixedWindow(1000, time.Second), nil, 100 * time.Millisecond, 100},
		{engine.TokenBucket(engine.PerSecond(1000), 1000), []hybrid.Option{hybrid.WithSlack(0)}, 0, 0},
		{engine.Unlimited(), nil, 0, 0},
	} {
		life, most := r.process(c.limit, c.opts...).Slack()
		require.Equal(t, c.life, life, c.limit)
		require.Equal(t, c.most, most, c.limit)
	}
}

// TestOneRequestForAll: 64 callers of a hot key whose lease is used up share one request.
func TestOneRequestForAll(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		r.warm(h)
		time.Sleep(life / 2)
		for h.Stats().Held > 0 {
			r.take(h)
		}
		r.faulty.SetBefore(storetest.Delay(5 * time.Millisecond))
		calls := h.Stats().Calls
		var callers sync.WaitGroup
		for range 20 {
			callers.Go(func() { require.True(r, r.take(h).Allowed) })
		}
		callers.Wait()
		require.LessOrEqual(r, h.Stats().Calls-calls, int64(3))
		balanced(r.T, h)
	})
}

// TestLeavingCallers: one that has ended is not served, and one that leaves while its request is under
// way takes nobody with it.
func TestLeavingCallers(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		r.warm(h)
		ended, cancel := context.WithCancel(r.Context())
		cancel()
		before := h.Stats()
		_, err := h.Take(ended, "key", 1)
		require.ErrorIs(r, err, context.Canceled)
		_, err = h.Peek(ended, "key")
		require.ErrorIs(r, err, context.Canceled)
		require.ErrorIs(r, h.TakeBatch(ended, []store.Request{{Key: "key", N: 1}})[0].Err, context.Canceled)
		require.Equal(r, before.Spent, h.Stats().Spent)

		for h.Stats().Held > 0 {
			r.take(h)
		}
		r.faulty.SetBefore(storetest.Delay(20 * time.Millisecond))
		leaving, cancel := context.WithTimeout(r.Context(), 10*time.Millisecond)
		defer cancel()
		var callers sync.WaitGroup
		callers.Go(func() {
			d, err := h.Take(leaving, "key", 1)
			require.Error(r, err)
			require.Equal(r, store.SourceClosed, d.Source)
		})
		time.Sleep(time.Millisecond)
		for range 5 {
			callers.Go(func() { require.True(r, r.take(h).Allowed) })
		}
		waiting, cancel := context.WithCancel(r.Context())
		callers.Go(func() {
			_, err := h.Take(waiting, "key", 1)
			require.ErrorIs(r, err, context.Canceled)
		})
		time.Sleep(time.Millisecond)
		cancel()
		callers.Wait()
		balanced(r.T, h)
	})
}

// TestAPanickingStorage fails the calls that meet it, and nothing else: a request ahead of need does not
// end the process.
func TestAPanickingStorage(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		r.warm(h)
		r.faulty.SetBefore(func(context.Context, storetest.Call, string) error { panic("broken") })
		panicked := 0
		for range 200 {
			func() {
				defer func() {
					if recover() != nil {
						panicked++
					}
				}()
				_, _ = h.Take(r.Context(), "key", 1)
			}()
			time.Sleep(time.Millisecond)
		}
		require.Positive(r, panicked)
		r.faulty.SetBefore(nil)
		require.True(r, r.take(h).Allowed)
		balanced(r.T, h)
	})
}

// TestIdleKeysAreForgotten, by the background sweep and by Sweep, and those that hold something are not.
func TestIdleKeysAreForgotten(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		for i := range 1000 {
			_, err := h.Take(r.Context(), fmt.Sprint(i), 1)
			require.NoError(r, err)
		}
		r.warm(h)
		require.Equal(r, 1001, h.Len())
		require.Zero(r, h.Sweep())
		time.Sleep(time.Second)
		r.take(h)
		h.Sweep()
		require.Equal(r, 1, h.Len())
		time.Sleep(5 * time.Second)
		require.Zero(r, h.Len(), "the background sweep has seen to it")
		balanced(r.T, h)
	})
}

// TestTooManyKeys: those that find no room are the store's, and make no memory.
func TestTooManyKeys(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond(), hybrid.WithMaxKeys(3))
		for i := range 1000 {
			d, err := h.Take(r.Context(), fmt.Sprint(i), 1)
			require.NoError(r, err)
			require.Equal(r, store.SourceStore, d.Source)
			require.LessOrEqual(r, h.Len(), 3)
		}
		for range 100 {
			d, err := h.Take(r.Context(), "999", 1)
			require.NoError(r, err)
			require.Equal(r, store.SourceStore, d.Source)
		}
	})
}

// TestCloseEndsEverything, while requests are under way too, and calls go on afterwards. A bubble does not
// end, here and in the other tests, before its last goroutine has.
func TestCloseEndsEverything(t *testing.T) {
	inBubble(t, func(r *rig) {
		h, err := hybrid.New(r.shared(perSecond(), store.WithPolicy(store.Closed)))
		require.NoError(r, err)
		for i := range 20 {
			for range 40 {
				_, err := h.Take(r.Context(), fmt.Sprint(i), 1)
				require.NoError(r, err)
			}
		}
		r.faulty.SetBefore(func(ctx context.Context, _ storetest.Call, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		})
		for i := range 20 {
			for held := h.Stats().Held; held > 0; held-- {
				if d, _ := h.Take(r.Context(), fmt.Sprint(i), 1); d.Source != store.SourceLease {
					break
				}
			}
		}
		require.NoError(r, h.Close())
		require.NoError(r, h.Close())
		require.Zero(r, h.Len())
		require.Zero(r, balanced(r.T, h).Held)
		r.faulty.SetBefore(nil)
		require.Equal(r, store.SourceStore, r.take(h).Source)
		require.Zero(r, h.Len())
	})
}

// TestWhatComesTooLateIsDropped: what a request brings that is under way while the limiter is closed, or
// the key reset.
func TestWhatComesTooLateIsDropped(t *testing.T) {
	for name, end := range map[string]func(*rig, *hybrid.Limiter) error{
		"close": func(_ *rig, h *hybrid.Limiter) error { return h.Close() },
		"reset": func(r *rig, h *hybrid.Limiter) error { return h.Reset(r.Context(), "key") },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				h := r.process(perSecond())
				r.warm(h)
				time.Sleep(life)
				r.faulty.SetAfter(func(ctx context.Context, call storetest.Call, key string) error {
					if call == storetest.CallPut {
						return nil
					}
					return storetest.Delay(5*time.Millisecond)(ctx, call, key)
				})
				before := h.Stats()
				var caller sync.WaitGroup
				caller.Go(func() { require.True(r, r.take(h).Allowed) })
				time.Sleep(time.Millisecond)
				require.NoError(r, end(r, h))
				caller.Wait()
				s := balanced(r.T, h)
				require.Greater(r, s.Leased, before.Leased, "the request was one for a lease")
				require.Zero(r, s.Held)
			})
		})
	}
}

// TestBatch: hot keys from their leases, others by the store in one round trip, and keys get hot by
// batches too.
func TestBatch(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		r.warm(h)
		requests := []store.Request{{Key: "key", N: 1}, {Key: "cold", N: 2}, {Key: "key", N: 1}, {Key: "key", N: 1001}, {Key: "key", N: 0}, {Key: "new", N: -1}}
		var sources []store.Source
		for _, o := range h.TakeBatch(r.Context(), requests) {
			require.NoError(r, o.Err)
			sources = append(sources, o.Decision.Source)
		}
		require.Equal(r, []store.Source{
			store.SourceLease, store.SourceStore, store.SourceLease, store.SourceFixed, store.SourceStore, store.SourceFixed,
		}, sources)
		leased := 0
		for range 200 {
			if h.TakeBatch(r.Context(), []store.Request{{Key: "batched", N: 1}})[0].Decision.Source == store.SourceLease {
				leased++
			}
			time.Sleep(time.Millisecond)
		}
		require.Greater(r, leased, 150)
	})
}

// TestALimitChange: a new limit is a new limiter; when the old one is closed, what it held is gone, and
// the keys of the new limit are the store's.
func TestALimitChange(t *testing.T) {
	inBubble(t, func(r *rig) {
		old := r.process(perSecond())
		r.warm(old)
		require.NoError(r, old.Close())
		admitted, changed := 0, r.process(engine.TokenBucket(engine.PerSecond(10), 100))
		for range 1000 {
			if r.take(changed).Allowed {
				admitted++
			}
		}
		require.LessOrEqual(r, admitted, 100)
		require.Greater(r, admitted, 80)
	})
}

// TestInjectedClock: a lease ends by the clock given, on which a step back is no time passed.
func TestInjectedClock(t *testing.T) {
	inBubble(t, func(r *rig) {
		clock := enginetest.NewClock()
		clock.Set(-time.Hour) // any origin
		h := r.process(perSecond(), hybrid.WithClock(clock))
		for range 50 {
			require.True(r, r.take(h).Allowed)
			synctest.Wait() // what was asked for ahead is here, and not as late as the scheduler likes
			clock.Advance(2 * time.Millisecond)
		}
		source := func() store.Source {
			d, err := h.Peek(r.Context(), "key")
			require.NoError(r, err)
			return d.Source
		}
		require.Equal(r, store.SourceLease, source())
		clock.Advance(-time.Minute)
		require.Equal(r, store.SourceLease, source())
		clock.Advance(time.Minute + life/2)
		require.Equal(r, store.SourceLease, source())
		clock.Advance(life / 2)
		require.Equal(r, store.SourceStore, source())
	})
}
