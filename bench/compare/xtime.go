package compare

import (
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/penstock-go/penstock/bench"
)

// xtimeLoad is what both x/time/rate adapters make a key's limiter from.
type xtimeLoad struct {
	rate   rate.Limit
	burst  int
	charge int
}

func newXTimeLoad(load bench.Load) xtimeLoad {
	return xtimeLoad{
		rate:   rate.Limit(float64(load.Tokens) / load.Per.Seconds()),
		burst:  int(load.Burst),
		charge: int(load.Charge),
	}
}

func (x xtimeLoad) limiter() *rate.Limiter { return rate.NewLimiter(x.rate, x.burst) }

// XTimeSyncMap is golang.org/x/time/rate with its limiters in a sync.Map, the
// way most programs key it. Looking a string up in a sync.Map puts it into an
// interface, which allocates; that is part of the way.
type XTimeSyncMap struct {
	load     xtimeLoad
	limiters sync.Map // string -> *rate.Limiter
}

// XTimeSyncMapSubject is x/time/rate in a sync.Map.
func XTimeSyncMapSubject() bench.Subject {
	return bench.Subject{Name: "xtime-syncmap", Clock: "exact",
		New: func(_ int, load bench.Load) bench.Limiter { return &XTimeSyncMap{load: newXTimeLoad(load)} }}
}

func (x *XTimeSyncMap) get(key string) *rate.Limiter {
	found, ok := x.limiters.Load(key)
	if !ok {
		found, _ = x.limiters.LoadOrStore(strings.Clone(key), x.load.limiter())
	}
	limiter, ok := found.(*rate.Limiter)
	if !ok {
		panic("compare: the map holds limiters only")
	}
	return limiter
}

// Allow takes one permit of key.
func (x *XTimeSyncMap) Allow(key string) bool { return x.get(key).Allow() }

// Fill makes the first decision for the keys from..to-1.
func (x *XTimeSyncMap) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		x.get(k.At(i)).AllowN(time.Now(), x.load.charge)
	}
}

// Run decides n times about random keys.
func (x *XTimeSyncMap) Run(k *bench.Keys, n int) (admitted int) {
	for range n {
		if x.Allow(k.Next()) {
			admitted++
		}
	}
	return admitted
}

// Len counts the keys, in time proportional to their number.
func (x *XTimeSyncMap) Len() int { return lenOf(&x.limiters) }

// Close does nothing.
func (x *XTimeSyncMap) Close() {}

// XTimeMutexMap is golang.org/x/time/rate with its limiters in a map behind a
// read-write mutex.
type XTimeMutexMap struct {
	load     xtimeLoad
	mu       sync.RWMutex
	limiters map[string]*rate.Limiter
}

// XTimeMutexMapSubject is x/time/rate in a map behind a read-write mutex.
func XTimeMutexMapSubject() bench.Subject {
	return bench.Subject{Name: "xtime-rwmutex", Clock: "exact",
		New: func(_ int, load bench.Load) bench.Limiter {
			return &XTimeMutexMap{load: newXTimeLoad(load), limiters: map[string]*rate.Limiter{}}
		}}
}

func (x *XTimeMutexMap) get(key string) *rate.Limiter {
	x.mu.RLock()
	limiter, found := x.limiters[key]
	x.mu.RUnlock()
	if found {
		return limiter
	}
	return x.insert(strings.Clone(key))
}

func (x *XTimeMutexMap) insert(key string) *rate.Limiter {
	x.mu.Lock()
	defer x.mu.Unlock()
	limiter, found := x.limiters[key]
	if !found {
		limiter = x.load.limiter()
		x.limiters[key] = limiter
	}
	return limiter
}

// Allow takes one permit of key.
func (x *XTimeMutexMap) Allow(key string) bool { return x.get(key).Allow() }

// Fill makes the first decision for the keys from..to-1.
func (x *XTimeMutexMap) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		x.get(k.At(i)).AllowN(time.Now(), x.load.charge)
	}
}

// Run decides n times about random keys.
func (x *XTimeMutexMap) Run(k *bench.Keys, n int) (admitted int) {
	for range n {
		if x.Allow(k.Next()) {
			admitted++
		}
	}
	return admitted
}

// Len returns the number of keys.
func (x *XTimeMutexMap) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.limiters)
}

// Close does nothing.
func (x *XTimeMutexMap) Close() {}
