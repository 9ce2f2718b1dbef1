package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
)

// fake returns a limiter of l under a fake clock.
func fake(t *testing.T, l engine.Limit, opts ...engine.Option) (*engine.Limiter[string], *enginetest.Clock) {
	t.Helper()
	clock := enginetest.NewClock()
	m, err := engine.New[string](l, append(opts, engine.WithClock(clock))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m, clock
}

// TestReservationsGivenUp is scenario P09: what is given back of a cancelled reservation.
func TestReservationsGivenUp(t *testing.T) {
	t.Run("whole, if nobody followed", func(t *testing.T) {
		m, clock := fake(t, engine.TokenBucket(engine.PerSecond(10), 20))
		require.Zero(t, m.Reserve("a", 20).Delay())
		r := m.Reserve("a", 10)
		require.Equal(t, time.Second, r.Delay())
		clock.Set(500 * time.Millisecond)
		require.True(t, r.Cancel())
		require.True(t, m.AllowN("a", 5))
		require.Equal(t, 100*time.Millisecond, m.Take("a", 1).RetryAfter)
	})
	t.Run("as if it never was, the others keep their times", func(t *testing.T) {
		m, clock := fake(t, engine.TokenBucket(engine.PerSecond(10), 20))
		require.Zero(t, m.Reserve("a", 15).Delay())
		clock.Set(100 * time.Millisecond)
		second := m.Reserve("a", 10)
		require.Equal(t, 400*time.Millisecond, second.Delay())
		clock.Set(200 * time.Millisecond)
		third := m.Reserve("a", 2)
		require.Equal(t, 500*time.Millisecond, third.Delay())
		clock.Set(300 * time.Millisecond)
		require.True(t, second.Cancel())
		passed := 0
		for m.Allow("a") {
			passed++
		}
		require.Equal(t, 6, passed, "20 - 15 + 3 - 2")
		require.Equal(t, 400*time.Millisecond, third.Delay())
	})
	t.Run("nothing that a later one needs", func(t *testing.T) {
		m, clock := fake(t, engine.TokenBucket(engine.PerSecond(1), 10))
		var r []*engine.Reservation[string]
		for i := range 4 {
			r = append(r, m.Reserve("a", 10))
			require.Equal(t, time.Duration(i)*10*time.Second, r[i].Delay())
		}
		clock.Set(time.Second)
		require.True(t, r[1].Cancel())
		require.True(t, r[2].Cancel())
		clock.Set(30 * time.Second)
		require.Zero(t, r[3].Delay(), "it acts now")
		require.False(t, m.AllowN("a", 10), "20 would act at one instant")
	})
	t.Run("all, once all are given up, in any order", func(t *testing.T) {
		for _, order := range [][3]int{{1, 2, 3}, {3, 2, 1}, {2, 3, 1}, {1, 3, 2}} {
			m, _ := fake(t, engine.TokenBucket(engine.PerSecond(1), 10))
			var r []*engine.Reservation[string]
			for range 4 {
				r = append(r, m.Reserve("a", 10))
			}
			for _, i := range order {
				require.True(t, r[i].Cancel())
			}
			require.Equal(t, 10*time.Second, m.Take("a", 10).RetryAfter)
		}
	})
	t.Run("not whole because the word came back", func(t *testing.T) {
		m, clock := fake(t, engine.TokenBucket(engine.PerSecond(1), 20))
		require.True(t, m.AllowN("a", 20))
		first, second := m.Reserve("a", 12), m.Reserve("a", 10)
		third := m.Reserve("a", 10)
		require.True(t, first.Cancel()) // 10 of the 12: the word is what second left
		require.True(t, second.Cancel())
		clock.Set(32 * time.Second)
		require.Zero(t, third.Delay(), "it acts now")
		require.EqualValues(t, 10, m.Peek("a").Remaining)
	})
	t.Run("once, and in time", func(t *testing.T) {
		m, clock := fake(t, engine.TokenBucket(engine.PerSecond(10), 20))
		m.Reserve("a", 20)
		first, late := m.Reserve("a", 5), m.Reserve("a", 5)
		require.True(t, late.Cancel())
		require.False(t, late.Cancel())
		require.Equal(t, 600*time.Millisecond, m.Take("a", 1).RetryAfter)
		clock.Set(501 * time.Millisecond)
		before := m.Peek("a")
		require.False(t, first.Cancel(), "its time has passed")
		require.Equal(t, before, m.Peek("a"))
	})
	t.Run("what was granted at once, less what was earned since", func(t *testing.T) {
		m, clock := fake(t, engine.TokenBucket(engine.PerSecond(10), 20))
		r := m.Reserve("a", 20)
		clock.Set(500 * time.Millisecond)
		require.True(t, r.Cancel())
		require.EqualValues(t, 20, m.Peek("a").Remaining)
		require.False(t, r.Cancel())
	})
}

// TestWaitErrorTexts say what was asked for, and by how much it was too long.
func TestWaitErrorTexts(t *testing.T) {
	for text, e := range map[string]*engine.WaitError{
		"engine: can never pass: 7 permits asked for":                                {Err: engine.ErrNever, Asked: 7, Wait: engine.Never},
		"engine: queue full: 7 permits asked for, which would come in 2s":            {Err: engine.ErrQueueFull, Asked: 7, Wait: 2 * time.Second},
		"engine: no room for a new key: 7 permits asked for, which would come in 2s": {Err: engine.ErrNoRoom, Asked: 7, Wait: 2 * time.Second},
		"engine: context deadline exceeded: 7 permits asked for, which would come in 2s; the context ends in 1s": {
			Err: context.DeadlineExceeded, Asked: 7, Wait: 2 * time.Second, Most: time.Second,
		},
	} {
		require.EqualError(t, e, text)
	}
	synctest.Test(t, func(t *testing.T) {
		m := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), engine.WithQueue(0, 0))
		require.NoError(t, m.Wait(t.Context(), "a", 1), "which need not wait")
		var refused *engine.WaitError
		require.ErrorAs(t, m.Wait(t.Context(), "a", 1), &refused)
		require.Equal(t, engine.WaitError{Err: engine.ErrQueueFull, Asked: 1, Wait: time.Second}, *refused)
	})
}

