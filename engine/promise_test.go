package engine_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/internal/oracle"
)

// held is a charge that was not given up: permits that act at a time, and how to give them up.
type held struct {
	oracle.Admission
	giveUp func() bool
	part   func(n int64) bool // for a receipt: gives back some
}

// caller makes random calls on a few keys of one limiter and remembers who acts when.
type caller struct {
	t     *testing.T
	rnd   *rand.Rand
	m     *engine.Limiter[int]
	clock *enginetest.Clock
	held  [3][]held
	// what was met
	ops, waits, cancels, undone, refunds, lateCancels int
}

func newCaller(t *testing.T, rnd *rand.Rand, l engine.Limit) *caller {
	t.Helper()
	clock := enginetest.NewClock()
	m, err := engine.New[int](l, engine.WithClock(clock))
	require.NoError(t, err)
	return &caller{t: t, rnd: rnd, m: m, clock: clock}
}

func (c *caller) now() int64 { return int64(c.clock.Now()) }

func (c *caller) hold(key int, delay time.Duration, n int64, h held) {
	h.Admission = oracle.Admission{At: c.now() + int64(delay), N: n}
	c.held[key] = append(c.held[key], h)
}

// step makes one call of up to most permits.
func (c *caller) step(most, stride int64) {
	c.ops++
	key, n := c.rnd.IntN(3), 1+c.rnd.Int64N(most)
	switch c.rnd.IntN(10) {
	case 0, 1:
		c.clock.Advance(time.Duration(c.rnd.Int64N(stride)))
	case 2:
		if d := c.m.Take(key, n); d.Allowed {
			c.hold(key, d.Delay, n, held{})
		}
	case 3:
		if d, r := c.m.TakeReceipt(key, n); d.Allowed {
			c.hold(key, d.Delay, n, held{part: r.Refund})
		}
	case 4, 5:
		c.reserve(key, n)
	case 6:
		c.reserveInVain(key, n)
	case 7:
		c.waitInVain(key, n)
	case 8:
		if c.rnd.IntN(40) == 0 {
			c.m.Sweep()
		}
		fallthrough
	default:
		c.giveUp(key)
	}
}

func (c *caller) reserve(key int, n int64) {
	r := c.m.Reserve(key, n)
	if !r.OK() {
		return
	}
	if r.Delay() > 0 {
		c.waits++
	}
	c.hold(key, r.Delay(), n, held{giveUp: r.Cancel})
}

// reserveInVain gives a reservation up that nobody followed: all is as if it had never been.
func (c *caller) reserveInVain(key int, n int64) {
	retry := c.m.Reserve(key, 1)
	delay := retry.Delay()
	retry.Cancel() // and with it what could not be given back before
	before := c.m.Peek(key)
	r := c.m.Reserve(key, n)
	if !r.OK() {
		return
	}
	require.True(c.t, r.Cancel())
	require.Equal(c.t, before, c.m.Peek(key))
	again := c.m.Reserve(key, 1)
	require.LessOrEqual(c.t, again.Delay(), delay)
	again.Cancel()
	c.undone++
}

