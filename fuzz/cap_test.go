package fuzz

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/stretchr/testify/require"
)

// FuzzCap: under a cap on keys each key that is held answers as a bucket of its own, and a new one that
// finds no room answers as the policy says: refused, admitted uncounted, or as the one bucket that all of
// them share.
func FuzzCap(f *testing.F) {
	for policy := range uint8(3) {
		f.Add(uint8(4), policy, []byte("\x05\x01\x05\x02\x05\x03\x05\x04\x05\x05\x05\x06\x00\x20\x05\x06\x02\x05\x01\x03\x01\x05\x01"))
		f.Add(uint8(1), policy, []byte("the quick brown fox jumps over the lazy dog, and again and again"))
	}
	f.Fuzz(func(t *testing.T, maxKeys, policy uint8, data []byte) {
		const burst = 3
		clock := enginetest.NewClock()
		keys, how := 1+int(maxKeys%40), engine.CapPolicy(policy%3)
		l := engine.Must[int64](engine.TokenBucket(engine.PerHour(1), burst), engine.WithClock(clock), engine.WithMaxKeys(keys, how))
		defer l.Close()
		own := oracle.NewKeyed[int64](func() oracle.Model { return oracle.NewTokenBucket(1, time.Hour, burst) })
		shared := oracle.NewTokenBucket(1, time.Hour, burst)
		s := stream(data)
		for len(s) > 0 {
			now := int64(clock.Now())
			key := s.small(64)
			switch s.small(8) {
			case 0:
				clock.Advance(time.Duration(s.small(200)) * time.Minute)
				continue
			case 1:
				l.Reset(key)
				own.Reset(key)
				continue
			case 2:
				l.Sweep()
				continue
			}
			n := 1 + s.small(4)
			holds := own.ResetAfter(key, now) != 0
			before := l.Stats()
			d := l.Take(key, n)
			after := l.Stats()
			if beyondCap(before) == beyondCap(after) {
				allowed, retry := own.Take(key, now, n)
				require.Equal(t, allowed, d.Allowed)
				require.EqualValues(t, retry, d.RetryAfter)
				require.LessOrEqual(t, l.Len(), keys)
				continue
			}
			require.False(t, holds, "key %d owes and was not found", key)
			requirePolicy(t, how, shared, now, n, d, before, after)
		}
	})
}

// requirePolicy holds an answer to a new key without room to the policy.
func requirePolicy(t *testing.T, how engine.CapPolicy, shared oracle.Model, now, n int64, d engine.Decision, before, after engine.Stats) {
	t.Helper()
	switch how {
	case engine.CapShared:
		require.Equal(t, before.CapShared+1, after.CapShared)
		allowed, retry := shared.Take(now, n)
		require.Equal(t, allowed, d.Allowed)
		require.EqualValues(t, retry, d.RetryAfter)
	case engine.CapDeny:
		require.Equal(t, before.CapDenied+1, after.CapDenied)
		require.False(t, d.Allowed)
		require.NotZero(t, d.RetryAfter)
	case engine.CapAllow:
		require.Equal(t, before.CapUncounted+1, after.CapUncounted)
		require.True(t, d.Allowed)
	}
}
