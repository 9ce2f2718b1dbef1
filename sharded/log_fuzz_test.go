package sharded

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/oracle"
)

// FuzzLog reads a limit, a window, a first time and a sequence of calls from
// bytes and compares every answer with the oracle's. Times go to both ends of
// the int64 range, and step back.
func FuzzLog(f *testing.F) {
	f.Add([]byte{2, 9, 1, 0, 0, 1, 0, 3, 1, 0, 6, 1, 0, 1, 1})
	f.Add([]byte{5, 9, 1, 0, 0, 2, 0, 1, 2, 0, 1, 2, 0, 0, 3, 0, 0, 4, 0, 0, 6, 5, 0, 0})
	f.Add([]byte{1, 3, 0, 0, 0, 1, 0, 255, 1, 0, 255, 1, 4, 9, 0, 1, 3, 1})
	f.Add([]byte{7, 200, 2, 1, 9, 7, 1, 250, 7, 3, 250, 1, 2, 250, 1, 6, 0, 0, 2, 0, 9})
	f.Add([]byte{0, 0, 1, 0, 0, 1, 7, 0, 0, 0, 1, 0})
	f.Add([]byte{60, 100, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 60, 0, 1, 40, 4, 120, 0, 0, 5, 17, 5, 250, 0, 0, 1, 30})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 3 {
			return
		}
		limit, window := int64(data[0]%80), int64(data[1])
		now := []int64{math.MinInt64, -1000, math.MaxInt64 - 2000}[data[2]%3]
		if data[2] >= 128 { // windows as long as time
			window = math.MaxInt64 - window
		}
		g := newFixedLogs[int](limit, window)
		k := oracle.NewKeyed[int](func() oracle.Model { return oracle.NewSlidingLog(limit, time.Duration(window)) })
		for i, data := 0, data[3:]; len(data) >= 3; i, data = i+1, data[3:] {
			now = fuzzStep(t, g, k, now, i, data)
		}
	})
}

// fuzzStep makes one call of three bytes: what and key, step of time, permits.
// It returns the latest time so far.
func fuzzStep(t *testing.T, g *fixedLogs[int], k *oracle.Keyed[int], now int64, i int, data []byte) int64 {
	t.Helper()
	key, step, n := int(data[0]>>4%4), int64(data[1]), int64(data[2])-1
	back := now
	switch data[0] % 16 {
	case 13: // far into the future
		step <<= 55
	case 14: // back
		back = max(now, math.MinInt64+step) - step
		step = 0
	}
	if now < math.MaxInt64-step {
		now += step
	} else {
		now = math.MaxInt64
	}
	switch data[0] % 16 {
	case 10:
		g.Sweep(now, nil)
		return now
	case 11:
		asked := 0
		g.Sweep(now, func() bool { asked++; return asked <= int(data[2]) })
		return now
	case 12:
		g.Reset(key)
		k.Reset(key)
		return now
	}
	when := now
	if data[0]%16 == 14 {
		when = back
	}
	if _, found := g.rings.Load(key); !found {
		when = max(when, g.floorNanos.Load())
	}
	requireSameAnswer(t, g, k, key, n, when, i)
	requireSound(t, g, key)
	require.GreaterOrEqual(t, g.Len(), k.Len(now))
	return now
}
