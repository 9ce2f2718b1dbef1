package hybrid_test

import (
	"math"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// event is something that the bound is about.
type event struct {
	at      time.Duration
	permits int64   // admitted
	extra   float64 // permits that a fault of the store's may add: a step of its clock, a loss of its state
}

// history is what happened in a run.
type history struct {
	events []event
	leased int64 // permits admitted from leases
	faults int
	local  bool
}

func (h *history) add(e event) { h.events = append(h.events, e) }

// verdict is what became of the bound in a run: in the window that came nearest, ratio is the share of
// the bound that was admitted, and used the share of what leases add to it.
type verdict struct {
	ratio, used  float64
	over         float64 // permits above the bound, below 0 if there are none
	leased       int64
	faults       int
	admitted     int64
	window       time.Duration
	bound, slack float64
}

// violated reports a window with more than the bound. A thousandth of a permit is the float's.
func (v *verdict) violated() bool { return v.over > 1e-3 }

// judge looks for the window [x, y] of events with the most admissions above R*(y-x), fault terms
// subtracted: those of faults in (x-E, y], since what is admitted at x may have been charged then.
func (h *history) judge(p *plan) verdict {
	sort.SliceStable(h.events, func(i, j int) bool { return h.events[i].at < h.events[j].at })
	rate, burst := float64(p.rate), float64(p.burst)
	most := int64(p.slack * burst)
	if p.maxLease > 0 {
		most = min(most, p.maxLease)
	}
	slack := float64(p.nodes) * float64(most)
	if !p.suspends { // else E does not hold
		slack = min(slack, rate*p.life.Seconds())
	}
	bound := burst + slack + rate*tick.Seconds()
	if h.local { // each process its share, from full
		share := p.limit().Share(int64(p.nodes))
		bound += float64(p.nodes) * float64(share.Capacity())
		rate += float64(p.nodes) * float64(share.Effective().Tokens) / share.Effective().Per.Seconds()
	}
	v := verdict{over: math.Inf(-1), leased: h.leased, faults: h.faults, slack: slack}
	var admitted, extra float64
	lagging, lag := 0, 0.0 // faults up to x-E
	best, from := math.Inf(-1), 0
	opened := make([]float64, len(h.events))
	for i, e := range h.events {
		for ; h.events[lagging].at <= e.at-p.life && lagging < i; lagging++ {
			lag += h.events[lagging].extra
		}
		opened[i] = admitted
		if start := rate*e.at.Seconds() + lag - admitted; start > best {
			best, from = start, i
		}
		admitted += float64(e.permits)
		extra += e.extra
		if excess := best + admitted - rate*e.at.Seconds() - extra; excess-bound > v.over {
			v.over, v.window = excess-bound, e.at-h.events[from].at
			v.bound = bound + rate*v.window.Seconds()
			v.admitted = int64(admitted - opened[from])
			v.ratio = (excess + rate*v.window.Seconds()) / v.bound
			v.used = max(0, (excess-burst)/slack)
		}
	}
	if h.local {
		v.used = 0 // not comparable
	}
	return v
}

// tick is the resolution of the store's clock.
const tick = time.Microsecond

// TestJudge: the check sees a violation where there is one.
func TestJudge(t *testing.T) {
	p := &plan{rate: 10, burst: 5, slack: 0.4, nodes: 1, life: 200 * time.Millisecond}
	at := func(permits, ms int64) event {
		return event{at: time.Duration(ms) * time.Millisecond, permits: permits}
	}
	for _, c := range []struct {
		events []event
		want   bool
	}{
		{[]event{at(5, 0)}, false},
		{[]event{at(7, 0)}, false}, // 5 and 2 leased
		{[]event{at(8, 0)}, true},
		{[]event{at(4, 0), at(4, 99)}, true},
		{[]event{at(4, 0), at(4, 101)}, false},
		{[]event{at(1, 0), at(1, 900), at(4, 1000), at(4, 1090)}, true},
		{[]event{at(4, 0), {at: 50 * time.Millisecond, extra: 5}, at(8, 99)}, false},
		{[]event{at(4, 0), {at: 50 * time.Millisecond, extra: 5}, at(8, 150), at(1, 150)}, false},
		{[]event{{at: 50 * time.Millisecond, extra: 5}, at(9, 240)}, false}, // charged before
		{[]event{{at: 50 * time.Millisecond, extra: 5}, at(9, 260)}, true},
	} {
		v := (&history{events: c.events}).judge(p)
		require.Equal(t, c.want, v.violated(), "%+v: %+v", c.events, v)
	}
}
