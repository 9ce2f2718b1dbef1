package hybrid_test

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
)

// chargeKey is under what a call's context carries its charge.
type chargeKey struct{}

// charge is when the store decided a call.
type charge struct{ at time.Duration }

// wire is the way of one node to the store.
type wire struct {
	*store.Memory
	node    *node
	cut     time.Duration // partitioned until
	refuses bool          // at once, or hangs
	loses   time.Duration // replies are lost until
}

var errLost = errors.New("connection reset")

// pass waits for d, or as long as a store that does not answer takes, or until ctx ends.
func (w *wire) pass(ctx context.Context, d time.Duration) error {
	for d = max(d, w.frozen()); d > 0; d = w.frozen() {
		timer := time.NewTimer(d)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return nil
}

// frozen returns how long the store will not answer.
func (w *wire) frozen() time.Duration {
	world := w.node.world
	world.mu.Lock()
	defer world.mu.Unlock()
	return world.frozen - world.now()
}

// fate is what happens to an operation.
type fate struct {
	there, back   time.Duration
	cut, refuses  bool // does not arrive: is refused, or hangs
	lost          bool // its reply does not arrive
	arrivesAnyhow bool // even if its caller's time is up on the way
}

func (w *wire) fate() (f fate) {
	world := w.node.world
	world.mu.Lock()
	defer world.mu.Unlock()
	rnd, slow := world.plan.rnd, int64(world.plan.slow)+1
	f.there, f.back = time.Duration(rnd.Int64N(slow)), time.Duration(rnd.Int64N(slow))
	f.cut, f.refuses = world.now() < w.cut, w.refuses
	f.arrivesAnyhow = rnd.IntN(2) == 0
	f.lost = rnd.IntN(2) == 0 && world.now() < w.loses
	return f
}

// Apply makes the ops, at the other end of the wire.
func (w *wire) Apply(ctx context.Context, ops []store.Op, results []store.Result) {
	err := w.apply(ctx, ops, results)
	for i := range results {
		if err != nil {
			results[i] = store.Result{Err: err}
		}
	}
}

func (w *wire) apply(ctx context.Context, ops []store.Op, results []store.Result) error {
	f := w.fate()
	if f.cut {
		if f.refuses {
			return store.ErrUnavailable
		}
		<-ctx.Done()
		return ctx.Err()
	}
	if err := w.pass(ctx, f.there); err != nil {
		if f.arrivesAnyhow {
			w.Memory.Apply(context.WithoutCancel(ctx), ops, results)
		}
		return err
	}
	w.Memory.Apply(context.WithoutCancel(ctx), ops, results)
	if c, ok := ctx.Value(chargeKey{}).(*charge); ok {
		c.at = w.node.world.now()
	}
	if f.lost {
		return errLost
	}
	return w.pass(ctx, f.back)
}

// deed is something that happens in a run.
type deed struct {
	at time.Duration
	do func()
}

// schedule draws all that happens.
func (w *world) schedule() (deeds []deed) {
	p := w.plan
	for _, n := range w.nodes {
		deeds = append(deeds, n.traffic()...)
	}
	for range 1 + p.rnd.IntN(3) {
		attack := []func(time.Duration) []deed{w.hoard, w.relay}[p.rnd.IntN(2)]
		deeds = append(deeds, attack(time.Duration(p.rnd.Int64N(int64(p.length))))...)
	}
	if !p.calm {
		for range 1 + p.rnd.IntN(8) {
			deeds = append(deeds, w.fault())
		}
	}
	sort.SliceStable(deeds, func(i, j int) bool { return deeds[i].at < deeds[j].at })
	return deeds
}

// traffic is what a node's clients do: steady calls for a while, at up to twice the node's part of the
// rate, silence, or many calls at once.
func (n *node) traffic() (deeds []deed) {
	p := n.world.plan
	rnd := p.rnd
	for at := time.Duration(0); at < p.length; {
		segment := time.Duration(rnd.Int64N(int64(3*p.life))) + 1
		switch rnd.IntN(4) {
		case 0:
			deeds = append(deeds, n.steady(at, at+segment, 0.2+2*rnd.Float64())...)
		case 1:
			at := at
			deeds = append(deeds, deed{at, func() { n.burst(1+rnd.Int64N(3), int(p.burst)) }})
		}
		at += segment
	}
	return deeds
}

// steady makes calls of one permit, at a share of the node's part of the rate, a bit at random.
func (n *node) steady(from, to time.Duration, share float64) (deeds []deed) {
	p := n.world.plan
	gap := time.Duration(float64(time.Second) / (share * float64(p.rate) / float64(p.nodes)))
	for at := from; at < to; at += gap/2 + time.Duration(p.rnd.Int64N(int64(gap)+1)) {
		deeds = append(deeds, deed{at, func() { n.call(1) }})
	}
	return deeds
}

// burst makes calls of k permits at one instant until some are refused one after the other.
func (n *node) burst(k int64, calls int) {
	for i := range calls {
		if n.call(k); n.refusals() > min(i, 3) {
			return
		}
	}
}

// hoard is bad for leases: all nodes are busy, so that their leases are large; they wait for the bucket to
// fill while they hold what they have; then all burst at one instant.
func (w *world) hoard(at time.Duration) (deeds []deed) {
	p := w.plan
	for _, n := range w.nodes {
		deeds = append(deeds, n.steady(at, at+3*p.life, 0.9+0.3*p.rnd.Float64())...)
	}
	at += 3*p.life + time.Duration(p.rnd.Int64N(int64(p.life)))
	for _, n := range w.nodes {
		deeds = append(deeds, deed{at, func() { n.burst(1, int(2*p.burst)) }})
	}
	return deeds
}

// relay is worse: one node after the other calls until it holds as much as it may, and keeps it; then
// all burst at one instant.
func (w *world) relay(at time.Duration) (deeds []deed) {
	p := w.plan
	for _, n := range w.nodes {
		deeds = append(deeds, n.steady(at, at+p.life/2, float64(p.nodes)*(0.5+p.rnd.Float64()))...)
		at += p.life / 2
		deeds = append(deeds, deed{at, n.topUp})
		at += time.Duration(p.rnd.Int64N(int64(p.life)))
	}
	for _, n := range w.nodes {
		deeds = append(deeds, deed{at, func() { n.burst(1, int(2*p.burst)) }})
	}
	return deeds
}

// topUp makes calls until nearly as much is held as may be.
func (n *node) topUp() {
	h, ok := n.process.(*hybrid.Limiter)
	if !ok {
		n.burst(1, 10)
		return
	}
	_, most := h.Slack()
	for i := range 3*int(min(most, 20)) + 10 {
		if h.Stats().Held >= most-1 || n.refusals() > min(i, 3) {
			return
		}
		n.call(1)
	}
}

// fault draws one thing that goes wrong.
func (w *world) fault() deed {
	p := w.plan
	rnd := p.rnd
	n := w.nodes[rnd.IntN(len(w.nodes))]
	lasts := time.Duration(rnd.Int64N(int64(3*p.life))) + 1
	do := []func(){
		func() { n.wire.cut, n.wire.refuses = w.now()+lasts, lasts%2 == 0 },
		func() { n.wire.loses = w.now() + lasts },
		func() { n.asleep = w.now() + lasts },
		func() { w.frozen = w.now() + lasts },
		func() { w.step(lasts) },
		func() { w.step(-lasts) },
		w.lose,
	}[rnd.IntN(7)]
	if p.suspends && rnd.IntN(3) == 0 {
		do = func() { n.asleep, n.suspended = w.now()+lasts, n.suspended+lasts }
	}
	crash := rnd.IntN(6) == 0
	return deed{time.Duration(rnd.Int64N(int64(p.length))), func() {
		if crash {
			n.boot()
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.log.faults++
		do()
	}}
}

// step steps the store's clock. A step forward earns, a full bucket at most. The caller holds mu.
func (w *world) step(d time.Duration) {
	w.clock.step(d)
	if d > 0 {
		w.log.add(event{at: w.now(), extra: min(float64(w.plan.burst), float64(w.plan.rate)*(d+tick).Seconds())})
	}
}

// lose makes the store forget the key, as a failover without the last writes does. The caller
// holds mu.
func (w *world) lose() {
	if err := w.memory.Put(w.Context(), w.shared.Key("key"), 0, store.Forever); err != nil {
		w.Error(err)
	}
	w.log.add(event{at: w.now(), extra: float64(w.plan.burst)})
}
