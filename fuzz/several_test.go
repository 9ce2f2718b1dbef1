package fuzz

import (
	"math"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/stretchr/testify/require"
)

// jointly joins the answers of models to a call of n: all must pass, and the longest wait counts.
func jointly(models []oracle.Model, now, n int64) (allowed bool, retry int64) {
	allowed = true
	for _, m := range models {
		ok, wait := m.Peek(now, n)
		allowed = allowed && ok
		if retry != oracle.Never && (wait == oracle.Never || wait > retry) {
			retry = wait
		}
	}
	return allowed, retry
}

// FuzzSeveral: calls of several limits on one key, and of several limiters at once, are charged to all
// or to none, as their models are.
func FuzzSeveral(f *testing.F) {
	f.Add([]byte("\x02\x01\x00\x05\x03\x11\x01\x04\x03\x03\x21\x01\x06\x04\x02\x09\x01\x01\x02\x02\x07\x01 and then some calls of them"))
	f.Add([]byte("\x00\x00\x06\x05\x03\x11\x01\x05\x03\x03\x21\x01 the quick brown fox jumps over the lazy dog"))
	for seed := range uint64(16) {
		f.Add(noise(seed, 400))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := stream(data)
		var limiters [2]*engine.Limiter[int64]
		var models [2][]oracle.Model
		var every []oracle.Model
		for i := range limiters {
			limits := make([]engine.Limit, 1+s.small(4))
			for j := range limits {
				limit, fresh := s.algorithm()
				limits[j] = limit
				models[i] = append(models[i], fresh())
			}
			limiters[i] = engine.Must[int64](limits[0], engine.WithAlso(limits[1:]...))
			t.Cleanup(func() { _ = limiters[i].Close() })
			every = append(every, models[i]...)
		}
		now, latest := int64(s.next()>>2), int64(math.MinInt64)
		for len(s) > 0 {
			now = step(&s, now, 64)
			latest = timeOf(now, latest)
			n, who := s.small(4), s.small(6)
			asked := every
			var d engine.Decision
			if who < 2 {
				asked = models[who]
				d = limiters[who].TakeAt(time.Duration(now), 1, n)
				limiters[1-who].PeekAt(time.Duration(now), 1) // its time moves too
			} else {
				d, _ = engine.TakeAllAt(time.Duration(now), n, limiters[who%2].Part(1), limiters[1-who%2].Part(1))
			}
			allowed, retry := jointly(asked, latest, n)
			require.Equal(t, allowed, d.Allowed, "%d at %d: %+v", n, latest, d)
			require.EqualValues(t, retry, d.RetryAfter, "%d at %d: %+v", n, latest, d)
			for _, m := range asked {
				if allowed {
					m.Take(latest, n)
				}
			}
		}
	})
}
