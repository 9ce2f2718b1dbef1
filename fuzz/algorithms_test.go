package fuzz

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/stretchr/testify/require"
)

// algorithm reads a limit, and returns what makes models of it.
func (s *stream) algorithm() (engine.Limit, func() oracle.Model) {
	which, n, tokens, per := s.small(7), s.small(12), s.small(6), time.Duration(1+s.small(64))
	if s.small(4) == 0 {
		per *= 142_857_142 // longer, and uneven
	}
	r := engine.Rate{Tokens: tokens, Per: per}
	bucket := func() oracle.Model { return oracle.NewTokenBucket(tokens, per, n) }
	switch which {
	case 0:
		return engine.TokenBucket(r, n), bucket
	case 1:
		return engine.GCRA(r, n), bucket
	case 2:
		return engine.LeakyBucket(r, n), bucket
	case 3:
		return engine.LeakyQueue(r, n), bucket
	case 4:
		return engine.FixedWindow(n, per), func() oracle.Model { return oracle.NewFixedWindow(n, per) }
	case 5:
		return engine.SlidingWindow(n, per), func() oracle.Model { return oracle.NewSlidingWindow(n, per) }
	}
	return engine.SlidingLog(n, per), func() oracle.Model { return oracle.NewSlidingLog(n, per) }
}

// timeOf is the time at which a limiter decides a call for now, latest being the largest so far.
func timeOf(now, latest int64) int64 {
	return max(latest, min(max(now, math.MinInt64+1), math.MaxInt64-1))
}

// noise is a seed of random bytes, the same for the same number.
func noise(seed uint64, size int) []byte {
	rnd := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}
	return data
}

// FuzzAlgorithms: every algorithm answers any sequence of calls as its model does, in every field,
// with time that leaps and steps back, sweeps and resets.
func FuzzAlgorithms(f *testing.F) {
	for which := range byte(7) {
		f.Add([]byte{which, 5, 3, 17, 1, 9, 0, 0, 0, 0, 0, 0, 0, 3, 2, 1, 5, 3, 4, 1, 9, 2, 2, 2, 1, 3, 0, 1, 0, 8, 2, 2, 1, 1})
		f.Add([]byte{which, 2, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 128, 1, 1, 1, 1, 3, 1, 1, 1, 0, 3, 2, 1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1})
	}
	for seed := range uint64(16) {
		f.Add(noise(seed, 400))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := stream(data)
		limit, fresh := s.algorithm()
		l := engine.Must[int64](limit)
		defer l.Close()
		model := oracle.NewKeyed[int64](fresh)
		now, latest := int64(s.next()), int64(math.MinInt64)
		for len(s) > 0 {
			now = step(&s, now, 64)
			latest = timeOf(now, latest)
			key, n := s.small(3), s.small(14)
			switch s.small(16) {
			case 0:
				l.Sweep()
			case 1:
				l.Reset(key)
				model.Reset(key)
			case 2, 3, 4:
				allowed, retry := model.Peek(key, latest, 1)
				requireAnswer(t, model, key, latest, 1, allowed, retry, l.PeekAt(time.Duration(now), key))
			}
			allowed, retry := model.Take(key, latest, n)
			requireAnswer(t, model, key, latest, n, allowed, retry, l.TakeAt(time.Duration(now), key, n))
		}
	})
}

// requireAnswer holds a decision to what the model answered, and to the state that it is in after.
func requireAnswer(t *testing.T, model *oracle.Keyed[int64], key, now, n int64, allowed bool, retry int64, d engine.Decision) {
	t.Helper()
	require.Equal(t, allowed, d.Allowed, "%d at %d: %+v", n, now, d)
	require.EqualValues(t, retry, d.RetryAfter, "%d at %d: %+v", n, now, d)
	require.Equal(t, model.Remaining(key, now), d.Remaining, "%d at %d: %+v", n, now, d)
	require.EqualValues(t, model.ResetAfter(key, now), d.ResetAfter, "%d at %d: %+v", n, now, d)
}
