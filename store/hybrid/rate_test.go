package hybrid_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/store/hybrid"
	"github.com/stretchr/testify/require"
)

// TestFiftyThousandASecond on one key, in fake time, with a store half a millisecond away at most in
// each direction: how many decisions reach the store, how much of what the limit allows is used, and
// how far the worst window exceeds B + R*W.
func TestFiftyThousandASecond(t *testing.T) {
	if raceEnabled {
		t.Skip("too many calls for the race detector, which the other tests give enough")
	}
	for _, c := range []struct {
		name        string
		nodes       int
		rate, burst int64
		slack       float64
		perNode     int // calls a second of each process
	}{
		{"one process, half of the limit", 1, 100_000, 10_000, 0.1, 50_000},
		{"one process, at the limit", 1, 50_000, 5_000, 0.1, 50_000},
		{"one process, at the limit, slack 1", 1, 50_000, 5_000, 1, 50_000},
		{"four processes, four times the limit", 4, 50_000, 5_000, 0.1, 50_000},
		{"four processes, four times the limit, slack 1", 4, 50_000, 5_000, 1, 50_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlan(1)
				p.rate, p.burst, p.slack, p.nodes, p.maxLease = c.rate, c.burst, c.slack, c.nodes, 0
				p.suspends, p.calm, p.slow, p.deadline = false, true, 500*time.Microsecond, 50*time.Millisecond
				p.life = time.Duration(c.slack * float64(c.burst) / float64(c.rate) * float64(time.Second))
				p.length = time.Second
				w := newWorld(t, p, buildHybrid)
				gap := time.Second / time.Duration(c.perNode*c.nodes)
				var deeds []deed
				for at := gap; at < p.length; at += gap {
					n := w.nodes[len(deeds)%c.nodes]
					deeds = append(deeds, deed{at, func() { n.call(1) }})
				}
				w.run(deeds)
				calls, admitted := int64(0), int64(0)
				for _, process := range w.all {
					h, ok := process.(*hybrid.Limiter)
					require.True(t, ok)
					calls += balanced(t, h).Calls
				}
				for _, e := range w.log.events {
					admitted += e.permits
				}
				v := w.judge()
				possible := min(float64(len(deeds)), float64(c.burst)+float64(c.rate)*p.length.Seconds())
				share := float64(calls) / float64(len(deeds))
				t.Logf("%d decisions, %d by the store's word: %.2f %%; %.1f %% of what is possible admitted; excess %.0f of %.0f",
					len(deeds), calls, 100*share, 100*float64(admitted)/possible, v.used*v.slack, v.slack)
				require.False(t, v.violated(), "%+v", v)
				require.LessOrEqual(t, share, 0.02)
				require.Greater(t, float64(admitted), 0.9*possible)
			})
		})
	}
}
