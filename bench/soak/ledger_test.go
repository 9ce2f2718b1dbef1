package main

import (
	"math"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/stretchr/testify/require"
)

// entry is permits entered at a time, known not to have acted before earliest.
type entry struct{ at, permits, earliest int64 }

func TestLedger(t *testing.T) {
	rate := engine.Rate{Tokens: 2, Per: 10} // a token is 5 units, a nanosecond 1
	for name, c := range map[string]struct {
		entries    []entry
		violations uint64
	}{
		"the burst at once":             {[]entry{{0, 3, 0}}, 0},
		"one more":                      {[]entry{{0, 3, 0}, {0, 1, 0}}, 1},
		"one more when it is earned":    {[]entry{{0, 3, 0}, {5, 1, 5}}, 0},
		"one more a nanosecond early":   {[]entry{{0, 3, 0}, {4, 1, 4}}, 1},
		"early, but it may have waited": {[]entry{{0, 3, -1}, {4, 1, 4}}, 0},
		"earned once only":              {[]entry{{0, 3, 0}, {5, 1, 5}, {9, 1, 9}}, 1},
		"idle and full again":           {[]entry{{0, 3, -9}, {15, 3, 15}, {15, 1, 15}}, 1},
		"nothing above full":            {[]entry{{0, 3, 0}, {1000, 3, 1000}, {1000, 1, 1000}}, 1},
		"an age later":                  {[]entry{{0, 3, 0}, {math.MaxInt64, 3, math.MaxInt64}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			l := newLedger(clock, rate, 3, 8)
			for _, e := range c.entries {
				clock.latest.Store(e.at)
				l.enter(7, e.permits, e.earliest)
			}
			require.Equal(t, c.violations, l.violations.Load())
			require.Equal(t, c.violations > 0, l.broken.Load() != nil)
			require.Equal(t, c.violations > 0, l.worstRatio() > 1)
			require.Equal(t, uint64(len(c.entries)), l.checks.Load())
		})
	}
}

// TestEarliest: a limiter's time is known to be that of a reading before the call, unless the clock
// stepped meanwhile; then what earlier calls read.
func TestEarliest(t *testing.T) {
	c := newClock()
	l := newLane("lane", c, engine.TokenBucket(engine.PerSecond(1), 1), nil)
	at := c.before(&l.passed)
	require.Equal(t, at.reading, c.after(&l.passed, at))
	first := at.reading
	at = c.before(&l.passed)
	c.step(-time.Hour)
	require.Equal(t, first, c.after(&l.passed, at))
	at = c.before(&l.passed)
	require.Less(t, at.reading, first)
	require.Equal(t, first, c.after(&l.passed, at))
	c.step(2 * time.Hour)
	at = c.before(&l.passed)
	require.Equal(t, at.reading, c.after(&l.passed, at))
}
