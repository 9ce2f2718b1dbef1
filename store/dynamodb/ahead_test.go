package dynamodb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// pair is two processes on one table, each with a clock.
type pair struct {
	*testing.T
	limiters [2]*store.Shared
	clocks   [2]*enginetest.Clock
}

// onPairs runs a test on both emulators, for both ways to decide.
func onPairs(t *testing.T, limit engine.Limit, test func(p *pair)) {
	t.Helper()
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			client := dynamodbtest.Client(t, server.URL)
			for way, of := range ways {
				t.Run(way, func(t *testing.T) {
					p, table := &pair{T: t}, dynamodbtest.Table(t, client)
					for i := range p.limiters {
						p.clocks[i] = enginetest.NewClock()
						p.limiters[i] = on(t, of(server.OpenTable(t, client, table, fakeTime(p.clocks[i])...)), limit, store.WithDeadline(patient))
					}
					test(p)
				})
			}
		})
	}
}

// begin is a time since 1970 at which windows of all lengths used here begin.
const begin = 20_000 * 24 * time.Hour

// take lets process i take n permits when its clock is at begin + at.
func (p *pair) take(i int, at time.Duration, n int64) store.Decision {
	p.Helper()
	p.clocks[i].Set(begin + at)
	d, err := p.limiters[i].Take(p.Context(), "key", n)
	require.NoError(p, err)
	require.Equal(p, store.SourceStore, d.Source)
	return d
}

// TestSecondProcessBehind: its clock is 10 s behind that of the first, which has drained the bucket. It takes nothing,
// and turns nothing back: the first one's permits come when they are due, and not once more.
func TestSecondProcessBehind(t *testing.T) {
	for _, limit := range []engine.Limit{
		engine.TokenBucket(engine.PerSecond(2), 4), engine.GCRA(engine.PerSecond(2), 4),
		engine.LeakyBucket(engine.PerSecond(2), 4), engine.LeakyQueue(engine.PerSecond(2), 4),
	} {
		t.Run(limit.String(), func(t *testing.T) {
			onPairs(t, limit, func(p *pair) {
				const drained, next = 10 * time.Second, 500 * time.Millisecond
				refused := func(i int, at, wait time.Duration) {
					p.Helper()
					d := p.take(i, at, 1)
					require.False(p, d.Allowed)
					require.Equal(p, wait, d.RetryAfter)
				}
				for range 4 {
					require.True(p, p.take(0, drained, 1).Allowed)
				}
				refused(0, drained, next)
				refused(1, 0, drained+next)
				refused(0, drained, next)
				refused(0, drained+next-time.Microsecond, time.Microsecond)
				require.True(p, p.take(0, drained+next, 1).Allowed)
				refused(1, 0, drained+2*next)
				refused(0, drained+next, next)
				require.True(p, p.take(1, drained+2*next, 1).Allowed, "the second one's clock has been set right")
			})
		})
	}
}

// TestWindowThatAFasterClockHasBegun: whoever is behind takes nothing until it begins by his own clock, is told when
// that is, and then has what is left of it.
func TestWindowThatAFasterClockHasBegun(t *testing.T) {
	const window = 2 * time.Second
	for _, limit := range []engine.Limit{engine.FixedWindow(4, window), engine.SlidingWindow(4, window)} {
		t.Run(limit.String(), func(t *testing.T) {
			onPairs(t, limit, func(p *pair) {
				early := window - 300*time.Millisecond
				require.True(p, p.take(0, window, 1).Allowed)
				for _, n := range []int64{1, 3} {
					d := p.take(1, early, n)
					require.False(p, d.Allowed)
					require.Zero(p, d.Remaining)
					require.Equal(p, 300*time.Millisecond, d.RetryAfter)
				}
				d, err := p.limiters[1].Peek(p.Context(), "key")
				require.NoError(p, err)
				require.False(p, d.Allowed)
				_, taken, err := p.limiters[1].TakeUpTo(p.Context(), "key", 1, 4)
				require.NoError(p, err)
				require.Zero(p, taken)
				require.False(p, p.take(1, window-time.Microsecond, 1).Allowed)
				d = p.take(1, window, 3)
				require.True(p, d.Allowed, "what the one ahead has left")
				require.Zero(p, d.Remaining)
				require.False(p, p.take(0, window, 1).Allowed)
				require.Zero(p, p.limiters[0].Stats().Mismatches+p.limiters[1].Stats().Mismatches)
			})
		})
	}
}
