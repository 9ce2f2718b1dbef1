package fair_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/fair"
	"github.com/stretchr/testify/require"
)

// stressTime is what this package's share of PENSTOCK_STRESS comes to, 300 ms by default.
func stressTime(t *testing.T) time.Duration {
	t.Helper()
	d := 300 * time.Millisecond
	if s := os.Getenv("PENSTOCK_STRESS"); s != "" {
		var err error
		d, err = time.ParseDuration(s)
		require.NoError(t, err, "PENSTOCK_STRESS must be a duration such as 60s")
	}
	return d
}

// tallies count how the calls of the stress test ended.
type tallies struct{ permits, granted, cancelled, late, full, passed, refused atomic.Int64 }

// TestStressConservation: on the real clock, callers wait, cancel, ask, and change weights at once. No
// more than burst + rate*elapsed is granted, no call is stuck, and nothing is left.
func TestStressConservation(t *testing.T) {
	const perSecond, burst, tenants = 20_000, 50, 20
	before := runtime.NumGoroutine()
	l := fair.Must[int](engine.TokenBucket(engine.PerSecond(perSecond), burst), fair.WithQueue(15, 6))
	var got tallies
	var stop atomic.Bool
	var all sync.WaitGroup
	start := time.Now()
	for i := range 200 {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 10))
			for !stop.Load() {
				got.call(t, l, rnd, rnd.IntN(tenants), 1+rnd.Int64N(5))
			}
		})
	}
	time.AfterFunc(stressTime(t), func() { stop.Store(true) })
	all.Wait()
	elapsed := time.Since(start)
	t.Logf("%d permits in %v: %d waits granted, %d cancelled, %d too late, %d found the queue full; %d takes passed, %d refused",
		got.permits.Load(), elapsed, got.granted.Load(), got.cancelled.Load(), got.late.Load(), got.full.Load(), got.passed.Load(), got.refused.Load())
	require.LessOrEqual(t, float64(got.permits.Load()), burst+perSecond*elapsed.Seconds())
	for name, n := range map[string]*atomic.Int64{
		"granted": &got.granted, "cancelled": &got.cancelled, "late": &got.late, "full": &got.full, "passed": &got.passed, "refused": &got.refused,
	} {
		require.Positive(t, n.Load(), "no call was %s: nothing was provoked", name)
	}
	require.Zero(t, l.Stats().Waiting)
	require.NoError(t, l.Close())
	require.Equal(t, fair.Stats{Weights: l.Stats().Weights}, l.Stats())
	for runtime.NumGoroutine() > before { // the test's time limit ends this if it never comes true
		runtime.Gosched()
	}
}

// call makes one call of some kind.
func (c *tallies) call(t *testing.T, l *fair.Limiter[int], rnd *rand.Rand, tenant int, n int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	switch rnd.IntN(10) {
	case 0:
		assert(t, l.SetWeight(tenant, 1+rnd.Int64N(9)))
		return
	case 1, 2:
		if l.Take(100+tenant%4, n).Allowed { // tenants that never wait, and so have a place of their own
			c.passed.Add(1)
			c.permits.Add(n)
		} else {
			c.refused.Add(1)
		}
		return
	case 3, 4:
		defer time.AfterFunc(time.Duration(rnd.IntN(2_000_000)), cancel).Stop()
	case 5:
		cancel()
		ctx, cancel = context.WithTimeout(t.Context(), time.Duration(rnd.IntN(1_000_000)))
		defer cancel()
	}
	switch err := l.Wait(ctx, tenant, n); {
	case err == nil:
		c.granted.Add(1)
		c.permits.Add(n)
	case errors.Is(err, context.Canceled):
		c.cancelled.Add(1)
	case errors.Is(err, context.DeadlineExceeded):
		c.late.Add(1)
	case errors.Is(err, fair.ErrQueueFull):
		c.full.Add(1)
	default:
		t.Error(err)
	}
}

// TestStressClose: calls come and change while the limiter is closed.
func TestStressClose(t *testing.T) {
	end := time.Now().Add(stressTime(t) / 4)
	closed, rounds := 0, 0
	for ; rounds < 20 || time.Now().Before(end); rounds++ {
		l := fair.Must[int](engine.TokenBucket(engine.PerSecond(1000), 1))
		var ended atomic.Int64
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				for l.Wait(t.Context(), i, 1) == nil { //nolint:revive // it waits until the limiter is closed
				}
				ended.Add(1)
			})
			all.Go(func() { _ = l.SetLimit(engine.TokenBucket(engine.PerSecond(int64(1000+i%3)), 2)) })
		}
		for l.Len() < 10 {
			runtime.Gosched()
		}
		if l.Len() > 0 {
			closed++
		}
		require.NoError(t, l.Close())
		all.Wait()
		require.EqualValues(t, 20, ended.Load())
	}
	require.Positive(t, closed, "no call was waiting in any of %d rounds", rounds)
}
