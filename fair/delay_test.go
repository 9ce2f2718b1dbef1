package fair

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/stretchr/testify/require"
)

// TestDelayBound: a tenant that keeps within its share is granted each request by the bound of
// start-time fair queueing, however much the others flood:
//
//	grant <= expected arrival + largest requests of all others / C + own request / C
//
// where the expected arrival is the later of the arrival and the expected one of the request
// before plus its size over the tenant's own rate, w/W*C.
func TestDelayBound(t *testing.T) {
	const perSecond, others = 1000, 20
	var worst, most time.Duration
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		weights := map[string]int64{"light": 5}
		total, ahead := int64(5), int64(0)
		largest := map[string]int64{}
		for i := range others {
			name := fmt.Sprint(i)
			weights[name], largest[name] = 1+rnd.Int64N(5), 1+rnd.Int64N(10)
			total += weights[name]
			ahead += largest[name]
		}
		s := newSim(t, engine.TokenBucket(engine.PerSecond(perSecond), 10), weights)
		flood := func() {
			for name, n := range largest {
				for len(s.queues[name]) < 10 {
					s.wait(name, n, 1)
				}
			}
		}
		flood()
		var expected time.Duration
		for range 100 {
			wake := s.clock.Now() + time.Duration(rnd.Int64N(int64(100*time.Millisecond)))
			for s.next(wake) {
				flood()
			}
			n := 1 + rnd.Int64N(3)
			arrival := s.clock.Now()
			s.wait("light", n, 1)
			expected = max(expected, arrival)
			bound := expected + time.Duration(ahead+n)*time.Second/perSecond
			expected += time.Duration(n*total) * time.Second / (5 * perSecond)
			for len(s.queues["light"]) > 0 {
				require.True(t, s.next(time.Hour))
				flood()
			}
			require.LessOrEqual(t, s.clock.Now(), bound, "seed %d", seed)
			worst, most = max(worst, s.clock.Now()-arrival), max(most, bound-arrival)
		}
	}
	t.Logf("longest wait %v, longest bound %v", worst, most)
	require.Greater(t, worst, most/8, "the flood was none")
}

// TestFloodDelaysOnlyItself: a tenant that asks now and then waits for one turn of the others, not for
// the thousands of calls of the flooding one.
func TestFloodDelaysOnlyItself(t *testing.T) {
	s := newSim(t, engine.TokenBucket(engine.PerSecond(1000), 1), map[string]int64{"flood": 1, "light": 1})
	s.wait("flood", 1, 10_000)
	for range 100 {
		for range 7 {
			require.True(t, s.next(time.Hour))
		}
		arrival := s.clock.Now()
		s.wait("light", 1, 1)
		for len(s.queues["light"]) > 0 {
			require.True(t, s.next(time.Hour))
		}
		require.LessOrEqual(t, s.clock.Now()-arrival, 2*time.Millisecond)
	}
}
