package engine_test

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/penstock-go/penstock/sharded"
	"github.com/stretchr/testify/require"
)

// constructors by name: a new algorithm adds a row.
var constructors = map[string]func(l oracle.TraceLimit) engine.Limit{
	"token_bucket": func(l oracle.TraceLimit) engine.Limit {
		return engine.TokenBucket(engine.Rate{Tokens: l.Limit, Per: time.Duration(l.WindowNanos)}, l.Burst)
	},
	"gcra": func(l oracle.TraceLimit) engine.Limit {
		return engine.GCRA(engine.Rate{Tokens: l.Limit, Per: time.Duration(l.WindowNanos)}, l.Burst)
	},
	"leaky_bucket": func(l oracle.TraceLimit) engine.Limit {
		return engine.LeakyBucket(engine.Rate{Tokens: l.Limit, Per: time.Duration(l.WindowNanos)}, l.Burst)
	},
	"fixed_window": func(l oracle.TraceLimit) engine.Limit {
		return engine.FixedWindow(l.Limit, time.Duration(l.WindowNanos))
	},
	"sliding_counter": func(l oracle.TraceLimit) engine.Limit {
		return engine.SlidingWindow(l.Limit, time.Duration(l.WindowNanos))
	},
	"sliding_log": func(l oracle.TraceLimit) engine.Limit {
		return engine.SlidingLog(l.Limit, time.Duration(l.WindowNanos))
	},
}

// TestTraces runs every recorded case of every built algorithm through the public API.
func TestTraces(t *testing.T) {
	traces, err := oracle.Traces()
	require.NoError(t, err)
	ran := map[string]int{}
	for _, trace := range traces {
		for _, algorithm := range trace.Algorithms() {
			limit, built := constructors[algorithm]
			if !built {
				continue
			}
			ran[algorithm]++
			l := engine.Must[string](limit(trace.Limit))
			require.NoError(t, trace.Check(func(key string, now, n int64) (bool, int64) {
				d := l.TakeAt(time.Duration(now), key, n)
				return d.Allowed, int64(d.RetryAfter)
			}), "%s as %s", trace.ID, algorithm)
		}
	}
	require.GreaterOrEqual(t, ran["token_bucket"], 21)
	require.GreaterOrEqual(t, ran["gcra"], 20)
	require.GreaterOrEqual(t, ran["sliding_log"], 6)
	require.GreaterOrEqual(t, ran["fixed_window"], 4)
	require.GreaterOrEqual(t, ran["sliding_counter"], 1)
}

// TestTakeAtEqualsOracle over random calls on several keys, a clock that steps back and leaps
// by centuries, sweeps and resets in between; every field of the decision.
func TestTakeAtEqualsOracle(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(seed, 3))
		tokens, per, burst := 1+rnd.Int64N(1000), time.Duration(1+rnd.Int64N(int64(time.Minute))), 1+rnd.Int64N(50)
		l := engine.Must[int](engine.TokenBucket(engine.Rate{Tokens: tokens, Per: per}, burst))
		model := oracle.NewKeyed[int](func() oracle.Model { return oracle.NewTokenBucket(tokens, per, burst) })
		now, latest := rnd.Int64()>>1, int64(math.MinInt64)
		for range 1500 {
			switch r := rnd.IntN(100); {
			case r == 0:
				now -= rnd.Int64N(int64(time.Second))
			case r == 1 && now < math.MaxInt64/2:
				now += rnd.Int64() >> rnd.IntN(30) / 2
			case r < 70:
				now += rnd.Int64N(int64(per)/tokens + 2)
			}
			key, n := rnd.IntN(4), rnd.Int64N(burst+2)
			if rnd.IntN(50) == 0 {
				l.Sweep()
			}
			d := l.TakeAt(time.Duration(now), key, n)
			latest = max(latest, now) // of the limiter, whatever was asked for
			want, retry := model.Take(key, latest, n)
			require.Equal(t, want, d.Allowed)
			require.Equal(t, time.Duration(retry), d.RetryAfter)
			require.Equal(t, burst, d.Limit)
			require.Equal(t, model.Remaining(key, latest), d.Remaining)
			require.Equal(t, time.Duration(model.ResetAfter(key, latest)), d.ResetAfter)
			peek := l.PeekAt(time.Duration(now), key)
			ok, wait := model.Peek(key, latest, 1)
			require.Equal(t, ok, peek.Allowed)
			require.Equal(t, time.Duration(wait), peek.RetryAfter)
		}
	}
}

