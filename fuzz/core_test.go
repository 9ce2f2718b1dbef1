package fuzz

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/stretchr/testify/require"
)

// FuzzCompile: any numbers give a limit within its bounds or a typed error.
func FuzzCompile(f *testing.F) {
	for _, s := range [][3]int64{
		{10, int64(time.Second), 20}, {1, int64(7 * 24 * time.Hour), 1 << 40}, {math.MaxInt64, 1, 1}, {-1, 0, -1},
		{0, 1, 0}, {1_000_000_007, int64(time.Second), 1000}, {math.MaxInt64, math.MaxInt64 - 1, 1 << 60},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, tokens, per, burst int64) {
		b, err := atomicstate.NewBucket(tokens, time.Duration(per), burst)
		if err != nil {
			require.True(t, tokens < 0 || per <= 0 || burst < 0 || isErr(err, atomicstate.ErrTooLarge), err)
			return
		}
		got, gotPer := b.Rate()
		require.GreaterOrEqual(t, got, int64(0))
		require.Positive(t, gotPer)
		require.LessOrEqual(t, uint64(got), atomicstate.MaxRateUnits)
		require.True(t, burst == 0 || int64(gotPer) <= atomicstate.MaxCapacity/burst)
		require.True(t, b.RelativeError() >= 0 && b.RelativeError() < 1e-6)
		require.Equal(t, b.Exact(), b.RelativeError() == 0)
	})
}

// stream reads numbers from fuzz data; what is missing is 0.
type stream []byte

func (s *stream) next() uint64 {
	var buf [8]byte
	n := copy(buf[:], *s)
	*s = (*s)[n:]
	return binary.LittleEndian.Uint64(buf[:])
}

func (s *stream) small(n uint64) int64 {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return int64(uint64(b) % n)
}

// FuzzTransition: takes at arbitrary stamps in arbitrary order obey the bound of their stamps,
// and a decision and its retry-after agree.
func FuzzTransition(f *testing.F) {
	f.Add(int64(10), int64(1000), int64(5), []byte("0123456789abcdef0123456789abcdef"))
	f.Add(int64(1), int64(1), int64(1), []byte{255, 255, 255, 255, 255, 255, 255, 127, 1, 0, 0, 0, 0, 0, 0, 0, 128, 2})
	f.Fuzz(func(t *testing.T, tokens, per, burst int64, data []byte) {
		b, err := atomicstate.NewBucket(tokens, time.Duration(per), burst)
		if err != nil || burst == 0 {
			return
		}
		tokens, perD := b.Rate()
		s := stream(data)
		origin := int64(s.next())
		word := b.Fresh(origin)
		var admitted []oracle.Admission
		for len(s) > 0 {
			now := origin + s.small(256)*max(1, int64(perD)/16>>s.small(40))
			n := 1 + s.small(256)*burst>>8
			next, ok := b.Take(word, now, n)
			state := b.Inspect(word, now, n)
			require.Equal(t, ok, state.Allowed)
			if !ok {
				require.Equal(t, word, next)
				require.True(t, state.RetryNanos > 0 || state.RetryNanos == atomicstate.Never)
				continue
			}
			require.True(t, atomicstate.IsLive(next))
			word = next
			admitted = append(admitted, oracle.Admission{At: now, N: n})
		}
		require.NoError(t, oracle.Bound(tokens, perD, burst, admitted))
	})
}

// FuzzLimiter: any sequence of calls on a few keys, with time that leaps and steps back, sweeps
// and resets, is decided as by a map of rational buckets.
func FuzzLimiter(f *testing.F) {
	f.Add(int64(3), int64(1000), int64(5), []byte("the quick brown fox jumps over the lazy dog, and again and again"))
	f.Add(int64(1<<26), int64(1), int64(1<<30), []byte{0, 1, 2, 3, 255, 254, 0, 0, 0, 0, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 63})
	f.Fuzz(func(t *testing.T, tokens, per, burst int64, data []byte) {
		limit := engine.TokenBucket(engine.Rate{Tokens: tokens, Per: time.Duration(per)}, burst)
		l, err := engine.New[int64](limit)
		if err != nil {
			return
		}
		rate := limit.Effective()
		model := oracle.NewKeyed[int64](func() oracle.Model { return oracle.NewTokenBucket(rate.Tokens, rate.Per, burst) })
		s := stream(data)
		now, latest := int64(s.next()), int64(math.MinInt64)
		for len(s) > 0 {
			now = step(&s, now, int64(rate.Per))
			latest = max(latest, min(max(now, math.MinInt64+1), math.MaxInt64-1))
			key, n := s.small(5), 1+s.small(256)*(burst>>8)
			switch s.small(16) {
			case 0:
				l.Sweep()
			case 1:
				l.Reset(key)
				model.Reset(key)
			}
			d := l.TakeAt(time.Duration(now), key, n)
			want, retry := model.Take(key, latest, n)
			require.Equal(t, want, d.Allowed)
			require.Equal(t, time.Duration(retry), d.RetryAfter)
		}
	})
}

// step moves time by a fraction or some multiples of a period, far ahead, or back.
func step(s *stream, now, per int64) int64 {
	by := s.small(256)
	switch s.small(8) {
	case 0:
		by = -by
	case 1:
		by = int64(s.next() >> 1)
	case 2, 3, 4:
		by *= per / 64
	}
	if by > 0 && now > math.MaxInt64-by || by < 0 && now < math.MinInt64-by {
		return now
	}
	return now + by
}
