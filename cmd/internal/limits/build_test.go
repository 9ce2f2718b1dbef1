package limits

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
)

func TestBuild(t *testing.T) {
	assert.Equal(t, []string{
		"token_bucket", "gcra", "leaky_bucket", "leaky_queue", "fixed_window", "sliding_window", "sliding_log",
	}, Names())
	rate := engine.Rate{Tokens: 10, Per: time.Second}
	for name, want := range map[string]struct {
		limit engine.Limit
		words string
		burst bool
	}{
		TokenBucket:    {engine.TokenBucket(rate, 20), "10/1s burst 20", true},
		GCRA:           {engine.GCRA(rate, 20), "10/1s burst 20", true},
		LeakyBucket:    {engine.LeakyBucket(rate, 20), "10/1s burst 20", true},
		LeakyQueue:     {engine.LeakyQueue(rate, 20), "10/1s burst 20", true},
		FixedWindow:    {engine.FixedWindow(10, time.Second), "10 in each 1s", false},
		SlidingWindow:  {engine.SlidingWindow(10, time.Second), "about 10 in any 1s", false},
		SlidingCounter: {engine.SlidingWindow(10, time.Second), "about 10 in any 1s", false},
		SlidingLog:     {engine.SlidingLog(10, time.Second), "10 in any 1s", false},
	} {
		spec := Spec{name, 10, time.Second, 20}
		limit, err := Build(spec)
		require.NoError(t, err)
		assert.Equal(t, want.limit, limit, name)
		assert.Equal(t, want.words, spec.String(), name)
		assert.Equal(t, want.burst, HasBurst(name), name)
	}
}

func TestBuildOfWhatIsNotKnown(t *testing.T) {
	for _, name := range []string{"token-bucket", "Token_Bucket", "sliding", "unlimited", ""} {
		_, err := Build(Spec{name, 10, time.Second, 20})
		var unknown *UnknownError
		require.ErrorAs(t, err, &unknown)
		require.ErrorContains(t, err, `algorithm "`+name+`" is not known; use one of token_bucket, gcra, leaky_bucket, `+
			`leaky_queue, fixed_window, sliding_window, sliding_log`)
		assert.False(t, HasBurst(name))
		assert.Equal(t, engine.Never, LongestWait(Spec{name, 10, time.Second, 20}, 1))
	}
}

func TestBuildOfWhatTheEngineRefuses(t *testing.T) {
	for _, name := range Names() {
		_, err := Build(Spec{name, -1, time.Second, -1})
		require.Error(t, err)
	}
}

func TestLongestWait(t *testing.T) {
	for _, name := range []string{TokenBucket, GCRA, LeakyBucket, LeakyQueue} {
		bucket := Spec{Algorithm: name, Tokens: 3, Per: 10, Burst: 1 << 62}
		for n, want := range map[int64]time.Duration{
			1: 4, 3: 10, 4: 14, 1<<62 + 1: engine.Never, -1: engine.Never,
			1 << 62: math.MaxInt64, // 3.3 times 2^62 does not fit
		} {
			assert.Equal(t, want, LongestWait(bucket, n), "%s, %d", name, n)
		}
		assert.Equal(t, engine.Never, LongestWait(Spec{Algorithm: name, Burst: 5, Per: 1}, 1))
	}
	for name, windows := range map[string]time.Duration{FixedWindow: 1, SlidingLog: 1, SlidingWindow: 2, SlidingCounter: 2} {
		window := Spec{Algorithm: name, Tokens: 3, Per: 10, Burst: 1}
		for n, want := range map[int64]time.Duration{1: 10 * windows, 3: 10 * windows, 4: engine.Never, -1: engine.Never} {
			assert.Equal(t, want, LongestWait(window, n), "%s, %d", name, n)
		}
		assert.Equal(t, time.Duration(math.MaxInt64), LongestWait(Spec{Algorithm: name, Tokens: 1, Per: math.MaxInt64}, 1))
		assert.Equal(t, engine.Never, LongestWait(Spec{Algorithm: name, Per: 1}, 1))
	}
}