func TestPermitsOutOfRange(t *testing.T) {
	for _, limit := range []engine.Limit{
		engine.TokenBucket(engine.PerSecond(1), 5), engine.SlidingLog(5, time.Second),
	} {
		l := engine.Must[string](limit)
		for _, n := range []int64{-1, math.MinInt64} {
			require.False(t, l.AllowN("a", n))
			d := l.Take("a", n)
			require.Equal(t, engine.Decision{Limit: 5, RetryAfter: engine.Never}, d)
		}
		for _, n := range []int64{6, math.MaxInt64} {
			d := l.Take("a", n)
			require.False(t, d.Allowed)
			require.Equal(t, engine.Never, d.RetryAfter)
			require.False(t, l.AllowN("a", n))
		}
		require.True(t, l.AllowN("a", 0))
		require.Equal(t, engine.Decision{Allowed: true, Limit: 5, Remaining: 5}, l.Take("a", 0))
		require.Zero(t, l.Len(), "none of this makes a slot")
		require.True(t, l.AllowN("a", 5))
		require.True(t, l.AllowN("a", 0), "nothing is always there")
		require.True(t, l.Take("a", 0).Allowed)
	}
}

// TestZeroLimits: scenario of a zero rate and a zero burst: one token at most, then never.
func TestZeroLimits(t *testing.T) {
	l := engine.Must[string](engine.TokenBucket(engine.PerMinute(0), 1))
	require.True(t, l.Allow("a"))
	for range 1000 {
		d := l.Take("a", 1)
		require.False(t, d.Allowed)
		require.Equal(t, engine.Never, d.RetryAfter)
		require.Equal(t, engine.Never, d.ResetAfter)
	}
	require.Zero(t, l.Sweep(), "what is never refilled is never forgotten")
	for _, limit := range []engine.Limit{
		engine.TokenBucket(engine.PerMinute(0), 0), engine.TokenBucket(engine.PerMinute(9), 0), engine.SlidingLog(0, time.Hour),
	} {
		d := engine.Must[string](limit).Take("a", 1)
		require.Equal(t, engine.Decision{RetryAfter: engine.Never}, d)
	}
}

func TestUnlimitedAndBlocked(t *testing.T) {
	u, b := engine.Must[int](engine.Unlimited()), engine.Must[int](engine.Blocked())
	for i := range 100 {
		require.True(t, u.Allow(i))
		require.True(t, u.AllowN(i, math.MaxInt64))
		require.Equal(t, engine.Decision{Allowed: true, Limit: math.MaxInt64, Remaining: math.MaxInt64}, u.Take(i, 7))
		require.True(t, u.Peek(i).Allowed)
		require.False(t, b.Allow(i))
		require.Equal(t, engine.Decision{RetryAfter: engine.Never}, b.Take(i, 7))
		require.Equal(t, engine.Decision{RetryAfter: engine.Never}, b.Peek(i))
		require.True(t, b.AllowN(i, 0))
		require.True(t, b.Take(i, 0).Allowed)
	}
	require.Zero(t, u.Len()+b.Len())
	u.Reset(1)
	b.Reset(1)
}

func TestHostileKeys(t *testing.T) {
	l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 1))
	huge := string(make([]byte, 1<<20))
	for _, key := range []string{"", "\x00", huge, huge + "x", "\xff\xfe", "a\x00b", "a"} {
		require.True(t, l.Allow(key))
		require.False(t, l.Allow(key))
		require.False(t, engine.AllowBytes(l, []byte(key)), "the same key as bytes")
	}
	require.Equal(t, 7, l.Len())
}

func TestAllowBytesIsAllow(t *testing.T) {
	l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 2))
	require.True(t, engine.AllowBytes(l, []byte("k")))
	require.True(t, l.Allow("k"))
	require.False(t, engine.AllowBytes(l, []byte("k")))
	g := engine.Must[string](engine.SlidingLog(1, time.Hour))
	require.True(t, engine.AllowBytes(g, []byte("k")))
	require.False(t, g.Allow("k"))
}

type pair struct{ client, endpoint string }

func TestKeyTypes(t *testing.T) {
	once(t, "a", "b")
	once(t, 1, -1)
	once(t, uint8(1), 255)
	once(t, pair{"a", "b"}, pair{"ab", ""})
	once(t, netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("::ffff:192.0.2.1"))
	once(t, [2]string{"a", "b"}, [2]string{"b", "a"})
	once(t, 1.5, -1.5)
	once(t, new(int), new(int))
	once(t, true, false)
	_, err := engine.New[any](engine.TokenBucket(engine.PerHour(1), 1))
	require.ErrorIs(t, err, sharded.ErrKeyType)
}

func once[K comparable](t *testing.T, a, b K) {
	t.Helper()
	l := engine.Must[K](engine.TokenBucket(engine.PerHour(1), 1))
	for _, key := range []K{a, b} {
		require.True(t, l.Allow(key))
		require.False(t, l.Allow(key))
	}
}

func TestReset(t *testing.T) {
	for _, limit := range []engine.Limit{engine.TokenBucket(engine.PerHour(1), 2), engine.SlidingLog(2, time.Hour)} {
		l := engine.Must[string](limit)
		l.Reset("unknown")
		require.True(t, l.AllowN("a", 2))
		require.True(t, l.AllowN("b", 2))
		l.Reset("a")
		require.True(t, l.AllowN("a", 2))
		require.False(t, l.Allow("b"), "another key")
	}
}