// TestReserveRefuses at once what would come later than the caller waits, or never.
func TestReserveRefuses(t *testing.T) {
	m, clock := fake(t, engine.TokenBucket(engine.PerSecond(1), 10), engine.WithMaxWait(5*time.Second))
	require.NoError(t, m.Reserve("a", 10).Err())
	r := m.Reserve("a", 6)
	require.ErrorIs(t, r.Err(), engine.ErrMaxWait)
	require.False(t, r.OK())
	require.Equal(t, engine.Never, r.Delay())
	require.False(t, r.Cancel())
	var wait *engine.WaitError
	require.ErrorAs(t, r.Err(), &wait)
	require.Equal(t, 6*time.Second, wait.Wait)
	require.Equal(t, "engine: would wait too long: 6 permits asked for, which would come in 6s; WithMaxWait allows 5s", wait.Error())
	require.NoError(t, m.Reserve("a", 5).Err(), "exactly as long as it may")
	for _, n := range []int64{11, -1} {
		r = m.Reserve("a", n)
		require.ErrorIs(t, r.Err(), engine.ErrNever)
		require.ErrorAs(t, r.Err(), &wait)
		require.Equal(t, engine.Never, wait.Wait)
	}
	require.True(t, m.Reserve("a", 0).OK())
	clock.Set(5 * time.Second)
	require.Equal(t, time.Second, m.Take("a", 1).RetryAfter, "nothing was taken by what was refused")

	zero, _ := fake(t, engine.TokenBucket(engine.Rate{Tokens: 0, Per: time.Minute}, 1))
	passed := 0
	for range 1000 {
		if r := zero.Reserve("a", 1); r.OK() {
			passed++
		} else {
			require.ErrorIs(t, r.Err(), engine.ErrNever)
		}
	}
	require.Equal(t, 1, passed)
}

