package compare

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"github.com/penstock-go/penstock/bench"
)

// Waiting is a limiter behind which a call can block.
type Waiting struct {
	Name string
	// Open makes a limiter without keys and its call for one permit of a key, which blocks until
	// the permit is there. The limiter is nil if there is none.
	Open func(load bench.Load) (bench.Limiter, WaitFunc)
}

// WaitFunc blocks until a permit of key is the caller's, or returns the error of ctx when that ends.
type WaitFunc func(ctx context.Context, key string) error

// AllWaiting returns what the rows of waiters compare. The first, none, is a goroutine that waits for
// a timer or the end of its context: the least that a limiter of this kind can cost. The rival keeps
// its limiters in a map behind a lock, since the look into a sync.Map would allocate.
func AllWaiting() []Waiting {
	return []Waiting{
		{"none", func(bench.Load) (bench.Limiter, WaitFunc) { return nil, waitForTimer }},
		{"penstock", func(load bench.Load) (bench.Limiter, WaitFunc) {
			p := bench.NewPenstock(load)
			engine := p.Engine()
			return p, func(ctx context.Context, key string) error { return engine.Wait(ctx, key, 1) }
		}},
		{"xtime-rwmutex", func(load bench.Load) (bench.Limiter, WaitFunc) {
			x := &XTimeMutexMap{load: newXTimeLoad(load), limiters: map[string]*rate.Limiter{}}
			return x, func(ctx context.Context, key string) error { return x.get(key).Wait(ctx) }
		}},
	}
}

// waitForTimer waits for an hour, or for the end of ctx.
func waitForTimer(ctx context.Context, _ string) error {
	t := time.NewTimer(time.Hour)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
