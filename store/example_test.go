package store_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/storetest"
)

// Two processes enforce one limit on one store.
func Example() {
	clock := enginetest.NewClock() // leave it out: nil is the wall clock
	storage := store.NewMemory(time.Microsecond, clock)
	var processes []*store.Shared
	for range 2 {
		backend, err := store.NewBackend(storage)
		if err != nil {
			fmt.Println(err)
			return
		}
		limiter, err := backend.Limiter("per-client", engine.TokenBucket(engine.PerSecond(10), 3))
		if err != nil {
			fmt.Println(err)
			return
		}
		processes = append(processes, limiter)
	}
	for i := range 4 {
		d, err := processes[i%2].Take(context.Background(), "alice", 1)
		fmt.Println(d.Allowed, d.Remaining, d.RetryAfter, d.Source, err)
	}
	// Output:
	// true 2 0s store <nil>
	// true 1 0s store <nil>
	// true 0 0s store <nil>
	// false 0 100ms store <nil>
}

// A store that does not answer is not a limit that is exceeded: the policy of the limit decides.
func ExampleWithPolicy() {
	storage := storetest.NewFaulty(store.NewMemory(time.Microsecond, nil))
	storage.SetBefore(func(context.Context, storetest.Call, string) error {
		return fmt.Errorf("%w: connection refused", store.ErrUnavailable)
	})
	backend, err := store.NewBackend(storage)
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := engine.TokenBucket(engine.PerSecond(10), 20)
	for _, options := range [][]store.LimitOption{
		{store.WithPolicy(store.LocalShare), store.WithProcesses(4)}, {store.WithPolicy(store.Open)}, {store.WithPolicy(store.Closed)},
	} {
		limiter, err := backend.Limiter("per-client", limit, options...)
		if err != nil {
			fmt.Println(err)
			return
		}
		d, err := limiter.Take(context.Background(), "alice", 1)
		fmt.Println(d.Source, d.Allowed, d.Limit, errors.Is(err, store.ErrUnavailable), errors.Is(d.Cause, store.ErrUnavailable))
		if err := limiter.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// local true 5 false true
	// open true 0 false true
	// closed false 0 true true
}
