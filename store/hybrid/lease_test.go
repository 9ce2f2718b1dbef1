package hybrid_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
	"github.com/penstock-go/penstock/store/storetest"
)

// inBubble runs a test where time is fake.
func inBubble(t *testing.T, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newRig(t)) })
}

// TestColdKeysAreTheStores: a call every 60 ms, with leases of 100 ms: each is the store's, to the
// permit, and nothing is held.
func TestColdKeysAreTheStores(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		for range 50 {
			d := r.take(h)
			require.Equal(t, store.SourceStore, d.Source)
			require.Equal(t, int64(999), d.Remaining)
			time.Sleep(60 * time.Millisecond)
		}
		require.Zero(t, balanced(r.T, h).Leased)
	})
}

// TestHotKeysAreServedFromLeases, with the next lease there before the one at hand is used up: no call
// but the first few waits for the store, though it takes a millisecond.
func TestHotKeysAreServedFromLeases(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.faulty.SetBefore(storetest.Delay(time.Millisecond))
		h := r.process(perSecond())
		waited, sources := 0, map[store.Source]int{}
		for i := range 2000 {
			began := time.Now()
			d := r.take(h)
			require.True(t, d.Allowed)
			sources[d.Source]++
			if time.Since(began) > 0 && i > 100 {
				waited++
			}
			time.Sleep(2 * time.Millisecond)
		}
		require.Zero(t, waited)
		s := balanced(r.T, h)
		require.Less(t, s.Calls, int64(2000/10), "%+v", s)
		require.Less(t, s.Wasted, s.Leased/20, "%+v", s)
		require.Greater(t, sources[store.SourceLease], 1900)
	})
}

// TestLeaseDecision: what a decision from a lease says is what the store would have said.
func TestLeaseDecision(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		r.warm(h)
		before := h.Stats()
		d, err := h.Peek(r.Context(), "key")
		require.NoError(t, err)
		require.Equal(t, store.SourceLease, d.Source)
		require.Equal(t, before, h.Stats(), "Peek charges nothing")
		d = r.take(h)
		require.Equal(t, store.SourceLease, d.Source)
		require.Equal(t, int64(1000), d.Limit)
		require.InDelta(t, 999, d.Remaining, 30)
		require.Zero(t, d.RetryAfter)
		require.LessOrEqual(t, d.ResetAfter, 30*time.Millisecond)
		require.NoError(t, d.Cause)
	})
}

// TestNothingOutlivesALease: what was not spent is lost when the life is over, and what comes too late
// is not spent at all.
func TestNothingOutlivesALease(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		r.warm(h)
		life, most := h.Slack()
		require.Equal(t, 100*time.Millisecond, life)
		require.Equal(t, int64(100), most)
		held := h.Stats().Held
		require.Positive(t, held)
		require.LessOrEqual(t, held, most)
		time.Sleep(life)
		require.NotEqual(t, store.SourceLease, r.take(h).Source)
		require.GreaterOrEqual(t, balanced(r.T, h).Wasted, held)
	})
}

// TestALifeBeginsWhenItIsAskedFor, not when it comes: the charge may have been made at once.
func TestALifeBeginsWhenItIsAskedFor(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		for h.Stats().Leased == 0 { // all at once, until one asks for a lease as well
			if h.Stats().Calls == 2 {
				r.faulty.SetAfter(storetest.Delay(10 * time.Millisecond))
			}
			r.take(h)
		}
		require.Positive(r, h.Stats().Held)
		time.Sleep(life - 10*time.Millisecond - 1)
		require.Equal(r, store.SourceLease, r.peek(h).Source)
		time.Sleep(time.Nanosecond)
		require.Equal(r, store.SourceStore, r.peek(h).Source)
	})
}

// TestAPartitionSpendsWhatIsHeld, and then follows the policy.
func TestAPartitionSpendsWhatIsHeld(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		r.warm(h)
		held := h.Stats().Held
		r.faulty.SetBefore(func(ctx context.Context, _ storetest.Call, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		})
		for range held {
			require.Equal(t, store.SourceLease, r.take(h).Source)
		}
		began := time.Now()
		d, err := h.Take(r.Context(), "key", 1)
		require.ErrorIs(t, err, store.ErrUnknownOutcome)
		require.Equal(t, store.SourceClosed, d.Source)
		require.LessOrEqual(t, time.Since(began), 2*store.DefaultDeadline)
		r.faulty.SetBefore(nil)
		require.True(t, r.take(h).Allowed, "it comes back by itself")
		balanced(r.T, h)
	})
}

