package hybrid_test

import (
	"context"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
)

// Two processes share one limit in a store, here one in memory. Each of them makes 50,000 calls in a
// row: together they are admitted no more than the burst, the slack and what has been earned meanwhile.
// Stats tells how few of the calls have reached the store.
func Example() {
	ctx := context.Background()
	limit := engine.TokenBucket(engine.PerMinute(10_000), 10_000)
	storage := store.NewMemory(time.Microsecond, nil) // or that of another module
	began, admitted := time.Now(), 0
	for range 2 {
		backend, err := store.NewBackend(storage, store.WithDeadline(time.Second))
		if err != nil {
			panic(err)
		}
		shared, err := backend.Limiter("per-client", limit, store.WithPolicy(store.LocalShare), store.WithProcesses(2))
		if err != nil {
			panic(err)
		}
		fast, err := hybrid.New(shared, hybrid.WithSlack(0.1))
		if err != nil {
			panic(err)
		}
		for range 50_000 {
			d, err := fast.Take(ctx, "alice", 1)
			if err != nil {
				panic(err)
			}
			if d.Allowed {
				admitted++
			}
		}
		_ = fast.Close()
		_ = shared.Close()
	}
	earned := int(10_000*time.Since(began)/time.Minute) + 1
	fmt.Println("within the bound:", admitted <= 10_000+1_000+earned)
	// Output:
	// within the bound: true
}

// Without slack every decision is the store's, exactly; only refusals are answered from memory until
// their time is over.
func ExampleWithSlack_synchronous() {
	backend, err := store.NewBackend(store.NewMemory(time.Microsecond, nil), store.WithDeadline(time.Second))
	if err != nil {
		panic(err)
	}
	shared, err := backend.Limiter("per-client", engine.TokenBucket(engine.PerHour(1), 2))
	if err != nil {
		panic(err)
	}
	exact, err := hybrid.New(shared, hybrid.WithSlack(0))
	if err != nil {
		panic(err)
	}
	for range 4 {
		d, err := exact.Take(context.Background(), "alice", 1)
		fmt.Println(d.Allowed, d.Source, err)
	}
	// Output:
	// true store <nil>
	// true store <nil>
	// false store <nil>
	// false negative <nil>
}

// The bound needs two numbers: how long a lease lives, and how many permits of a key a process holds.
func ExampleLimiter_Slack() {
	backend, err := store.NewBackend(store.NewMemory(time.Microsecond, nil))
	if err != nil {
		panic(err)
	}
	shared, err := backend.Limiter("per-tenant", engine.TokenBucket(engine.PerSecond(50_000), 5_000))
	if err != nil {
		panic(err)
	}
	const processes, slack = 4, 0.1
	fast, err := hybrid.New(shared, hybrid.WithSlack(slack), hybrid.WithMaxLease(slack*5_000/processes))
	if err != nil {
		panic(err)
	}
	life, permits := fast.Slack()
	fmt.Println(life, permits)
	// Output: 10ms 125
}
