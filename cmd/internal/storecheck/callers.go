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
// race once as one process and once as several. By compare-and-swap all processes
// read before the first of them writes, so that all but one lose that race.
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
	all := &meeting{wanted: int64(n), met: make(chan struct{})}
	for i := range limiters {
		mine := s
		if _, ok := s.(store.Applier); !ok {
			mine = &together{Storage: s, all: all}
		}
		backend, err := r.backend(mine)
		if err != nil {
			return err
		}
		if limiters[i], err = limiter(backend, fmt.Sprintf("callers-%s-%s-%d", algorithm, way, n), limit); err != nil {
			return err
		}
	}
	passed, refused, err := take(ctx, limiters)
	if err != nil {
		return err
	}
	if passed != permits || refused != callers-permits {
		return fmt.Errorf("%d passed and %d were refused; want %d and %d", passed, refused, permits, callers-permits)
	}
	lost := uint64(0)
	for _, l := range limiters {
		lost += l.Stats().Retries
	}
	if least := uint64(n - 1); way == waySwap && lost < least {
		return fmt.Errorf("%d races were lost, though all processes had read before one wrote; want %d at least", lost, least)
	}
	return nil
}

// meeting is where so many wait for each other.
type meeting struct {
	wanted int64
	here   atomic.Int64
	met    chan struct{}
}

// wait waits until all are there, or ctx ends.
func (m *meeting) wait(ctx context.Context) {
	if m.here.Add(1) == m.wanted {
		close(m.met)
	}
	select {
	case <-m.met:
	case <-ctx.Done():
	}
}

// together is the storage of one process, whose first reading waits for those of all.
type together struct {
	store.Storage
	all  *meeting
	once sync.Once
}

// Get reads.
func (t *together) Get(ctx context.Context, key string) (store.Reading, error) {
	at, err := t.Storage.Get(ctx, key)
	t.once.Do(func() { t.all.wait(ctx) })
	return at, err
}

// take lets all callers take a permit at once.
func take(ctx context.Context, limiters []*store.Shared) (allowed, denied int64, err error) {
	var passed, refused atomic.Int64
	failed := make([]error, callers)
	start := make(chan struct{})
	var ready, done sync.WaitGroup
	ready.Add(callers)
	for i := range callers {
		done.Go(func() {
			ready.Done()
			<-start
			d, err := takeAgain(ctx, limiters[i%len(limiters)])
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
	return passed.Load(), refused.Load(), first(failed)
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
