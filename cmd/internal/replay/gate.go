package replay

import (
	"errors"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// Limit is one of the limits that every request must pass.
type Limit struct {
	Name   string
	Engine engine.Limit
	Words  string // the limit in words, without its algorithm
	Rate   string // as it is written: 10/1s
	Burst  *int64 // nil if the algorithm has none
	Key    KeySpec
}

// queues tells whether a request that passes may have to wait.
func (l *Limit) queues() bool { return l.Engine.Algorithm() == engine.AlgorithmLeakyQueue }

// gate judges requests by several limits, all or nothing.
type gate struct {
	limiters  []*engine.Limiter[uint32]
	rings     []int             // by limit, the keyring of its keys
	decisions []engine.Decision // by limit, of the last request
}

func newGate(limits []Limit, rings []int) (*gate, error) {
	if len(limits) == 0 {
		return nil, errors.New("replay: no limit; give at least one")
	}
	g := &gate{rings: rings, decisions: make([]engine.Decision, len(limits))}
	for _, l := range limits {
		limiter, err := engine.New[uint32](l.Engine)
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		g.limiters = append(g.limiters, limiter)
	}
	return g, nil
}

// take judges a request with the given key of each ring: it is charged to all
// limits, or, if one of them refuses, to none. The decision of each is left in
// g.decisions.
//
// This is all that knows how several limits are taken as one. Nothing else
// uses the limiters, so asking all of them first and charging them then is all
// or nothing. engine.TakeAllAt is that too, but answers for the strictest limit
// alone; the report needs what each of them had to say.
func (g *gate) take(now time.Duration, keys []uint32) bool {
	allowed := true
	if len(g.limiters) > 1 { // one limit is all or nothing by itself
		for i, l := range g.limiters {
			g.decisions[i] = l.PeekAt(now, keys[g.rings[i]])
			allowed = allowed && g.decisions[i].Allowed
		}
	}
	if allowed {
		for i, l := range g.limiters {
			g.decisions[i] = l.TakeAt(now, keys[g.rings[i]], 1)
			allowed = allowed && g.decisions[i].Allowed
		}
	}
	return allowed
}

func (g *gate) close() error {
	var errs []error
	for _, l := range g.limiters {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
