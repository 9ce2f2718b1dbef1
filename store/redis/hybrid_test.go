//go:build unix

package redis

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/faultproxy"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
	"github.com/penstock-go/penstock/store/storetest"
)

// forward is a monotonic clock beside one that may step back: steps back do not count.
type forward struct {
	mu         sync.Mutex
	clock      engine.Clock
	last, time time.Duration
}

func (f *forward) Now() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	f.time += max(0, now-f.last)
	f.last = now
	return f.time
}

// TestHybridConformance: a synchronous hybrid decides as the store does. Refusals are not kept in mind: the
// kit steps clocks back, after which they would stand too long.
func TestHybridConformance(t *testing.T) {
	p := alone(t)
	var clock engine.Clock
	k := kit(byRueidis, p)
	storage := k.New
	k.Steps = 300
	k.New = func(t *testing.T, c engine.Clock) store.Storage {
		t.Helper()
		clock = c
		return storage(t, c)
	}
	k.Wrap = func(tb testing.TB, l *store.Shared) store.Limiter {
		tb.Helper()
		opts := []hybrid.Option{hybrid.WithSlack(0), hybrid.WithNegativeCache(0)}
		if clock != nil {
			opts = append(opts, hybrid.WithClock(&forward{clock: clock}))
		}
		h, err := hybrid.New(l, opts...)
		require.NoError(tb, err)
		tb.Cleanup(func() { require.NoError(tb, h.Close()) })
		return h
	}
	storetest.Run(t, k)
}

func TestHybridBound(t *testing.T) { hybridBound(t, alone(t)) }

// hybridBound: four processes with leases of one key under load, by both client libraries, are cut off
// from the store for a while in the middle. No interval has more than B + R*W + min(N*L, R*E), and most
// calls do not reach the store.
func hybridBound(t *testing.T, p *place) {
	t.Helper()
	const (
		processes, callers = 4, 2
		rate, burst        = 4000, 1000
		slack              = 0.5
		cutOff             = 100 * time.Millisecond
	)
	noGoroutineLeft(t)
	p.flush(t)
	dial, spoil := p.faulty(t)
	var fasts []*hybrid.Limiter
	for i := range processes {
		connect := []library{byRueidis, byGoRedis}[i%2]
		l := limiter(t, connect(t, dial, p.addrs...), engine.TokenBucket(engine.PerSecond(rate), burst), quick(), store.WithDeadline(20*time.Millisecond))
		h, err := hybrid.New(l, hybrid.WithSlack(slack), hybrid.WithMaxLease(slack*burst/processes))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, h.Close()) })
		fasts = append(fasts, h)
	}
	calls := p.calls(t, "evalsha")
	var passed, leased atomic.Int64
	diaries := make([]diary, processes*callers)
	began := time.Now()
	run := startLoad(len(diaries), func(run *load, caller int) bool {
		before := time.Since(began)
		d := run.take(t.Context(), fasts[caller%processes], "key")
		if d.Allowed {
			diaries[caller] = append(diaries[caller], admission{before, time.Since(began)})
			passed.Add(1)
			if d.Source == store.SourceLease {
				leased.Add(1)
			}
		}
		return true
	})
	enough := func(n int64) func() bool { return func() bool { return passed.Load() >= n } }
	eventually(t, "a burst and more passes", enough(2*burst))
	spoil.set(faultproxy.Fault{DropReplies: true}, false)
	<-time.After(cutOff)
	spoil.set(faultproxy.Fault{}, true)
	eventually(t, "as much again passes", enough(4*burst))
	run.end()
	run.report(t)
	calls = p.calls(t, "evalsha") - calls

	lease := int64(slack * burst / processes)
	life := slack * burst / float64(rate) // seconds
	most := burst + min(processes*float64(lease), rate*life)
	excess, at := slices.Concat(diaries...).worst(rate)
	t.Logf("%d passed, %d from leases, with %d calls of the store; the worst interval, from %v, has %.1f more than R*W, of %.0f allowed",
		passed.Load(), leased.Load(), calls, at, excess, most)
	require.LessOrEqual(t, excess, most)
	require.Greater(t, leased.Load(), passed.Load()/2, "few leases: the test shows nothing")
	require.Positive(t, run.failed(), "nobody noticed that the store was away")
}

// admission is when a call that passed began and ended: it passed in between.
type admission struct{ begin, end time.Duration }

type diary []admission

// worst returns by how much the worst interval exceeds what rate earns in it, and where it begins. A call
// counts in an interval if it surely passed in it.
func (d diary) worst(rate float64) (excess float64, at time.Duration) {
	byEnd := slices.Clone(d)
	slices.SortFunc(byEnd, func(a, b admission) int { return int(a.end - b.end) })
	for _, first := range d {
		n := 0.0
		for _, a := range byEnd {
			if a.begin < first.begin {
				continue
			}
			n++
			if over := n - rate*(a.end-first.begin).Seconds(); over > excess {
				excess, at = over, first.begin
			}
		}
	}
	return excess, at
}

// TestWorst proves the check of intervals on diaries whose worst is known.
func TestWorst(t *testing.T) {
	var d diary
	for i := range 50 {
		d = append(d, admission{time.Duration(i) * 10 * time.Millisecond, time.Duration(i) * 10 * time.Millisecond})
	}
	excess, _ := d.worst(100)
	require.InDelta(t, 1, excess, 1e-6, "a call each 10 ms")
	for range 7 {
		d = append(d, admission{200 * time.Millisecond, 200 * time.Millisecond})
	}
	excess, _ = d.worst(100)
	require.InDelta(t, 8, excess, 1e-6, "seven more at one instant")
}
