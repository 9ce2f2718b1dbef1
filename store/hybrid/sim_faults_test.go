package hybrid_test

import (
	"context"
	"errors"
	"sort"
	"time"

	"github.com/penstock-go/penstock/store"
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
	world := w.node.world
	for d = max(d, world.frozen-world.now()); d > 0; d = world.frozen - world.now() {
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
	world := w.node.world
	rnd, p := world.plan.rnd, world.plan
	there, back := time.Duration(rnd.Int64N(int64(p.slow)+1)), time.Duration(rnd.Int64N(int64(p.slow)+1))
	late := rnd.IntN(2) == 0
	if world.now() < w.cut {
		if w.refuses {
			return store.ErrUnavailable
		}
		<-ctx.Done()
		return ctx.Err()
	}
	if err := w.pass(ctx, there); err != nil {
		if late { // it has arrived all the same
			w.Memory.Apply(context.WithoutCancel(ctx), ops, results)
		}
		return err
	}
	w.Memory.Apply(context.WithoutCancel(ctx), ops, results)
	if c, ok := ctx.Value(chargeKey{}).(*charge); ok {
		c.at = world.now()
	}
	if world.now() < w.loses && late {
		return errLost
	}
	return w.pass(ctx, back)
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
		deeds = append(deeds, w.hoard(time.Duration(p.rnd.Int64N(int64(p.length))))...)
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
	n.refused = 0
	for range calls {
		if n.call(k); n.refused > 3 {
			return
		}
	}
}

// hoard is the worst that can be made of leases: all nodes are busy, so that their leases are large; they
// wait for the bucket to fill while they hold what they have; then all burst at one instant.
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

// fault draws one thing that goes wrong.
func (w *world) fault() deed {
	p := w.plan
	rnd := p.rnd
	n := w.nodes[rnd.IntN(len(w.nodes))]
	lasts := time.Duration(rnd.Int64N(int64(3*p.life))) + 1
	do := []func(){
		func() { n.boot() },
		func() { n.wire.cut, n.wire.refuses = w.now()+lasts, lasts%2 == 0 },
		func() { n.wire.loses = w.now() + lasts },
		func() { n.asleep = w.now() + lasts },
		func() { w.frozen = w.now() + lasts },
		func() { w.step(lasts) },
		func() { w.step(-lasts) },
		w.lose,
	}[rnd.IntN(8)]
	if p.suspends && rnd.IntN(3) == 0 {
		do = func() { n.asleep, n.suspended = w.now()+lasts, n.suspended+lasts }
	}
	return deed{time.Duration(rnd.Int64N(int64(p.length))), func() {
		w.log.faults++
		do()
	}}
}

// step steps the store's clock. A step forward earns, a full bucket at most.
func (w *world) step(d time.Duration) {
	w.clock.step(d)
	if d > 0 {
		w.log.add(event{at: w.now(), extra: min(float64(w.plan.burst), float64(w.plan.rate)*(d+tick).Seconds())})
	}
}

// lose makes the store forget the key, as a failover without the last writes does.
func (w *world) lose() {
	if err := w.memory.Put(w.Context(), w.shared.Key("key"), 0, store.Forever); err != nil {
		w.Error(err)
	}
	w.log.add(event{at: w.now(), extra: float64(w.plan.burst)})
}
