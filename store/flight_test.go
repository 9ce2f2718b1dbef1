package store_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

// swapping returns a storage with faults that only swaps.
func swapping() *storetest.Faulty {
	return storetest.NewFaulty(store.WithoutApply(store.NewMemory(time.Microsecond, nil)))
}

// answer is what one of several callers got.
type answer struct {
	d   store.Decision
	err error
}

// held returns a fault that holds back every operation of a kind until the channel is closed.
func held(kind storetest.Call) (storetest.Fault, chan struct{}) {
	release := make(chan struct{})
	return func(ctx context.Context, call storetest.Call, _ string) error {
		if call != kind {
			return nil
		}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, release
}

// takes starts a call, and returns where its answer comes.
func takes(ctx context.Context, l *store.Shared) <-chan answer {
	got := make(chan answer, 1)
	go func() {
		d, err := l.Take(ctx, "key", 1)
		got <- answer{d, err}
	}()
	synctest.Wait() // it is on its way, or waits for who is
	return got
}

// TestCallsShareAFlight: fifty callers at once need two flights, the first caller's and all others'.
func TestCallsShareAFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faulty := swapping()
		fault, release := held(storetest.CallGet)
		faulty.SetBefore(fault)
		l := limiter(t, faulty, engine.TokenBucket(engine.PerHour(1), 25), store.WithPolicy(store.Closed))
		var calls []<-chan answer
		for range 50 {
			calls = append(calls, takes(t.Context(), l))
		}
		close(release)
		for i, call := range calls {
			a := <-call
			require.NoError(t, a.err)
			require.Equal(t, i < 25, a.d.Allowed, "in the order in which they came")
		}
		require.Equal(t, 2, faulty.Executed(storetest.CallGet))
		require.Equal(t, 2, faulty.Executed(storetest.CallSwap))
	})
}

// TestWaitersLeave: who has not been taken along when his time is up was not charged; who has does not
// know; and the lead goes on to those who still wait.
func TestWaitersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faulty := swapping()
		fault, release := held(storetest.CallGet)
		faulty.SetBefore(fault)
		l := limiter(t, faulty, engine.TokenBucket(engine.PerHour(1), 25), store.WithPolicy(store.Closed))
		brief, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		first := takes(t.Context(), l)
		gone := takes(brief, l)
		stays := takes(t.Context(), l)
		a := <-gone
		require.ErrorIs(t, a.err, store.ErrUnavailable)
		require.ErrorIs(t, a.err, context.DeadlineExceeded)

		second, releaseSecond := held(storetest.CallSwap)
		faulty.SetBefore(second)
		close(release) // the first hangs at its swap now, then those who stayed do
		synctest.Wait()
		brief, cancelSecond := context.WithTimeout(t.Context(), 2*time.Millisecond)
		defer cancelSecond()
		aboard := takes(brief, l)
		third, releaseThird := held(storetest.CallSwap)
		faulty.SetBefore(third)
		close(releaseSecond)
		require.True(t, (<-first).d.Allowed)
		synctest.Wait()
		a = <-aboard
		require.ErrorIs(t, a.err, store.ErrUnknownOutcome)
		close(releaseThird)
		require.True(t, (<-stays).d.Allowed)
		synctest.Wait()

		faulty.SetBefore(nil)
		d, err := l.Peek(t.Context(), "key")
		require.NoError(t, err)
		require.Equal(t, int64(22), d.Remaining, "the first, who stayed, and who does not know")
	})
}

// TestLeaderLeaves: those whom a leader has taken along do not pay for its impatience if nothing was
// charged.
func TestLeaderLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faulty := swapping()
		fault, release := held(storetest.CallGet)
		faulty.SetBefore(fault)
		l := limiter(t, faulty, engine.TokenBucket(engine.PerHour(1), 25), store.WithPolicy(store.Closed))
		first := takes(t.Context(), l)
		ctx, cancel := context.WithCancel(t.Context())
		leader := takes(ctx, l)
		crew := takes(t.Context(), l)
		second, releaseSecond := held(storetest.CallGet)
		faulty.SetBefore(second)
		close(release)
		require.NoError(t, (<-first).err)
		synctest.Wait() // the second leader hangs, with a crew of one
		cancel()
		require.ErrorIs(t, (<-leader).err, context.Canceled)
		close(releaseSecond)
		a := <-crew
		require.NoError(t, a.err)
		require.True(t, a.d.Allowed)
		require.Equal(t, int64(23), a.d.Remaining)
	})
}

// TestLeadPassesAllWhoLeft: nobody who has left is made the leader.
func TestLeadPassesAllWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faulty := swapping()
		fault, release := held(storetest.CallGet)
		faulty.SetBefore(fault)
		l := limiter(t, faulty, engine.TokenBucket(engine.PerHour(1), 25), store.WithPolicy(store.Closed))
		ctx, cancel := context.WithCancel(t.Context())
		first := takes(t.Context(), l)
		gone := takes(ctx, l)
		cancel()
		require.Error(t, (<-gone).err)
		close(release)
		require.NoError(t, (<-first).err)
		require.NoError(t, (<-takes(t.Context(), l)).err)
	})
}

// TestStoragePanics: a panic reaches the caller, and neither blocks the key nor its node.
func TestStoragePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faulty := swapping()
		faulty.SetBefore(func(context.Context, storetest.Call, string) error { panic("broken") })
		l := limiter(t, faulty, engine.TokenBucket(engine.PerHour(1), 25), store.WithPolicy(store.Closed))
		for range 3 {
			require.PanicsWithValue(t, "broken", func() { _, _ = l.Take(t.Context(), "key", 1) })
		}
		faulty.SetBefore(nil)
		d, err := l.Take(t.Context(), "key", 1)
		require.NoError(t, err)
		require.True(t, d.Allowed)
	})
}

// TestLostRaces: another writer wins k times. After three the call comes out right, with one charge;
// always: it is an error of the store, and no limit (scenario Y02).
func TestLostRaces(t *testing.T) {
	for wins := range 6 {
		synctest.Test(t, func(t *testing.T) {
			memory := store.NewMemory(time.Microsecond, nil)
			faulty := storetest.NewFaulty(store.WithoutApply(memory))
			l := limiter(t, faulty, engine.FixedWindow(1000, 365*24*time.Hour), store.WithPolicy(store.Closed))
			other := limiter(t, store.WithoutApply(memory), engine.FixedWindow(1000, 365*24*time.Hour))
			left := wins
			faulty.SetBefore(func(ctx context.Context, call storetest.Call, _ string) error {
				if call == storetest.CallSwap && left > 0 {
					left--
					_, err := other.Take(ctx, "key", 100)
					return err
				}
				return nil
			})
			d, err := l.Take(t.Context(), "key", 1)
			after, peekErr := other.Peek(t.Context(), "key")
			require.NoError(t, peekErr)
			if wins < 4 {
				require.NoError(t, err)
				require.True(t, d.Allowed)
				require.Equal(t, int64(999-100*wins), after.Remaining)
				return
			}
			require.ErrorIs(t, err, store.ErrContended)
			require.NotErrorIs(t, err, store.ErrUnavailable)
			require.Equal(t, int64(600), after.Remaining, "nothing was charged")
			require.Equal(t, uint64(1), l.Stats().Contended)
			require.Equal(t, uint64(4), l.Stats().Retries)
			require.Zero(t, l.Stats().OpenBreakers)
		})
	}
}