// TestQueueBounds: a place is free again when its time has come or it is given up.
func TestQueueBounds(t *testing.T) {
	m, clock := fake(t, engine.TokenBucket(engine.PerSecond(1), 3), engine.WithQueue(5, 2))
	require.NoError(t, m.Reserve("a", 3).Err())
	first := m.Reserve("a", 3)
	require.NoError(t, first.Err())
	require.ErrorIs(t, m.Reserve("a", 3).Err(), engine.ErrQueueFull, "6 permits")
	require.NoError(t, m.Reserve("a", 1).Err())
	require.ErrorIs(t, m.Reserve("a", 1).Err(), engine.ErrQueueFull, "3 calls")
	require.NoError(t, m.Reserve("b", 3).Err(), "another key's queue is its own")
	require.True(t, first.Cancel())
	require.NoError(t, m.Reserve("a", 1).Err())
	require.ErrorIs(t, m.Reserve("a", 1).Err(), engine.ErrQueueFull)
	clock.Set(5 * time.Second)
	require.NoError(t, m.Reserve("a", 3).Err())
}

// TestReserveUnderEveryAlgorithm: reservations act at the first instants at which calls would pass,
// nobody passes by them, and the last one given up leaves all as it was.
func TestReserveUnderEveryAlgorithm(t *testing.T) {
	for name, limit := range everyAlgorithm(4) {
		if limit.Algorithm() == engine.AlgorithmLeakyQueue {
			continue // it has its own bound, see TestReserveOnAQueue
		}
		t.Run(name, func(t *testing.T) {
			m, clock := fake(t, limit)
			polled, other := fake(t, limit)
			clock.Set(time.Minute)
			other.Set(time.Minute)
			for i := range 12 {
				n := int64(1 + i%3)
				before := m.Peek("a")
				r := m.Reserve("a", n)
				require.NoError(t, r.Err())
				if r.Delay() > 0 {
					require.False(t, m.Allow("a"), "nobody passes by")
					require.True(t, r.Cancel())
					require.Equal(t, before, m.Peek("a"), "as if it had never been")
					r = m.Reserve("a", n)
				}
				for {
					d := polled.Take("a", n)
					if d.Allowed {
						break
					}
					other.Advance(d.RetryAfter)
				}
				require.Equal(t, other.Now(), clock.Now()+r.Delay(), "call %d of %d", i, n)
			}
		})
	}
}

// TestReserveUnderSeveralLimits: for the time at which all of them let it act.
func TestReserveUnderSeveralLimits(t *testing.T) {
	for name, also := range everyAlgorithm(30) {
		if also.Algorithm() == engine.AlgorithmLeakyQueue {
			continue
		}
		m, clock := fake(t, engine.TokenBucket(engine.PerSecond(10), 10), engine.WithAlso(also))
		alone, _ := fake(t, also)
		for range 3 {
			require.NoError(t, alone.Reserve("a", 10).Err())
		}
		turn := alone.Reserve("a", 10)
		want := turn.Delay()
		require.True(t, turn.Cancel())
		require.Greater(t, want, 3*time.Second, name)

		require.Zero(t, m.Reserve("a", 10).Delay())
		require.Equal(t, time.Second, m.Reserve("a", 10).Delay(), name)
		require.Equal(t, 2*time.Second, m.Reserve("a", 10).Delay(), name)
		last := m.Reserve("a", 10)
		require.Equal(t, want, last.Delay(), name)
		require.True(t, last.Cancel())
		clock.Set(2 * time.Second)
		d := m.Take("a", 1)
		require.False(t, d.Allowed)
		require.Equal(t, alone.Take("a", 1).RetryAfter-2*time.Second, d.RetryAfter, name)
	}
}