// waitInVain waits with a context that ends first: it takes nothing.
func (c *caller) waitInVain(key int, n int64) {
	if c.ops%16 != 0 {
		return
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	ended := make(chan error, 1)
	c.m.Reserve(key, 1).Cancel()
	before, at := c.m.Peek(key), c.now()
	if before.Remaining >= n {
		return
	}
	go func() { ended <- c.m.Wait(ctx, key, n) }()
	for c.clock.Waiting() == 0 && len(ended) == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; err == nil {
		c.hold(key, 0, n, held{})
		return
	}
	require.Equal(c.t, at, c.now())
	require.Equal(c.t, before, c.m.Peek(key))
	c.undone++
}

// giveUp gives up one of the latest charges of a key, wholly or in part.
func (c *caller) giveUp(key int) {
	all := c.held[key]
	if len(all) == 0 {
		return
	}
	i := max(0, len(all)-1-c.rnd.IntN(6))
	h := &all[i]
	switch {
	case h.giveUp != nil:
		late := h.At < c.now()
		given := h.giveUp()
		c.cancels++
		if late && !given {
			c.lateCancels++
			return // it has acted
		}
		c.held[key] = slices.Delete(all, i, i+1)
	case h.part != nil && h.At <= c.now():
		n := 1 + c.rnd.Int64N(h.N)
		h.part(n)
		c.refunds++
		if h.N -= n; h.N == 0 {
			c.held[key] = slices.Delete(all, i, i+1)
		}
	}
}

// TestWhatActsKeepsTheBound: for random takes, refunds, reservations, waits and cancellations, what
// acts in any interval is at most burst + rate * interval, over more than a million calls.
func TestWhatActsKeepsTheBound(t *testing.T) {
	runs := 20000
	if testing.Short() {
		runs = 500
	}
	rnd := rand.New(rand.NewPCG(31, 32))
	var sum caller
	for range runs {
		rate := engine.Rate{Tokens: 1 + rnd.Int64N(7), Per: time.Duration(1 + rnd.Int64N(9))}
		burst := 1 + rnd.Int64N(8)
		c := newCaller(t, rnd, engine.TokenBucket(rate, burst))
		for range 60 {
			c.step(burst, 8)
		}
		for key := range c.held {
			admitted := make([]oracle.Admission, len(c.held[key]))
			for i, h := range c.held[key] {
				admitted[i] = h.Admission
			}
			require.NoError(t, oracle.Bound(rate.Tokens, rate.Per, burst, admitted))
		}
		sum.add(c)
		require.NoError(t, c.m.Close())
	}
	sum.report(t)
	require.Greater(t, sum.waits, runs)
	require.Greater(t, sum.cancels, runs)
	require.Greater(t, sum.refunds, runs/2)
	require.Greater(t, sum.undone, runs)
	require.Greater(t, sum.lateCancels, runs/10)
}

func (c *caller) add(other *caller) {
	c.ops += other.ops
	c.waits += other.waits
	c.cancels += other.cancels
	c.undone += other.undone
	c.refunds += other.refunds
	c.lateCancels += other.lateCancels
}

func (c *caller) report(t *testing.T) {
	t.Helper()
	t.Logf("%d calls: %d reservations that wait, %d cancelled (%d too late), %d refunds, %d left all as it was",
		c.ops, c.waits, c.cancels, c.lateCancels, c.refunds, c.undone)
}

// TestWhatActsKeepsToTheWindows: the same for the window algorithms, each by its own definition.
func TestWhatActsKeepsToTheWindows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(33, 34))
	var sum caller
	for range 1500 {
		limit, window := 1+rnd.Int64N(6), 1+rnd.Int64N(20)
		for _, l := range []engine.Limit{
			engine.FixedWindow(limit, time.Duration(window)),
			engine.SlidingWindow(limit, time.Duration(window)),
			engine.SlidingLog(limit, time.Duration(window)),
		} {
			c := newCaller(t, rnd, l)
			for range 60 {
				c.step(limit, 8)
			}
			for key := range c.held {
				keepsToWindows(t, l, limit, window, c.held[key])
			}
			sum.add(c)
			require.NoError(t, c.m.Close())
		}
	}
	sum.report(t)
	require.Greater(t, sum.waits, 10000)
	require.Greater(t, sum.cancels, 10000)
	require.Greater(t, sum.undone, 5000)
}

func keepsToWindows(t *testing.T, l engine.Limit, limit, window int64, all []held) {
	t.Helper()
	slices.SortStableFunc(all, func(a, b held) int { return int(a.At - b.At) })
	counts := map[int64]int64{}
	for i, h := range all {
		k, e := h.At/window, h.At%window
		counts[k] += h.N
		switch l.Algorithm() {
		case engine.AlgorithmFixedWindow:
			require.LessOrEqual(t, counts[k], limit)
		case engine.AlgorithmSlidingWindow:
			require.LessOrEqual(t, counts[k-1]*(window-e)+counts[k]*window, limit*window)
		case engine.AlgorithmSlidingLog:
			sum := int64(0)
			for j := i; j >= 0 && all[j].At > h.At-window; j-- {
				sum += all[j].N
			}
			require.LessOrEqual(t, sum, limit)
		}
	}
}
