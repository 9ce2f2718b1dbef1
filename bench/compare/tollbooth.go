package compare

import (
	"strings"

	"github.com/didip/tollbooth/v7/limiter"

	"github.com/penstock-go/penstock/bench"
)

// Tollbooth is didip/tollbooth: limiters of x/time/rate in a cache behind one
// lock. Its default time to live, ten years, lets none expire. What it takes of a
// key is one permit.
type Tollbooth struct{ limiter *limiter.Limiter }

// TollboothSubject is didip/tollbooth.
func TollboothSubject() bench.Subject {
	return bench.Subject{Name: "tollbooth", Clock: "exact",
		New: func(_ int, load bench.Load) bench.Limiter {
			x := newXTimeLoad(load)
			return &Tollbooth{limiter.New(nil).SetMax(float64(x.rate)).SetBurst(x.burst)}
		}}
}

// Allow takes one permit of key, which must have been filled: the cache keeps the
// key of the first call.
func (t *Tollbooth) Allow(key string) bool { return !t.limiter.LimitReached(key) }

// Fill makes the first decision for the keys from..to-1.
func (t *Tollbooth) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		t.Allow(strings.Clone(k.At(i)))
	}
}

// Run decides n times about random keys.
func (t *Tollbooth) Run(k *bench.Keys, n int) (admitted int) {
	for range n {
		if !t.limiter.LimitReached(k.Next()) {
			admitted++
		}
	}
	return admitted
}

// Len is not told by the cache.
func (t *Tollbooth) Len() int { return unknown }

// Close does nothing.
func (t *Tollbooth) Close() {}