// TestReserveAfterResetAndChange: safe to give up, and nothing is minted.
func TestReserveAfterResetAndChange(t *testing.T) {
	slow, fast := engine.TokenBucket(engine.PerSecond(1), 10), engine.TokenBucket(engine.PerSecond(2), 10)
	t.Run("reset", func(t *testing.T) {
		m, _ := fake(t, slow)
		m.Reserve("a", 10)
		r := m.Reserve("a", 10)
		m.Reset("a")
		require.True(t, m.AllowN("a", 10))
		require.False(t, r.Cancel())
		require.False(t, m.Allow("a"))
	})
	t.Run("forgotten", func(t *testing.T) {
		m, clock := fake(t, slow)
		m.Reserve("a", 10)
		r := m.Reserve("a", 10)
		clock.Set(time.Hour)
		m.Sweep()
		require.Zero(t, m.Len())
		require.True(t, m.AllowN("a", 10))
		require.False(t, r.Cancel())
		require.False(t, m.Allow("a"))
	})
	t.Run("changed", func(t *testing.T) {
		m, clock := fake(t, slow)
		m.Reserve("a", 10)
		r := m.Reserve("a", 10)
		require.NoError(t, m.SetLimit(fast))
		require.Equal(t, 5500*time.Millisecond, m.Take("a", 1).RetryAfter, "20 owed, at 2 a second")
		clock.Set(time.Second)
		require.True(t, r.Cancel())
		require.Equal(t, 500*time.Millisecond, m.Take("a", 1).RetryAfter, "10, less the 2 earned since the change")
		require.False(t, r.Cancel())
	})
	t.Run("changed twice", func(t *testing.T) {
		m, _ := fake(t, slow)
		m.Reserve("a", 10)
		r := m.Reserve("a", 10)
		for _, l := range []engine.Limit{fast, slow} {
			require.NoError(t, m.SetLimit(l))
			require.False(t, m.Allow("a"))
		}
		require.True(t, r.Cancel())
		require.Equal(t, 11*time.Second, m.Take("a", 1).RetryAfter, "nothing is given back")
	})
	t.Run("to a log and back", func(t *testing.T) {
		m, _ := fake(t, slow)
		m.Reserve("a", 10)
		r := m.Reserve("a", 10)
		require.NoError(t, m.SetLimit(engine.SlidingLog(10, 10*time.Second)))
		require.False(t, m.Allow("a"))
		r2 := m.Reserve("a", 1)
		require.NoError(t, r2.Err())
		require.NoError(t, m.SetLimit(slow))
		require.False(t, m.Allow("a"))
		retry := m.Take("a", 1).RetryAfter
		r.Cancel()
		r2.Cancel()
		require.Equal(t, retry, m.Take("a", 1).RetryAfter)
	})
}

// TestReserveAtTheCapOfKeys goes to the shared bucket, or nowhere.
func TestReserveAtTheCapOfKeys(t *testing.T) {
	for _, limit := range []engine.Limit{engine.TokenBucket(engine.PerSecond(1), 2), engine.SlidingLog(2, 2*time.Second)} {
		m, _ := fake(t, limit, engine.WithMaxKeys(1, engine.CapShared))
		m.AllowN("a", 2)
		require.Zero(t, m.Reserve("b", 2).Delay())
		r := m.Reserve("c", 2)
		require.Equal(t, 2*time.Second, r.Delay())
		require.True(t, r.Cancel())
		require.Equal(t, 2*time.Second, m.Reserve("d", 2).Delay())

		m, _ = fake(t, limit, engine.WithMaxKeys(1, engine.CapDeny))
		m.AllowN("a", 2)
		require.ErrorIs(t, m.Reserve("b", 2).Err(), engine.ErrNoRoom)
		require.Equal(t, 2*time.Second, m.Reserve("a", 2).Delay())

		m, _ = fake(t, limit, engine.WithMaxKeys(1, engine.CapAllow))
		m.AllowN("a", 2)
		for range 5 {
			require.Zero(t, m.Reserve("b", 2).Delay())
		}
	}
}

// TestReserveOnAQueue: the next turn, or none.
func TestReserveOnAQueue(t *testing.T) {
	m, _ := fake(t, engine.LeakyQueue(engine.PerSecond(2), 3))
	var r []*engine.Reservation[string]
	for i := range 3 {
		r = append(r, m.Reserve("a", 1))
		require.Equal(t, time.Duration(i)*500*time.Millisecond, r[i].Delay())
	}
	full := m.Reserve("a", 1)
	require.ErrorIs(t, full.Err(), engine.ErrQueueFull)
	var wait *engine.WaitError
	require.ErrorAs(t, full.Err(), &wait)
	require.Equal(t, 1500*time.Millisecond, wait.Wait)
	require.True(t, r[1].Cancel())
	require.ErrorIs(t, m.Reserve("a", 1).Err(), engine.ErrQueueFull, "the one behind keeps its turn")
	require.True(t, r[2].Cancel())
	require.Equal(t, 500*time.Millisecond, m.Reserve("a", 1).Delay(), "both turns are free now")
	require.ErrorIs(t, m.Wait(t.Context(), "a", 4), engine.ErrNever)
}
