package compare

import (
	"context"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"

	"github.com/penstock-go/penstock/bench"
)

// Ulule is ulule/limiter with its memory store: a fixed window that begins with a
// key's first call. Its sweep is off; a window is as long as the limit takes to
// earn its burst. The store makes a prefixed key of its own in each call.
type Ulule struct {
	limiter *limiter.Limiter
	charge  int64
}

// UluleSubject is ulule/limiter with its memory store.
func UluleSubject() bench.Subject {
	return bench.Subject{Name: "ulule", Clock: "exact",
		New: func(_ int, load bench.Load) bench.Limiter {
			store := memory.NewStoreWithOptions(limiter.StoreOptions{Prefix: "x"})
			rate := limiter.Rate{Period: window(load), Limit: load.Burst}
			return &Ulule{limiter: limiter.New(store, rate), charge: load.Charge}
		}}
}

// Allow takes one permit of key.
func (u *Ulule) Allow(key string) bool {
	state, err := u.limiter.Get(context.Background(), key)
	return err == nil && !state.Reached
}

// Fill makes the first decision for the keys from..to-1.
func (u *Ulule) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		_, _ = u.limiter.Increment(context.Background(), k.At(i), u.charge)
	}
}

// Run decides n times about random keys.
func (u *Ulule) Run(k *bench.Keys, n int) (admitted int) {
	ctx := context.Background()
	for range n {
		if state, err := u.limiter.Get(ctx, k.Next()); err == nil && !state.Reached {
			admitted++
		}
	}
	return admitted
}

// Len is not told by the store.
func (u *Ulule) Len() int { return unknown }

// Close does nothing.
func (u *Ulule) Close() {}
