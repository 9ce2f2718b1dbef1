package bench

import (
	"time"

	"github.com/penstock-go/penstock/engine"
)

// CoarseTick is the tick of the coarse clock in the rows that use it.
const CoarseTick = time.Millisecond

// Penstock is the adapter of penstock's own limiter.
type Penstock struct {
	limiter *engine.Limiter[string]
	charge  int64
}

// PenstockSubject is penstock with its default, exact clock.
func PenstockSubject() Subject {
	return Subject{Name: "penstock", Clock: "exact",
		New: func(_ int, load Load) Limiter { return NewPenstock(load) }}
}

// PenstockCoarseSubject is penstock with the coarse clock.
func PenstockCoarseSubject() Subject {
	return Subject{Name: "penstock", Clock: "coarse",
		New: func(_ int, load Load) Limiter { return NewPenstock(load, engine.WithCoarseClock(CoarseTick)) }}
}

// NewPenstock returns a limiter without keys for the load. It panics if the
// options are refused.
func NewPenstock(load Load, opts ...engine.Option) *Penstock {
	return &Penstock{limiter: engine.Must[string](load.Limit(), opts...), charge: load.Charge}
}

// Limit returns the load's limit.
func (l Load) Limit() engine.Limit {
	return engine.TokenBucket(engine.Rate{Tokens: l.Tokens, Per: l.Per}, l.Burst)
}

// Engine returns the limiter behind the adapter.
func (p *Penstock) Engine() *engine.Limiter[string] { return p.limiter }

// Fill makes the first decision for the keys from..to-1.
func (p *Penstock) Fill(k *Keys, from, to uint64) {
	for i := from; i < to; i++ {
		p.limiter.AllowN(k.At(i), p.charge)
	}
}

// Run decides n times about random keys.
func (p *Penstock) Run(k *Keys, n int) (admitted int) {
	for range n {
		if p.limiter.Allow(k.Next()) {
			admitted++
		}
	}
	return admitted
}

// Allow decides once.
func (p *Penstock) Allow(key string) bool { return p.limiter.Allow(key) }

// Len returns the number of live keys.
func (p *Penstock) Len() int { return p.limiter.Len() }

// Close stops the limiter's background work.
func (p *Penstock) Close() { _ = p.limiter.Close() }
