package compare

import (
	"strings"
	"sync"

	"github.com/failsafe-go/failsafe-go/ratelimiter"

	"github.com/penstock-go/penstock/bench"
)

// FailsafeSyncMap is failsafe-go's bursty limiter, one for each key in a sync.Map.
// It gives back all of a burst at once; a window is as long as the limit takes to
// earn it.
type FailsafeSyncMap struct {
	load     bench.Load
	limiters sync.Map // string -> ratelimiter.RateLimiter[any]
}

// FailsafeSubject is failsafe-go in a sync.Map.
func FailsafeSubject() bench.Subject {
	return bench.Subject{Name: "failsafe-syncmap", Clock: "exact",
		New: func(_ int, load bench.Load) bench.Limiter { return &FailsafeSyncMap{load: load} }}
}

func (f *FailsafeSyncMap) get(key string) ratelimiter.RateLimiter[any] {
	found, ok := f.limiters.Load(key)
	if !ok {
		made := ratelimiter.NewBursty[any](uint(f.load.Burst), window(f.load))
		found, _ = f.limiters.LoadOrStore(strings.Clone(key), made)
	}
	limiter, ok := found.(ratelimiter.RateLimiter[any])
	if !ok {
		panic("compare: the map holds limiters only")
	}
	return limiter
}

// Allow takes one permit of key.
func (f *FailsafeSyncMap) Allow(key string) bool { return f.get(key).TryAcquirePermit() }

// Fill makes the first decision for the keys from..to-1.
func (f *FailsafeSyncMap) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		f.get(k.At(i)).TryAcquirePermits(uint(f.load.Charge))
	}
}

// Run decides n times about random keys.
func (f *FailsafeSyncMap) Run(k *bench.Keys, n int) (admitted int) {
	for range n {
		if f.Allow(k.Next()) {
			admitted++
		}
	}
	return admitted
}

// Len counts the keys, in time proportional to their number.
func (f *FailsafeSyncMap) Len() int { return lenOf(&f.limiters) }

// Close does nothing.
func (f *FailsafeSyncMap) Close() {}