// TestAPartitionWithAShare: under LocalShare a process goes on with its own part of the limit, and
// says so.
func TestAPartitionWithAShare(t *testing.T) {
	inBubble(t, func(r *rig) {
		h, err := hybrid.New(r.shared(perSecond(), store.WithProcesses(4)))
		require.NoError(t, err)
		defer h.Close()
		r.warm(h)
		r.faulty.SetBefore(func(context.Context, storetest.Call, string) error { return store.ErrUnavailable })
		sources := map[store.Source]int64{}
		for range 1000 {
			if d := r.take(h); d.Allowed {
				sources[d.Source]++
				require.Equal(t, d.Source == store.SourceLocal, d.Cause != nil)
			}
		}
		require.Equal(t, int64(250), sources[store.SourceLocal])
		require.LessOrEqual(t, sources[store.SourceLease], int64(100))
		require.Zero(t, sources[store.SourceStore])
	})
}

// TestARestartLosesTheLease and no more.
func TestARestartLosesTheLease(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond())
		r.warm(h)
		held := h.Stats().Held
		left := r.take(r.process(perSecond(), hybrid.WithSlack(0))).Remaining // another process
		require.InDelta(t, 999-held, left, 30)
		require.NoError(t, h.Close())
		require.Zero(t, h.Stats().Held)
		require.Equal(t, store.SourceStore, r.take(h).Source, "after Close the store decides")
		again := r.process(perSecond())
		require.Equal(t, store.SourceStore, r.take(again).Source)
		time.Sleep(life)
		require.Equal(t, int64(999), r.take(again).Remaining, "the rate makes up for it")
	})
}

// life of a lease under perSecond.
const life = 100 * time.Millisecond

// TestASlowStoreIsAskedForEachCall: a store for which leases would be over when they come.
func TestASlowStoreIsAskedForEachCall(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := r.process(perSecond(), hybrid.WithSlack(0.02)) // 20 ms
		r.faulty.SetBefore(storetest.Delay(30 * time.Millisecond))
		done := make(chan store.Source, 1000)
		for range 500 {
			go func() { done <- r.take(h).Source }()
			time.Sleep(time.Millisecond)
		}
		for range 500 {
			require.Equal(t, store.SourceStore, <-done)
		}
		require.Zero(t, balanced(r.T, h).Wasted)
		r.faulty.SetBefore(nil)
		for range 200 {
			r.take(h)
			time.Sleep(time.Millisecond)
		}
		require.Positive(t, h.Stats().Spent, "quick again")
	})
}

// TestStoreClockSteps: leases live by the process's own clock; a step back of the store's makes it
// refuse for a while, as it does without leases, and a step forward earns.
func TestStoreClockSteps(t *testing.T) {
	for name, step := range map[string]time.Duration{"back": -time.Hour, "forward": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := &stepping{origin: time.Now()}
				backend, err := store.NewBackend(store.NewMemory(time.Microsecond, clock))
				require.NoError(t, err)
				shared, err := backend.Limiter("test", perSecond(), store.WithPolicy(store.Closed))
				require.NoError(t, err)
				h, err := hybrid.New(shared)
				require.NoError(t, err)
				defer h.Close()
				r := &rig{T: t}
				r.warm(h)
				held := h.Stats().Held
				clock.step(step)
				for range held {
					require.Equal(t, store.SourceLease, r.take(h).Source)
				}
				time.Sleep(2 * hybrid.DefaultNegativeCache)
				admitted := 0
				for range 3000 {
					if r.take(h).Allowed {
						admitted++
					}
				}
				require.Greater(t, admitted, 500, "the key works again, from full")
				require.LessOrEqual(t, admitted, 1000+100, "and has nothing on top")
			})
		})
	}
}

// TestNoLeasesWhereTheyMakeNoSense: each decision is the store's, to the permit.
func TestNoLeasesWhereTheyMakeNoSense(t *testing.T) {
	for name, limit := range map[string]engine.Limit{
		"queue":       engine.LeakyQueue(engine.PerSecond(1000), 1000),
		"no refill":   engine.TokenBucket(engine.PerSecond(0), 1000),
		"small burst": engine.TokenBucket(engine.PerSecond(1000), 10),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				h := r.process(limit)
				for range 100 {
					require.NotEqual(t, store.SourceLease, r.take(h).Source)
				}
				life, most := h.Slack()
				require.Zero(t, life)
				require.Zero(t, most)
				require.Zero(t, h.Stats().Leased)
			})
		})
	}
}
