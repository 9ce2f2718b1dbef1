package compare

import (
	"context"
	"math"
	"strings"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"

	"github.com/penstock-go/penstock/bench"
)

// Throttled is the rate limiter (GCRA) of throttled on its memory store without a
// cap on keys. By default it gives up with an error after ten lost races, which
// would fail the rows of one key on two processors; here it goes on for ever. An
// error counts as a denial.
type Throttled struct {
	limiter *throttled.GCRARateLimiterCtx
	charge  int
}

// ThrottledSubject is throttled with its memory store.
func ThrottledSubject() bench.Subject {
	return bench.Subject{Name: "throttled", Clock: "exact",
		New: func(_ int, load bench.Load) bench.Limiter { return newThrottled(load) }}
}

func newThrottled(load bench.Load) *Throttled {
	store, err := memstore.NewCtx(0)
	if err != nil {
		panic(err)
	}
	limiter, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{
		MaxRate: throttled.PerDuration(int(load.Tokens), load.Per), MaxBurst: int(load.Burst - 1),
	})
	if err != nil {
		panic(err)
	}
	limiter.SetMaxCASAttemptsLimit(math.MaxInt)
	return &Throttled{limiter: limiter, charge: int(load.Charge)}
}

// Allow takes one permit of key, which must have been filled: the store keeps
// the key of the first call.
func (t *Throttled) Allow(key string) bool {
	limited, _, err := t.limiter.RateLimitCtx(context.Background(), key, 1)
	return !limited && err == nil
}

// Fill makes the first decision for the keys from..to-1.
func (t *Throttled) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		_, _, _ = t.limiter.RateLimitCtx(context.Background(), strings.Clone(k.At(i)), t.charge)
	}
}

// Run decides n times about random keys.
func (t *Throttled) Run(k *bench.Keys, n int) (admitted int) {
	ctx := context.Background()
	for range n {
		if limited, _, err := t.limiter.RateLimitCtx(ctx, k.Next(), 1); !limited && err == nil {
			admitted++
		}
	}
	return admitted
}

// Len is not told by the store.
func (t *Throttled) Len() int { return unknown }

// Close does nothing.
func (t *Throttled) Close() {}