// TestPurgeWithAnEarlierClock: a sweep whose clock lies before a key's own time deletes nothing.
func TestPurgeWithAnEarlierClock(t *testing.T) {
	clock := enginetest.NewClock()
	for _, limit := range []engine.Limit{engine.TokenBucket(engine.PerSecond(1), 5), engine.SlidingLog(5, time.Second)} {
		clock.Set(10 * time.Second)
		l := engine.Must[string](limit, engine.WithClock(clock))
		require.True(t, l.AllowN("a", 5))
		clock.Set(9900 * time.Millisecond)
		require.Zero(t, l.Sweep())
		clock.Set(10 * time.Second)
		require.False(t, l.Allow("a"))
	}
}

// TestClockSteps: a step back of the user's clock neither mints nor starves.
func TestClockSteps(t *testing.T) {
	clock := enginetest.NewClock()
	clock.Set(time.Hour)
	l := engine.Must[string](engine.TokenBucket(engine.PerSecond(10), 10), engine.WithClock(clock))
	require.True(t, l.AllowN("a", 10))
	clock.Advance(-time.Minute)
	d := l.Take("a", 1)
	require.False(t, d.Allowed)
	require.Equal(t, 100*time.Millisecond, d.RetryAfter, "counted from the latest time seen")
	require.True(t, l.AllowN("b", 10), "a new key is full in the past as well")
	require.False(t, l.Allow("b"))
	clock.Set(time.Hour + 100*time.Millisecond)
	require.True(t, l.Allow("a"))
	require.True(t, l.Allow("b"))
	require.False(t, l.Allow("a"))
}

// TestTakeAtAfterAllow: a limiter that used its own clock goes on from there.
func TestTakeAtAfterAllow(t *testing.T) {
	l := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 1))
	require.True(t, l.Allow("a"))
	d := l.TakeAt(-time.Hour, "a", 1)
	require.False(t, d.Allowed, "time does not move back")
	require.LessOrEqual(t, d.RetryAfter, time.Hour)
	require.True(t, l.TakeAt(2*time.Hour, "a", 1).Allowed)
	require.False(t, l.Allow("a"), "nor behind a time that was passed in")
}

// TestEndsOfTime: the first and the last time there is are times like others.
func TestEndsOfTime(t *testing.T) {
	for _, limit := range []engine.Limit{engine.TokenBucket(engine.Rate{1 << 26, 1}, 5), engine.TokenBucket(engine.PerHour(1), 5), engine.SlidingLog(5, time.Hour)} {
		clock := enginetest.NewClock()
		a, b := engine.Must[string](limit), engine.Must[string](limit, engine.WithClock(clock))
		for _, now := range []time.Duration{math.MinInt64, math.MinInt64 + 1, 0, math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64} {
			clock.Set(now)
			for range 6 {
				a.TakeAt(now, "a", 1)
				b.Take("a", 1)
			}
			require.False(t, a.PeekAt(now, "a").Allowed)
			require.False(t, b.Allow("a"))
			a.Sweep()
			b.Sweep()
		}
	}
}

// TestKeysAreForgottenAndBounded: a million keys over ten minutes, swept every minute.
func TestKeysAreForgottenAndBounded(t *testing.T) {
	keys := 1_000_000
	if testing.Short() {
		keys = 100_000
	}
	clock := enginetest.NewClock()
	l := engine.Must[int](engine.TokenBucket(engine.PerSecond(10), 10), engine.WithClock(clock))
	step := 10 * time.Minute / time.Duration(keys)
	most := 0
	for i := range keys {
		clock.Advance(step)
		require.True(t, l.Allow(i))
		most = max(most, l.Len())
		if i%(keys/10) == 0 {
			l.Sweep()
		}
	}
	require.LessOrEqual(t, most, keys/10+int(100*time.Millisecond/step)+1)
	clock.Advance(2 * time.Minute)
	l.Sweep()
	require.Zero(t, l.Len())
}

// TestTakeAtAfterAllowOfALog: a log too goes on from the limiter's own clock.
func TestTakeAtAfterAllowOfALog(t *testing.T) {
	l := engine.Must[string](engine.SlidingLog(1, time.Hour))
	require.True(t, l.Allow("a"))
	d := l.TakeAt(-2*time.Hour, "a", 1)
	require.False(t, d.Allowed)
	require.LessOrEqual(t, d.RetryAfter, time.Hour)
	d3 := l.TakeAt(-2*time.Hour, "b", 1)
	require.True(t, d3.Allowed)
	require.False(t, l.TakeAt(-time.Hour, "b", 1).Allowed, "time moved back: an hour passed between -2h and -1h")
}
