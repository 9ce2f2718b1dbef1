package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/stretchr/testify/require"
)

// TestCapPolicies: the policy meets new keys only, and a counter says how often.
func TestCapPolicies(t *testing.T) {
	for _, limit := range []engine.Limit{engine.TokenBucket(engine.PerHour(1), 2), engine.SlidingLog(2, time.Hour)} {
		for policy, want := range map[engine.CapPolicy]struct {
			allowed                   int
			shared, denied, uncounted uint64
			retry                     time.Duration
		}{
			engine.CapShared: {allowed: 2, shared: 10},
			engine.CapDeny:   {allowed: 0, denied: 10, retry: time.Hour},
			engine.CapAllow:  {allowed: 10, uncounted: 10},
		} {
			l := engine.Must[string](limit, engine.WithMaxKeys(3, policy), engine.WithClock(enginetest.NewClock()))
			for _, key := range []string{"", "one", "two"} {
				require.True(t, l.Allow(key))
			}
			allowed := 0
			for i := range 10 {
				peek := l.Peek(fmt.Sprint("new", i))
				d := l.Take(fmt.Sprint("new", i), 1)
				require.Equal(t, d.Allowed, peek.Allowed)
				require.Equal(t, d.RetryAfter, peek.RetryAfter)
				require.EqualValues(t, 2, d.Limit)
				if d.Allowed {
					allowed++
				} else {
					require.Positive(t, d.RetryAfter)
				}
				if want.retry > 0 {
					require.Equal(t, want.retry, d.RetryAfter)
				}
			}
			name := fmt.Sprint(limit, " policy ", policy)
			require.Equal(t, want.allowed, allowed, name)
			require.Equal(t, 3, l.Len(), name)
			s := l.Stats()
			require.Equal(t, [3]uint64{want.shared, want.denied, want.uncounted}, [3]uint64{s.CapShared, s.CapDenied, s.CapUncounted}, name)
			for _, key := range []string{"", "one", "two"} {
				require.True(t, l.Allow(key), "a known key has its own")
				require.False(t, l.Allow(key), "and the flood did not reset it")
			}
		}
	}
}

// TestCapMakesRoom: a key that equals new gives its place to a new one; the cap is never passed.
func TestCapMakesRoom(t *testing.T) {
	clock := enginetest.NewClock()
	l := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), engine.WithMaxKeys(2, engine.CapDeny), engine.WithClock(clock))
	for i := range 100 {
		for _, key := range []string{"", "one", "two", "three", fmt.Sprint(i)} {
			require.True(t, l.Allow(key))
			require.LessOrEqual(t, l.Len(), 2)
			clock.Advance(time.Second)
		}
	}
}

// TestFloodResetsNobody: random keys far beyond the cap, under each policy.
func TestFloodResetsNobody(t *testing.T) {
	for _, policy := range []engine.CapPolicy{engine.CapShared, engine.CapDeny, engine.CapAllow} {
		l := engine.Must[int](engine.TokenBucket(engine.PerHour(1), 1), engine.WithMaxKeys(1000, policy))
		for i := range 100 {
			require.True(t, l.Allow(-1-i))
		}
		for i := range 200_000 {
			l.Allow(i)
			require.LessOrEqual(t, l.Len(), 1000)
		}
		for i := range 100 {
			require.False(t, l.Allow(-1-i), "an attacker's flood reset a limit")
		}
	}
}

// TestPeekIsWhatTakeWouldAnswerAtTheCap: a key that equals new gives its place to a new one,
// so a peek must not call the table full.
func TestPeekIsWhatTakeWouldAnswerAtTheCap(t *testing.T) {
	clock := enginetest.NewClock()
	l := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), engine.WithMaxKeys(1, engine.CapDeny), engine.WithClock(clock))
	require.True(t, l.Allow("a"))
	require.False(t, l.Peek("b").Allowed)
	clock.Advance(time.Second)
	require.True(t, l.Peek("b").Allowed)
	require.Equal(t, 1, l.Len(), "a peek drops nobody")
	require.True(t, l.Allow("b"))
	require.False(t, l.Peek("a").Allowed)
}
