package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/oracle"
)

// crowd is what became of many waiters.
type crowd struct {
	mu       sync.Mutex
	admitted map[int][]oracle.Admission // by key; when they were woken
	gone     atomic.Int64               // cancelled
}

// wait waits for a permit of key and gives up after patience, if that is above 0.
func (c *crowd) wait(t *testing.T, m *engine.Limiter[int], key int, patience time.Duration, since time.Time) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if patience > 0 {
		defer time.AfterFunc(patience, cancel).Stop()
	}
	switch err := m.Wait(ctx, key, 1); {
	case err == nil:
		c.mu.Lock()
		c.admitted[key] = append(c.admitted[key], oracle.Admission{At: int64(time.Since(since)), N: 1})
		c.mu.Unlock()
	case errors.Is(err, context.Canceled):
		c.gone.Add(1)
	default:
		t.Error(err)
	}
}

// TestCrowdsOfWaiters: 10,000 wait for one key and 10,000 for a key of their own, a third of them
// gives up at some time. All end; what is admitted on a key obeys the bound in every interval; nobody is
// admitted before its time. Time is the bubble's, so each is woken in its very nanosecond.
func TestCrowdsOfWaiters(t *testing.T) {
	const many = 10000
	rate := engine.PerSecond(1000)
	synctest.Test(t, func(t *testing.T) {
		m := engine.Must[int](engine.TokenBucket(rate, 5))
		since := time.Now()
		c := &crowd{admitted: map[int][]oracle.Admission{}}
		rnd := rand.New(rand.NewPCG(41, 42))
		for i := range 2 * many {
			key := 0
			if i >= many {
				key = i
				require.True(t, m.AllowN(key, 5))
			}
			patience := time.Duration(0)
			if rnd.IntN(3) == 0 {
				patience = time.Duration(1 + rnd.Int64N(int64(5*time.Second)))
				if key > 0 {
					patience = time.Duration(1 + rnd.Int64N(int64(time.Millisecond)))
				}
			}
			go c.wait(t, m, key, patience, since)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		all := 0
		for _, admitted := range c.admitted {
			require.NoError(t, oracle.Bound(rate.Tokens, rate.Per, 5, admitted))
			all += len(admitted)
		}
		require.Equal(t, 2*many, all+int(c.gone.Load()))
		require.Greater(t, c.gone.Load(), int64(5000))
		require.NoError(t, m.Close())
		t.Logf("%d admitted, %d gave up", all, c.gone.Load())
	}) // which ends when every goroutine has
}

// TestCrowdOnTheRealClock: the same in real time, where takes, cancellations and sweeps collide.
func TestCrowdOnTheRealClock(t *testing.T) {
	const many = 10000
	goroutines := runtime.NumGoroutine()
	m := engine.Must[int](engine.TokenBucket(engine.PerSecond(5000), 5), engine.WithStats())
	since := time.Now()
	c := &crowd{admitted: map[int][]oracle.Admission{}}
	for range 2000 { // the queue is two seconds long before anybody waits
		require.NoError(t, m.Reserve(0, 5).Err())
	}
	stop := make(chan struct{})
	var others, all sync.WaitGroup
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				m.Sweep()
				m.Allow(0)
				runtime.Gosched()
			}
		}
	})
	for i := range 2 * many {
		key, patience := 0, time.Duration(0)
		if i >= many {
			key = 1 + i%5000
		}
		if i%3 == 0 {
			patience = time.Duration(1 + rand.Int64N(int64(300*time.Millisecond)))
		}
		all.Go(func() { c.wait(t, m, key, patience, since) })
	}
	all.Wait()
	close(stop)
	others.Wait()
	for key, admitted := range c.admitted {
		slices.SortFunc(admitted, func(a, b oracle.Admission) int { return int(a.At - b.At) })
		for i, a := range admitted { // counted from the start: a waiter may be woken late, never early
			require.LessOrEqual(t, int64(i+1-5)*int64(200*time.Microsecond), a.At, "key %d: the %d. was early", key, i)
		}
	}
	s := m.Stats()
	require.NoError(t, m.Close())
	require.Greater(t, c.gone.Load(), int64(100), "few gave up")
	for range 1_000_000 { // those that have ended may still be counted
		if runtime.NumGoroutine() <= goroutines {
			break
		}
		runtime.Gosched()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
	t.Logf("%d gave up; %d takes met another", c.gone.Load(), s.Retries)
}

// TestPacedWaiters: 50 waiters at 1,000 a second get between 99.9 % and 100 % of what the limit
// allows, in real time. It needs processors that nobody else uses, so it runs only when it is asked
// to: `make paced`.
func TestPacedWaiters(t *testing.T) {
	asked := os.Getenv("PENSTOCK_PACED")
	if asked == "" {
		t.Skip("PENSTOCK_PACED is not set: a run in real time, such as 10s, on an idle machine (make paced)")
	}
	d, err := time.ParseDuration(asked)
	require.NoError(t, err, "PENSTOCK_PACED must be a duration such as 10s")
	m := engine.Must[string](engine.TokenBucket(engine.PerSecond(1000), 1))
	defer m.Close()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	since := time.Now()
	var granted atomic.Int64
	var last atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for m.Wait(ctx, "a", 1) == nil {
				granted.Add(1)
				at := int64(time.Since(since))
				for seen := last.Load(); seen < at && !last.CompareAndSwap(seen, at); seen = last.Load() { //nolint:revive // the loop is the work
				}
			}
		})
	}
	all.Wait()
	possible := 1 + float64(d)/float64(time.Millisecond)
	share := 100 * float64(granted.Load()) / possible
	t.Logf("%d of %.0f permits in %v: %.3f %%; the last woke at %v", granted.Load(), possible, d, share, time.Duration(last.Load()))
	require.LessOrEqual(t, share, 100.0)
	require.GreaterOrEqual(t, share, 99.9)
}
