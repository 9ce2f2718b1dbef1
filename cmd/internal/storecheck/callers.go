package storecheck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/store"
)

const (
	callers   = 50
	permits   = 25
	processes = 5 // that do not know of each other

	day = 24 * time.Hour
)

// callers lets callers take a permit of one key at the same time: as many pass as
// there are permits. Those of one limiter share their round trips, so that they
// race once as one process and once as several.
func (r *run) callers(ctx context.Context, c *Check) error {
	c.Note = fmt.Sprintf("%d callers at once for %d permits, as 1 process and as %d; by the store's own way and by compare-and-swap",
		callers, permits, processes)
	all := ways(r.target.Storage())
	for _, way := range slices.Sorted(maps.Keys(all)) {
		for _, algorithm := range algorithms {
			for _, n := range []int{1, processes} {
				if err := r.race(ctx, all[way], algorithm, n, way); err != nil {
					c.judged(fmt.Sprintf("FAIL callers (%s, %s, processes %d): %v", algorithm, way, n, err))
					continue
				}
				c.judged()
			}
		}
	}
	return nil
}

// race lets all callers of one limit race.
func (r *run) race(ctx context.Context, s store.Storage, algorithm string, n int, way string) error {
	spec := limits.Spec{Algorithm: algorithm, Tokens: permits, Per: 300 * day, Burst: permits}
	limit, err := limits.Build(spec)
	if err != nil {
		return err
	}
	limiters := make([]*store.Shared, n)
	for i := range limiters {
		backend, err := r.backend(s)
		if err != nil {
			return err
		}
		if limiters[i], err = limiter(backend, fmt.Sprintf("callers-%s-%s-%d", algorithm, way, n), limit); err != nil {
			return err
		}
	}
	var passed, refused atomic.Int64
	failed := make([]error, callers)
	start := make(chan struct{})
	var ready, done sync.WaitGroup
	ready.Add(callers)
	for i := range callers {
		done.Go(func() {
			ready.Done()
			<-start
			d, err := takeAgain(ctx, limiters[i%n])
			switch {
			case err != nil:
				failed[i] = err
			case d.Allowed:
				passed.Add(1)
			default:
				refused.Add(1)
			}
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	if err := first(failed); err != nil {
		return err
	}
	if passed.Load() != permits || refused.Load() != callers-permits {
		return fmt.Errorf("%d passed and %d were refused; want %d and %d", passed.Load(), refused.Load(), permits, callers-permits)
	}
	return nil
}

// takeAgain takes a permit, again as long as others are faster: then nothing was charged.
func takeAgain(ctx context.Context, l *store.Shared) (store.Decision, error) {
	for {
		d, err := l.Take(ctx, "contended", 1)
		if !errors.Is(err, store.ErrContended) {
			return d, err
		}
	}
}

// first returns the first error, nil if there is none.
func first(all []error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
