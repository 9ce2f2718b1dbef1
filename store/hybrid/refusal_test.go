package hybrid_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
	"github.com/penstock-go/penstock/store/storetest"
)

// TestRefusalsAreKept until the call can pass, not longer, and a second at most.
func TestRefusalsAreKept(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(engine.TokenBucket(engine.Rate{Tokens: 1, Per: 400 * time.Millisecond}, 2))
		for range 2 {
			require.True(r, r.take(h).Allowed)
		}
		calls := h.Stats().Calls
		first := r.take(h)
		require.Equal(r, store.SourceStore, first.Source)
		require.Equal(r, 400*time.Millisecond, first.RetryAfter)
		for i := range 40 {
			d := r.take(h)
			require.Equal(r, store.SourceNegative, d.Source)
			require.Equal(r, first.RetryAfter-time.Duration(i)*10*time.Millisecond, d.RetryAfter)
			p, err := h.Peek(r.Context(), "key")
			require.NoError(r, err)
			require.Equal(r, d, p)
			time.Sleep(10 * time.Millisecond)
		}
		require.Equal(r, calls+1, h.Stats().Calls)
		require.True(r, r.take(h).Allowed, "it passes when it was told to come")
	})
}

// TestRefusalsOfOtherSizes: who asks for more than was refused is refused too, and waits longer; who
// asks for less is not.
func TestRefusalsOfOtherSizes(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(engine.TokenBucket(engine.PerSecond(10), 10))
		take := func(n int64) store.Decision {
			d, err := h.Take(r.Context(), "key", n)
			require.NoError(r, err)
			return d
		}
		require.True(r, take(7).Allowed)
		require.Equal(r, 200*time.Millisecond, take(5).RetryAfter)
		more := take(8)
		require.Equal(r, store.SourceNegative, more.Source)
		require.Equal(r, 500*time.Millisecond, more.RetryAfter.Round(time.Millisecond))
		require.Equal(r, engine.Never, take(11).RetryAfter, "never, whatever is kept in mind")
		require.True(r, take(3).Allowed)
		require.Equal(r, 500*time.Millisecond, take(5).RetryAfter, "put off by the call before")
	})
}

// TestARefusalForEverIsAskedForAgain after the time for which refusals are kept.
func TestARefusalForEverIsAskedForAgain(t *testing.T) {
	inBubble(t, func(r *rig) {
		h, other := r.process(engine.TokenBucket(engine.PerSecond(0), 1)), r.process(engine.TokenBucket(engine.PerSecond(0), 1))
		require.True(r, r.take(h).Allowed)
		require.Equal(r, engine.Never, r.take(h).RetryAfter)
		require.NoError(r, other.Reset(r.Context(), "key"))
		d := r.take(h)
		require.Equal(r, store.SourceNegative, d.Source)
		require.Equal(r, engine.Never, d.RetryAfter)
		time.Sleep(hybrid.DefaultNegativeCache)
		require.True(r, r.take(h).Allowed)
	})
}

// TestResetForgetsWhatIsKept: leases and refusals of the process that resets a key, and what is on its
// way.
func TestResetForgetsWhatIsKept(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		for r.take(h).Source != store.SourceNegative {
			require.Less(r, h.Stats().Calls, int64(1000))
		}
		synctest.Wait() // for requests ahead of need: one that begins after the reset brings a lease of the new key
		require.NoError(r, h.Reset(r.Context(), "key"))
		require.Zero(r, h.Stats().Held)
		require.True(r, r.take(h).Allowed)
		balanced(r.T, h)
	})
}

