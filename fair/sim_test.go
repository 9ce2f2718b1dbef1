package fair

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/stretchr/testify/require"
)

// sim drives calls of Wait without goroutines, on a clock that is moved from one due instant to the
// next: thousands of waiters, decided in the same order in every run.
type sim struct {
	t       *testing.T
	clock   *enginetest.Clock
	limiter *Limiter[string]
	tenants []string
	queues  map[string][]*pending
	served  []served
}

// pending is one call and when it was made.
type pending struct {
	w       *waiter[string]
	arrived time.Duration
}

// served is one grant, in order.
type served struct {
	tenant      string
	n           int64
	arrived, at time.Duration
}

func newSim(t *testing.T, limit engine.Limit, weights map[string]int64) *sim {
	t.Helper()
	clock := enginetest.NewClock()
	s := &sim{
		t: t, clock: clock, queues: map[string][]*pending{},
		limiter: Must[string](limit, WithClock(clock), WithQueue(1<<40, 1<<20)),
	}
	t.Cleanup(func() { require.NoError(t, s.limiter.Close()) })
	for tenant, w := range weights {
		require.NoError(t, s.limiter.SetWeight(tenant, w))
		s.tenants = append(s.tenants, tenant)
	}
	return s
}

// wait makes calls for n permits each.
func (s *sim) wait(tenant string, n int64, calls int) {
	for range calls {
		w, err := s.limiter.join(s.t.Context(), tenant, n)
		require.NoError(s.t, err)
		if w == nil {
			s.served = append(s.served, served{tenant, n, s.clock.Now(), s.clock.Now()})
			continue
		}
		s.queues[tenant] = append(s.queues[tenant], &pending{w, s.clock.Now()})
	}
	s.collect()
}

// collect notes what was granted: the first of each queue, as long as they are ready.
func (s *sim) collect() {
	for tenant, q := range s.queues {
		for len(q) > 0 && !q[0].w.queued {
			require.NoError(s.t, q[0].w.err)
			s.served = append(s.served, served{tenant, q[0].w.n, q[0].arrived, s.clock.Now()})
			q = q[1:]
		}
		s.queues[tenant] = q
	}
}

// keep has at least so many calls of a tenant wait, for one permit each.
func (s *sim) keep(tenant string, calls int) {
	s.wait(tenant, 1, max(0, calls-len(s.queues[tenant])))
}

// next moves the clock to the next due instant, by end at the latest, and reports whether one was due.
func (s *sim) next(end time.Duration) bool {
	at, due := s.clock.Next()
	if !due || at > end {
		s.clock.Set(end)
		return false
	}
	s.clock.Set(at)
	s.collect()
	return true
}

// permits sums what a tenant was granted.
func permits(all []served, tenant string) (n int64) {
	for _, one := range all {
		if one.tenant == tenant {
			n += one.n
		}
	}
	return n
}
