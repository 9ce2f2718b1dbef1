package cases

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
)

// coarse is a limiter whose clock has ticks; skew is added to its times, late to its waits.
type coarse struct {
	Limiter
	tick, skew, late time.Duration
	err              error
}

func (l *coarse) TakeAt(now time.Duration, key string, n int64) engine.Decision {
	now += l.skew
	d := l.Limiter.TakeAt(now-now%l.tick, key, n)
	if d.RetryAfter > 0 {
		whole := wholeTicks(d.RetryAfter+l.tick-1, l.tick)
		d.RetryAfter = whole + l.late
	}
	return d
}

func (l *coarse) Err() error { return l.err }

// wrongCases counts the recorded cases that a limiter with ticks fails.
func wrongCases(t *testing.T, orders int, wrapped coarse) (wrong int, first []Mismatch) {
	t.Helper()
	recorded, err := Recorded()
	require.NoError(t, err)
	require.Len(t, recorded, 34)
	for _, c := range recorded {
		got := JudgeIn(c, Setting{
			Orders: orders, Tick: wrapped.tick, Origin: 20_000 * 24 * time.Hour,
			Build: func(spec limits.Spec) (Limiter, error) {
				l, err := Engine(spec)
				limiter := wrapped
				limiter.Limiter = l
				return &limiter, err
			},
		})
		if len(got) > 0 {
			wrong++
			first = append(first, got[0])
		}
	}
	return wrong, first
}

// The recorded cases hold in ticks too: a call that is to pass does so at the next tick at the latest.
func TestRecordedCasesInTicks(t *testing.T) {
	for _, tick := range []time.Duration{1, time.Microsecond} {
		wrong, first := wrongCases(t, 4, coarse{tick: tick})
		assert.Zero(t, wrong, "%v: %v", tick, first)
	}
}

// A limiter that is a tick early, or whose waits are a tick too short or too long, is not let off.
func TestTicksExcuseNothing(t *testing.T) {
	const tick = time.Microsecond
	for name, l := range map[string]coarse{
		"early":      {tick: tick, skew: tick},
		"short wait": {tick: tick, late: -tick},
		"long wait":  {tick: tick, late: 2 * tick},
	} {
		wrong, _ := wrongCases(t, 0, l)
		assert.GreaterOrEqual(t, wrong, 5, name)
	}
}

// A wait may be longer by less than a tick; by less than two once a call was made late.
func TestHowLongAWaitMayBe(t *testing.T) {
	const tick, want = 10 * time.Nanosecond, 105 * time.Nanosecond
	for slack, p := range map[time.Duration]player{tick: {tick: tick}, 2 * tick: {tick: tick, late: true}} {
		assert.True(t, p.near(want, want, 0))
		assert.True(t, p.near(want+slack-1, want, 0))
		assert.False(t, p.near(want+slack, want, 0))
		assert.False(t, p.near(want-1, want, 0))
		assert.True(t, p.near(want-3, want, 3), "a call made late waits less")
		assert.False(t, p.near(want-4, want, 3))
		assert.True(t, p.near(engine.Never, engine.Never, 0))
		assert.False(t, p.near(want, engine.Never, 0))
	}
	exact := player{tick: 1, late: true}
	assert.True(t, exact.near(want, want, 0))
	assert.False(t, exact.near(want+1, want, 0))
}

func TestCallsThatFail(t *testing.T) {
	wrong, first := wrongCases(t, 2, coarse{tick: 1, err: errors.New("the store is away")})
	assert.Equal(t, 34, wrong)
	assert.Equal(t, "the store is away", first[0].Got)
	assert.Equal(t, "an answer", first[0].Want)
	assert.Equal(t, 1, first[0].Call)
}

// Cases with ticks have whole ones, none before the origin, and limits that were let through.
func TestRandomTicks(t *testing.T) {
	const tick = time.Millisecond
	only := func(l engine.Limit) bool { return l.Capacity()%2 == 0 }
	source := NewRandomTicks(3, tick, only)
	due := 0
	for range 200 {
		c := source.Next(CallsPerCase)
		assert.True(t, c.OnTicks(tick))
		for i, call := range c.Calls {
			assert.GreaterOrEqual(t, *call.AtNanos, int64(0))
			assert.LessOrEqual(t, *call.AtNanos, int64(tickedSpan))
			if i > 0 && c.Calls[i-1].WantRetryAfterNanos != nil && *call.WantAllow && *call.AtNanos > *c.Calls[i-1].AtNanos {
				due++
			}
		}
		limit, err := limits.Build(c.Spec(c.Algorithm))
		require.NoError(t, err)
		assert.True(t, only(limit))
	}
	assert.Greater(t, due, 500, "calls that pass when they are due")
}
