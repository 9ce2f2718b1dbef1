package cases

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
)

func TestRandomCasesPass(t *testing.T) {
	source := NewRandom(1)
	for range 500 {
		c := source.Next(CallsPerCase)
		if mismatches := Judge(c, Engine, 4); !assert.Empty(t, mismatches) {
			line, err := json.Marshal(c)
			require.NoError(t, err)
			t.Fatalf("the case: %s", line)
		}
	}
}

func TestRandomIsTheSameForTheSameSeed(t *testing.T) {
	text := func(seed uint64) string {
		source := NewRandom(seed)
		line, err := json.Marshal([]Case{source.Next(50), source.Next(3)})
		require.NoError(t, err)
		return string(line)
	}
	first, again := text(7), text(7)
	assert.Equal(t, first, again)
	assert.NotEqual(t, first, text(8))
}

// What is written as JSON is a case that can be kept and checked again.
func TestRandomCasesCanBeKept(t *testing.T) {
	source := NewRandom(2)
	for range 50 {
		c := source.Next(20)
		line, err := json.Marshal(c)
		require.NoError(t, err)
		again, err := Parse(line)
		require.NoError(t, err)
		require.Equal(t, c, again)
	}
}

// The random calls must reach what they are for.
func TestRandomReachesTheCorners(t *testing.T) {
	seen := map[string]bool{}
	source := NewRandom(3)
	for range 400 {
		c := source.Next(CallsPerCase)
		seen[c.Algorithm] = true
		mark(seen, c)
	}
	for _, corner := range []string{
		limits.TokenBucket, limits.FixedWindow, limits.SlidingWindow, limits.SlidingLog, "allowed", "denied", "never", "n zero", "n negative", "due exactly",
		"a nanosecond early", "step back", "leap of a year", "same time", "negative time", "burst above 2^30", "slower than 1 a day", "faster than 1e9/s",
		"not exact",
	} {
		assert.True(t, seen[corner], corner)
	}
}

func mark(seen map[string]bool, c Case) {
	tokens, per := *c.Limit.Limit, time.Duration(*c.Limit.WindowNanos)
	seen["burst above 2^30"] = seen["burst above 2^30"] || c.Limit.Burst != nil && *c.Limit.Burst > 1<<30
	limit, err := limits.Build(c.Spec(c.Algorithm))
	seen["not exact"] = seen["not exact"] || err == nil && !limit.Exact()
	seen["slower than 1 a day"] = seen["slower than 1 a day"] || float64(tokens)/per.Hours() < 1.0/24
	seen["faster than 1e9/s"] = seen["faster than 1e9/s"] || float64(tokens)/per.Seconds() > 1e9
	last := c.Calls[0]
	for i, call := range c.Calls {
		seen["allowed"] = seen["allowed"] || *call.WantAllow
		seen["denied"] = seen["denied"] || !*call.WantAllow && *call.WantRetryAfterNanos > 0
		seen["never"] = seen["never"] || !*call.WantAllow && *call.WantRetryAfterNanos == -1 && *call.N > 0
		seen["n zero"] = seen["n zero"] || *call.N == 0
		seen["n negative"] = seen["n negative"] || *call.N < 0
		seen["negative time"] = seen["negative time"] || *call.AtNanos < 0
		if i == 0 {
			continue
		}
		gap := *call.AtNanos - *last.AtNanos
		seen["step back"] = seen["step back"] || gap < 0
		seen["same time"] = seen["same time"] || gap == 0
		seen["leap of a year"] = seen["leap of a year"] || gap > int64(365*24*time.Hour)
		if want := last.WantRetryAfterNanos; want != nil && *want > 1 && *call.Key == *last.Key && *call.N == *last.N {
			seen["due exactly"] = seen["due exactly"] || gap == *want && *call.WantAllow
			seen["a nanosecond early"] = seen["a nanosecond early"] || gap == *want-1 && !*call.WantAllow && *call.WantRetryAfterNanos == 1
		}
		last = call
	}
}

// Faults too small for most cases written by hand must be found at random.
func TestRandomSeesABrokenLimiter(t *testing.T) {
	for name, build := range map[string]Build{
		"late by a nanosecond": breakWith(func(_ int64, d engine.Decision) engine.Decision {
			if d.RetryAfter > 0 {
				d.RetryAfter++
			}
			return d
		}),
		"one more at the top": func(spec limits.Spec) (Limiter, error) {
			spec.Burst++
			return Engine(spec)
		},
		"faster by a millionth": func(spec limits.Spec) (Limiter, error) {
			if spec.Algorithm != limits.SlidingLog && spec.Per > 1_000_000 {
				spec.Per -= spec.Per / 1_000_000
			}
			return Engine(spec)
		},
		"keys in one": func(spec limits.Spec) (Limiter, error) {
			l, err := Engine(spec)
			return oneKey{l}, err
		},
		"a clock that steps back": func(spec limits.Spec) (Limiter, error) {
			l, err := Engine(spec)
			return &forgetsTime{Limiter: l}, err
		},
	} {
		source, red := NewRandom(4), false
		for range 300 {
			c := source.Next(CallsPerCase)
			if _, err := build(c.Spec(c.Algorithm)); err != nil {
				continue // there is no such fraction
			}
			c.AlsoAlgorithms = nil
			red = red || len(Judge(c, build, 0)) > 0
		}
		assert.True(t, red, name)
	}
}

type oneKey struct{ Limiter }

func (l oneKey) TakeAt(now time.Duration, _ string, n int64) engine.Decision {
	return l.Limiter.TakeAt(now, "the key", n)
}

// forgetsTime counts a step back as a step forward.
type forgetsTime struct {
	Limiter
	last, sum time.Duration
}

func (l *forgetsTime) TakeAt(now time.Duration, key string, n int64) engine.Decision {
	l.sum += max(now-l.last, l.last-now)
	l.last = now
	return l.Limiter.TakeAt(l.sum, key, n)
}
