package storecheck

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/store"
)

const (
	expiryPermits = 4
	expiryPeriod  = 400 * time.Millisecond // in which they are earned, or of a window
	expiryTries   = 10                     // for a call that came too late to be refused
)

// expiry drains a key of each algorithm, waits until it equals a new one by the
// store's own word, and takes all of it again. Where the store forgets by itself,
// nothing may be left of it by then.
func (r *run) expiry(ctx context.Context, c *Check) error {
	c.Note = "a drained key refuses, and equals a new one when the store says so"
	if r.target.ForgetsByItself() {
		c.Note += "; then it is gone from the store"
	} else {
		c.NotRun = append(c.NotRun, NotRun{
			"that expired keys are gone", "the store collects them some time later; nothing is decided by it",
		})
	}
	failures := make([]error, len(algorithms))
	var done sync.WaitGroup
	for i, algorithm := range algorithms {
		done.Go(func() { failures[i] = r.expires(ctx, algorithm) })
	}
	done.Wait()
	for i, err := range failures {
		if err != nil {
			c.judged(fmt.Sprintf("FAIL expiry (%s): %v", algorithms[i], err))
			continue
		}
		c.judged()
	}
	return nil
}

func (r *run) expires(ctx context.Context, algorithm string) error {
	spec := limits.Spec{Algorithm: algorithm, Tokens: expiryPermits, Per: expiryPeriod, Burst: expiryPermits}
	limit, err := limits.Build(spec)
	if err != nil {
		return err
	}
	backend, err := r.backend(r.target.Storage())
	if err != nil {
		return err
	}
	l, err := limiter(backend, "expiry-"+algorithm, limit)
	if err != nil {
		return err
	}
	d, err := drained(ctx, l)
	if err != nil {
		return err
	}
	if err := wait(ctx, d.ResetAfter); err != nil {
		return err
	}
	if r.target.ForgetsByItself() {
		if err := r.gone(ctx, l.Key(expiryKey), d.ResetAfter); err != nil {
			return err
		}
	}
	again, err := l.Take(ctx, expiryKey, expiryPermits)
	if err != nil {
		return err
	}
	if !again.Allowed {
		return fmt.Errorf("%v after it was drained it is not as new: %s", d.ResetAfter, said(again.Decision))
	}
	return nil
}

const expiryKey = "drained"

// drained takes all of a key and sees that it refuses then: only if a call came
// back so late that a permit may have been earned meanwhile, it begins again.
func drained(ctx context.Context, l *store.Shared) (store.Decision, error) {
	for range expiryTries {
		if err := l.Reset(ctx, expiryKey); err != nil {
			return store.Decision{}, err
		}
		began := time.Now()
		d, err := l.Take(ctx, expiryKey, expiryPermits)
		switch {
		case err != nil:
			return d, err
		case !d.Allowed || d.Remaining != 0:
			return d, fmt.Errorf("a new key does not give all it has: %s, %d left", said(d.Decision), d.Remaining)
		case d.ResetAfter <= 0:
			return d, fmt.Errorf("a drained key is as new after %v; want more than 0", d.ResetAfter)
		}
		refused, err := l.Take(ctx, expiryKey, 1)
		if err != nil {
			return d, err
		}
		if !refused.Allowed {
			return d, nil
		}
		if late := time.Since(began); late < expiryPeriod/expiryPermits {
			return d, fmt.Errorf("a drained key let a call pass within %v", late)
		}
	}
	return store.Decision{}, fmt.Errorf("each of %d calls took longer than a permit takes to be earned: "+
		"the store is too slow for this check", expiryTries)
}

// gone sees that a key is not in the store any more: a millisecond late at most,
// the unit of times to live.
func (r *run) gone(ctx context.Context, key string, after time.Duration) error {
	if err := wait(ctx, 2*time.Millisecond); err != nil {
		return err
	}
	at, err := r.target.Storage().Get(ctx, key)
	if err != nil {
		return err
	}
	if at.Word != 0 {
		return fmt.Errorf("%v after it was drained the key is still in the store", after)
	}
	return nil
}

// wait waits for so long, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
