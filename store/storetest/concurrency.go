package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// The usual case of check-then-increment: 50 callers at once under a limit of 25 an hour.
const (
	callers  = 50
	permits  = 25
	opsDelay = 5 * time.Millisecond
)

// Concurrency lets callers race for one key: as many as there are permits pass, from one process and
// from several, also where each operation takes time. A call that lost every race is made again.
func Concurrency(t *testing.T, k Kit) {
	t.Helper()
	for name, limit := range map[string]engine.Limit{
		"token_bucket":   engine.TokenBucket(engine.Rate{Tokens: permits, Per: 24 * time.Hour}, permits),
		"leaky_queue":    engine.LeakyQueue(engine.Rate{Tokens: permits, Per: 24 * time.Hour}, permits),
		"fixed_window":   engine.FixedWindow(permits, 365*24*time.Hour),
		"sliding_window": engine.SlidingWindow(permits, 365*24*time.Hour),
	} {
		for _, processes := range []int{1, 5} {
			for _, delay := range []time.Duration{0, opsDelay} {
				t.Run(name+"/"+map[int]string{1: "one process", 5: "several"}[processes]+"/delay "+delay.String(), func(t *testing.T) {
					k.race(t, limit, processes, delay)
				})
			}
		}
	}
}

// race lets all callers take one permit at once.
func (k Kit) race(t *testing.T, limit engine.Limit, processes int, delay time.Duration) {
	t.Helper()
	s := k.New(t, nil)
	if _, err := store.NewLaw(limit, s.Info()); errors.Is(err, store.ErrNotSupported) {
		t.Skip(err)
	}
	faulty := NewFaulty(s)
	if delay > 0 {
		faulty.SetBefore(Delay(delay))
	}
	limiters := make([]*checked, processes)
	for i := range limiters {
		limiters[i] = k.limiter(t, faulty, limit)
	}
	var allowed, denied, failed atomic.Int64
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(callers)
	for i := range callers {
		done.Go(func() {
			ready.Done()
			<-start
			d, err := takeAgain(t, limiters[i%processes])
			switch {
			case err != nil:
				failed.Add(1)
				t.Errorf("caller %d: %v", i, err)
			case d.Allowed:
				allowed.Add(1)
			default:
				denied.Add(1)
			}
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	if allowed.Load() != permits || denied.Load() != callers-permits {
		t.Errorf("%d passed, %d were refused, %d failed; want %d and %d",
			allowed.Load(), denied.Load(), failed.Load(), permits, callers-permits)
	}
}

// takeAgain takes a permit, again as long as others are faster: then nothing was charged.
func takeAgain(t *testing.T, l *checked) (store.Decision, error) {
	t.Helper()
	for {
		d, err := l.Take(t.Context(), "contended", 1)
		if !errors.Is(err, store.ErrContended) {
			return d, err
		}
	}
}
