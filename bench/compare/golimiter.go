package compare

import (
	"context"
	"strings"
	"time"

	limiter "github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"

	"github.com/penstock-go/penstock/bench"
)

// GoLimiter is the memory store of sethvargo/go-limiter: a map behind a lock with
// a bucket behind a lock for each key, which is refilled all at once. A window is
// as long as the limit takes to earn its burst. Its sweep comes every six hours,
// so that none falls into a row; one permit is the most that a call can take.
type GoLimiter struct {
	store limiter.Store
}

// GoLimiterSubject is the memory store of sethvargo/go-limiter.
func GoLimiterSubject() bench.Subject {
	return bench.Subject{Name: "go-limiter", Clock: "exact",
		New: func(_ int, load bench.Load) bench.Limiter {
			store, err := memorystore.New(&memorystore.Config{Tokens: uint64(load.Burst), Interval: window(load)})
			if err != nil {
				panic(err)
			}
			return &GoLimiter{store: store}
		}}
}

// window is how long a load takes to earn its burst: the window of limiters that
// give all of it back at once.
func window(load bench.Load) time.Duration {
	return time.Duration(float64(load.Burst) / float64(load.Tokens) * float64(load.Per))
}

// Allow takes one permit of key, which must have been filled: the store keeps
// the key of the first call.
func (g *GoLimiter) Allow(key string) bool {
	_, _, _, ok, err := g.store.Take(context.Background(), key)
	return ok && err == nil
}

// Fill makes the first decision for the keys from..to-1.
func (g *GoLimiter) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		g.Allow(strings.Clone(k.At(i)))
	}
}

// Run decides n times about random keys.
func (g *GoLimiter) Run(k *bench.Keys, n int) (admitted int) {
	ctx := context.Background()
	for range n {
		if _, _, _, ok, err := g.store.Take(ctx, k.Next()); ok && err == nil {
			admitted++
		}
	}
	return admitted
}

// Len is not told by the store.
func (g *GoLimiter) Len() int { return unknown }

// Close stops the store's sweep.
func (g *GoLimiter) Close() { _ = g.store.Close(context.Background()) }
