package hybrid_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// spendFirst is what the hybrid is not: it admits what the store had left when it was asked last, and
// reports it later, once it has admitted the permits that the hybrid may hold, or has lived for a
// lease's life. It shows that the check of the simulation sees a violation.
type spendFirst struct {
	shared *store.Shared
	clock  engine.Clock
	most   int64
	life   time.Duration

	lock       chan struct{} // a mutex that fake time can pass
	known      int64         // permits in the store at the last report
	unreported int64
	reported   time.Duration
}

func buildSpendFirst(t *testing.T, shared *store.Shared, p *plan, clock engine.Clock) process {
	t.Helper()
	most := int64(p.slack * float64(p.burst))
	if p.maxLease > 0 {
		most = min(most, p.maxLease)
	}
	return &spendFirst{shared: shared, clock: clock, most: most, life: p.life, known: p.burst, lock: make(chan struct{}, 1)}
}

// Take admits first and reports later.
func (s *spendFirst) Take(ctx context.Context, key string, n int64) (store.Decision, error) {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	now := s.clock.Now()
	if now-s.reported >= s.life || s.unreported >= s.most {
		s.report(ctx, key, now)
	}
	var d store.Decision
	if s.known-s.unreported >= n {
		s.unreported += n
		d.Allowed, d.Source = true, store.SourceLease
	}
	return d, nil
}

// report charges what was admitted; what the store does not have is forgotten.
func (s *spendFirst) report(ctx context.Context, key string, now time.Duration) {
	if s.unreported > 0 {
		if d, _, err := s.shared.TakeUpTo(ctx, key, 1, s.unreported); err == nil {
			s.known, s.unreported = d.Remaining, 0
		}
	} else if d, err := s.shared.Peek(ctx, key); err == nil {
		s.known = d.Remaining
	}
	s.reported = now
}

// Close does nothing.
func (s *spendFirst) Close() error { return nil }

// TestSimulationOfSpendFirst: a hybrid that spends first exceeds the bound, in the same runs under the
// same check.
func TestSimulationOfSpendFirst(t *testing.T) {
	violations, worst, several := 0, 0.0, 0
	n := max(50, runs(t)/10)
	for seed := range uint64(n) {
		v := simulate(t, seed, buildSpendFirst)
		if newPlan(seed).nodes > 1 {
			several++
		}
		if v.violated() {
			violations++
			worst = max(worst, v.ratio)
		}
	}
	t.Logf("%d of %d runs exceed the bound, %d have several processes; the worst window has %.2f of it", violations, n, several, worst)
	require.Greater(t, violations, n/10)
}
