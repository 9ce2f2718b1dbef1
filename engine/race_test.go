package engine_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/stretchr/testify/require"
)

// everyAlgorithm with a limit of n permits that are not given back within a test.
func everyAlgorithm(n int64) map[string]engine.Limit {
	return map[string]engine.Limit{
		"token_bucket":   engine.TokenBucket(engine.Every(1000*time.Hour), n),
		"gcra":           engine.GCRA(engine.Every(1000*time.Hour), n),
		"leaky_bucket":   engine.LeakyBucket(engine.Every(1000*time.Hour), n),
		"leaky_queue":    engine.LeakyQueue(engine.Every(1000*time.Hour), n),
		"fixed_window":   engine.FixedWindow(n, 1000*time.Hour),
		"sliding_window": engine.SlidingWindow(n, 1000*time.Hour),
		"sliding_log":    engine.SlidingLog(n, 1000*time.Hour),
	}
}

// atOnce starts n goroutines behind one barrier and waits for them.
func atOnce(n int, f func(i int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-start
			f(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// TestConcurrentCallsOnOneKey: 50 at once, 25 pass.
func TestConcurrentCallsOnOneKey(t *testing.T) {
	for name, limit := range everyAlgorithm(25) {
		for range 50 {
			l := engine.Must[string](limit)
			var allowed atomic.Int64
			atOnce(50, func(int) {
				if l.Allow("a") {
					allowed.Add(1)
				}
			})
			require.EqualValues(t, 25, allowed.Load(), name)
		}
	}
}

// TestRealClockBound: whoever reads the clock when, no run admits more than its time earns. The
// bound holds on any machine at any load; only its other side would need a quick one.
func TestRealClockBound(t *testing.T) {
	for name, c := range map[string]struct {
		limit      engine.Limit
		perSecond  float64
		goroutines int
		calls      int
	}{
		"tight loops": {engine.TokenBucket(engine.PerSecond(200_000), 1), 200_000, 8, 5000},
		"once each":   {engine.TokenBucket(engine.PerSecond(10), 1), 10, 5000, 1},
	} {
		l := engine.Must[string](c.limit)
		var admitted atomic.Int64
		start := time.Now()
		atOnce(c.goroutines, func(int) {
			for range c.calls {
				if l.Allow("a") {
					admitted.Add(1)
				}
			}
		})
		require.LessOrEqual(t, float64(admitted.Load()), 1+c.perSecond*time.Since(start).Seconds(), name)
		require.Positive(t, admitted.Load(), name)
	}
}

// TestStampsInAnyOrder: a random order of times admits no more than the time between the first
// and the last earns.
func TestStampsInAnyOrder(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		l := engine.Must[string](engine.TokenBucket(engine.Rate{Tokens: 1, Per: 5}, 3))
		stamps := rnd.Perm(200)
		admitted := 0
		for _, at := range stamps {
			if l.TakeAt(time.Duration(at), "a", 1).Allowed {
				admitted++
			}
		}
		require.LessOrEqual(t, admitted, 3+199/5)
		require.GreaterOrEqual(t, admitted, 3)
	}
}

// TestNewKeyRace: 64 goroutines meet a key never seen before; it has one burst, not two.
func TestNewKeyRace(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	for name, limit := range everyAlgorithm(5) {
		l := engine.Must[int](limit)
		for round := range rounds {
			var allowed atomic.Int64
			atOnce(64, func(int) {
				if l.Allow(round) {
					allowed.Add(1)
				}
			})
			require.EqualValues(t, 5, allowed.Load(), "%s round %d", name, round)
		}
	}
}

// TestStressEvictionRace: one goroutine sweeps in a loop, at a cap of one key; eight hammer the key.
func TestStressEvictionRace(t *testing.T) {
	for name, limit := range everyAlgorithm(5) {
		l := engine.Must[string](limit, engine.WithMaxKeys(1, engine.CapDeny), engine.WithStats(), engine.WithSweepInterval(time.Microsecond))
		var allowed, sweeps atomic.Int64
		var stop atomic.Bool
		var sweeper sync.WaitGroup
		sweeper.Go(func() {
			for !stop.Load() {
				l.Sweep()
				sweeps.Add(1)
			}
		})
		atOnce(8, func(int) {
			for range 20000 {
				if l.Allow("a") {
					allowed.Add(1)
				}
			}
		})
		stop.Store(true)
		sweeper.Wait()
		require.EqualValues(t, 5, allowed.Load(), name)
		require.Greater(t, sweeps.Load(), int64(10), "the sweeper was idle")
		require.EqualValues(t, 8*20000, l.Stats().Allowed+l.Stats().Denied, name)
		require.NoError(t, l.Close())
	}
}

// TestStressTakeAtLeaps: goroutines pass in times that leap over horizons, out of order; every
// key admits one burst for each time all of it was earned back, never more.
func TestStressTakeAtLeaps(t *testing.T) {
	const burst, rounds = 50, 60
	l := engine.Must[int](engine.TokenBucket(engine.Rate{Tokens: 1 << 26, Per: 1}, burst), engine.WithStats())
	leap := time.Hour // 100 horizons
	for round := range rounds {
		now := time.Duration(round) * leap
		var allowed [3]atomic.Int64
		atOnce(8, func(i int) {
			for j := range 3 * burst {
				at := now
				if j%2 == i%2 { // a straggler of an earlier round: counts as now
					at = max(0, now-leap/2)
				}
				key := j % 3
				if l.TakeAt(at, key, 1).Allowed {
					allowed[key].Add(1)
				}
			}
		})
		for key := range allowed {
			got := allowed[key].Load()
			require.LessOrEqual(t, got, int64(2*burst), "two instants, the straggler's and now")
			require.GreaterOrEqual(t, got, int64(burst))
		}
	}
	require.Positive(t, l.Stats().Table.Sweeps)
}

// TestStopsWithoutLeaks: a thousand limiters, used once, closed or dropped, leave no goroutine.
func TestStopsWithoutLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := range 1000 {
		opts := []engine.Option{engine.WithSweepInterval(time.Millisecond)}
		if i%2 == 0 {
			opts = append(opts, engine.WithCoarseClock(time.Millisecond))
		}
		l := engine.Must[string](everyAlgorithm(5)["token_bucket"], opts...)
		require.True(t, l.Allow("a"))
		if i%4 < 2 {
			require.NoError(t, l.Close())
			require.NoError(t, l.Close())
			require.True(t, l.Allow("a"), "decisions go on after Close")
			require.NoError(t, l.Close())
		}
	}
	for runtime.NumGoroutine() > before { // the test's time limit ends this if it never comes true
		runtime.GC()
		runtime.Gosched()
	}
}

// TestDroppedLimitersAreCollected: neither the sweep nor the coarse clock keeps one alive.
func TestDroppedLimitersAreCollected(t *testing.T) {
	var collected atomic.Int64
	const n = 20
	for i := range n {
		limit := engine.TokenBucket(engine.PerHour(1), 5)
		if i%2 == 0 {
			limit = engine.SlidingLog(5, time.Hour)
		}
		l := engine.Must[string](limit, engine.WithSweepInterval(time.Millisecond))
		runtime.AddCleanup(l, func(c *atomic.Int64) { c.Add(1) }, &collected)
		l.Allow("a")
	}
	for collected.Load() < n {
		runtime.GC()
		runtime.Gosched()
	}
}

// TestCloseDuringCalls is for the race detector.
func TestCloseDuringCalls(t *testing.T) {
	l := engine.Must[int](engine.TokenBucket(engine.PerSecond(1000), 10), engine.WithCoarseClock(time.Millisecond), engine.WithStats())
	atOnce(4, func(i int) {
		for j := range 2000 {
			l.Take(j%100, 1)
			if i == 0 && j == 1000 {
				_ = l.Close()
			}
			if j%500 == 0 {
				_ = fmt.Sprint(l.Stats(), l.Len(), l.Peek(j))
				l.Reset(j % 100)
			}
		}
	})
}

// TestUserClockUnderConcurrency: a clock that jitters back and forth never mints.
func TestUserClockUnderConcurrency(t *testing.T) {
	clock := enginetest.NewClock()
	clock.Set(time.Hour)
	l := engine.Must[string](engine.TokenBucket(engine.Every(time.Second), 10), engine.WithClock(clock))
	var allowed atomic.Int64
	atOnce(4, func(i int) {
		for j := range 5000 {
			clock.Advance([]time.Duration{-50 * time.Millisecond, 50 * time.Millisecond}[(i+j)%2])
			if l.Allow("a") {
				allowed.Add(1)
			}
		}
	})
	require.LessOrEqual(t, allowed.Load(), int64(10+1))
}
