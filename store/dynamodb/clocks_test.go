package dynamodb_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// TestClocksApart: processes whose clocks are up to D apart admit at most B + R*(W + D) in any time W: the
// difference counts once, however often they take turns. And it is no more than that which it costs:
// the bound without D is exceeded.
func TestClocksApart(t *testing.T) {
	const (
		rate, burst = 10, 5
		apart       = 3 * time.Second
		seconds     = 20
	)
	server := dynamodbtest.Minidyn(t)
	client := dynamodbtest.Client(t, server.URL)
	table := dynamodbtest.Table(t, client)
	leads := [3]time.Duration{0, apart / 2, apart}
	var clocks [3]*enginetest.Clock
	var limiters [3]*store.Shared
	for i := range limiters {
		clocks[i] = enginetest.NewClock()
		limiters[i] = on(t, server.OpenTable(t, client, table, fakeTime(clocks[i])...),
			engine.TokenBucket(engine.PerSecond(rate), burst), store.WithDeadline(patient))
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	now := time.Duration(time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC).UnixNano())
	var admitted []time.Duration
	for begin, end := now, now+seconds*time.Second; now < end; now += time.Duration(rnd.Int64N(int64(40 * time.Millisecond))) {
		i := 0 // the one that is behind, alone, and then all
		if now-begin > seconds*time.Second/2 {
			i = rnd.IntN(3)
		}
		clocks[i].Set(now + leads[i])
		d, err := limiters[i].Take(t.Context(), "key", 1)
		require.NoError(t, err)
		if d.Allowed {
			admitted = append(admitted, now)
		}
	}
	exceeds := false
	for first := range admitted {
		for last := first; last < len(admitted); last++ {
			within := (admitted[last] - admitted[first]).Seconds()
			n := float64(last - first + 1)
			require.LessOrEqual(t, n, burst+rate*(within+apart.Seconds()))
			exceeds = exceeds || n > burst+rate*within
		}
	}
	require.True(t, exceeds, "the clocks made no difference: the test shows nothing")
}

// TestWindowsWithClocksApart: each window admits its limit, whatever the clocks: those that are in it, those that have
// not reached it, and those that have left it.
func TestWindowsWithClocksApart(t *testing.T) {
	const (
		permits = 5
		window  = time.Second
	)
	for _, limit := range []engine.Limit{engine.FixedWindow(permits, window), engine.SlidingWindow(permits, window)} {
		for way, of := range ways {
			t.Run(limit.String()+"/"+way, func(t *testing.T) {
				server := dynamodbtest.Minidyn(t)
				client := dynamodbtest.Client(t, server.URL)
				table := dynamodbtest.Table(t, client)
				var clocks [3]*enginetest.Clock
				var limiters [3]*store.Shared
				for i := range limiters {
					clocks[i] = enginetest.NewClock()
					limiters[i] = on(t, of(server.OpenTable(t, client, table, fakeTime(clocks[i])...)), limit, store.WithDeadline(patient))
				}
				rnd := rand.New(rand.NewPCG(1, 2))
				now := time.Duration(time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC).UnixNano())
				admitted := map[time.Duration]int{}
				for end := now + 40*window; now < end; now += time.Duration(rnd.Int64N(int64(window / 10))) {
					i := rnd.IntN(len(limiters))
					own := now + time.Duration(i)*700*time.Millisecond
					clocks[i].Set(own)
					d, err := limiters[i].Take(t.Context(), "key", 1)
					require.NoError(t, err)
					if d.Allowed {
						admitted[own/window]++
					}
				}
				full := 0
				for number, n := range admitted {
					require.LessOrEqual(t, n, permits, "window %d", number)
					if n == permits {
						full++
					}
				}
				require.Positive(t, full, "no window was used up: the test shows nothing")
			})
		}
	}
}