// TestResetForgetsWhatIsOnItsWay: an answer from before a reset that comes after it refuses nobody, however it was asked
// for, and whether the process knows of the key by then.
func TestResetForgetsWhatIsOnItsWay(t *testing.T) {
	single := func(r *rig, h *hybrid.Limiter) store.Decision { return r.take(h) }
	batch := func(r *rig, h *hybrid.Limiter) store.Decision {
		o := h.TakeBatch(r.Context(), []store.Request{{Key: "other", N: 1}, {Key: "key", N: 1}})
		require.NoError(r, o[1].Err)
		return o[1].Decision
	}
	hour := engine.TokenBucket(engine.PerHour(1), 1)
	for name, c := range map[string]struct {
		limit engine.Limit
		hot   bool
		call  func(*rig, *hybrid.Limiter) store.Decision
	}{
		"alone": {hour, false, single}, "batch": {hour, false, batch}, "flight": {perSecond(), true, single}, "batch of a hot key": {perSecond(), true, batch},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				h, other := r.process(c.limit), r.shared(c.limit)
				if c.hot {
					r.warm(h)
					time.Sleep(2 * life) // what it holds ends, its demand does not
				}
				_, taken, err := other.TakeUpTo(r.Context(), "key", 1, 1000)
				require.NoError(r, err)
				require.Positive(r, taken)
				r.faulty.SetAfter(storetest.Delay(10 * time.Millisecond))
				var caller sync.WaitGroup
				caller.Go(func() {
					d := c.call(r, h)
					require.False(r, d.Allowed, "it was used up: the test shows nothing")
					require.Equal(r, store.SourceStore, d.Source)
				})
				time.Sleep(time.Millisecond)
				r.faulty.SetAfter(nil)
				require.NoError(r, h.Reset(r.Context(), "key"))
				caller.Wait()
				d := r.take(h)
				require.True(r, d.Allowed, "%+v", d)
			})
		})
	}
}

// TestAShortStoreIsNotAskedTooOften: at twice the limit a process makes pacesPerLife requests in a life
// at most, admits what the limit earns, and whoever comes back when he was told to is let in.
func TestAShortStoreIsNotAskedTooOften(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		admitted, began := int64(0), time.Now()
		for time.Since(began) < 10*time.Second {
			if r.take(h).Allowed {
				admitted++
			}
			time.Sleep(500 * time.Microsecond)
		}
		s := balanced(r.T, h)
		require.LessOrEqual(r, admitted, int64(1000+10*1000))
		require.Greater(r, admitted, int64(1000+10*1000*95/100), "%+v", s)
		require.LessOrEqual(r, s.Calls, int64(4*10*time.Second/life)+10)
		d := r.take(h)
		for d.Allowed {
			d = r.take(h)
		}
		require.LessOrEqual(r, d.RetryAfter, life/4)
		time.Sleep(d.RetryAfter)
		require.True(r, r.take(h).Allowed)
	})
}

// TestHalfIsLeftToOthers when little is left: two processes under twice the load that the limit allows
// get about the same.
func TestHalfIsLeftToOthers(t *testing.T) {
	inBubble(t, func(r *rig) {
		processes, admitted := []*hybrid.Limiter{r.process(perSecond()), r.process(perSecond())}, [2]int{}
		for i := range 20_000 {
			if r.take(processes[i%2]).Allowed {
				admitted[i%2]++
			}
			time.Sleep(500 * time.Microsecond)
		}
		require.InDelta(r, 5500, admitted[0], 1100, admitted)
		require.InDelta(r, 5500, admitted[1], 1100, admitted)
	})
}

// TestWindowsLease too: an aligned window of 1000 a second, drained by three processes, with leases of a
// tenth of it.
func TestWindowsLease(t *testing.T) {
	for _, limit := range []engine.Limit{engine.FixedWindow(1000, time.Second), engine.SlidingWindow(1000, time.Second)} {
		t.Run(limit.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				processes := []*hybrid.Limiter{r.process(limit), r.process(limit), r.process(limit)}
				admitted, spent := 0, int64(0)
				for i := range 15_000 {
					if r.take(processes[i%3]).Allowed {
						admitted++
					}
					time.Sleep(200 * time.Microsecond)
				}
				for _, h := range processes {
					spent += balanced(t, h).Spent
				}
				require.LessOrEqual(t, admitted, 3*1000+100)
				require.Greater(t, admitted, 2*1000)
				require.Greater(t, spent, int64(1000))
			})
		})
	}
}
