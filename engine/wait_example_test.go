package engine_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
)

// A call that waits for its turn, or learns at once that it would be too late.
func ExampleLimiter_Wait() {
	limiter := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 2))
	defer limiter.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()

	for range 3 {
		err := limiter.Wait(ctx, "alice", 1)
		var wait *engine.WaitError
		switch {
		case err == nil:
			fmt.Println("go on")
		case errors.As(err, &wait) && errors.Is(err, context.DeadlineExceeded):
			fmt.Println("too late, by about", (wait.Wait - time.Second).Round(time.Minute))
		}
	}
	// Output:
	// go on
	// go on
	// too late, by about 1h0m0s
}

// Permits promised for later, and given up.
func ExampleLimiter_Reserve() {
	clock := enginetest.NewClock()
	limiter := engine.Must[string](engine.TokenBucket(engine.PerSecond(10), 20), engine.WithClock(clock))
	defer limiter.Close()

	fmt.Println(limiter.Reserve("alice", 20).Delay())
	r := limiter.Reserve("alice", 10)
	fmt.Println(r.Delay())

	clock.Advance(500 * time.Millisecond)
	fmt.Println(r.Delay(), r.Cancel())    // as if it had never been:
	fmt.Println(limiter.Take("alice", 5)) // half a second has earned five
	// Output:
	// 0s
	// 1s
	// 500ms true
	// {true 20 0 0s 0 0s 2s}
}

// A test of code that waits moves a fake clock, and is done in no time.
func ExampleWaker() {
	clock := enginetest.NewClock()
	limiter := engine.Must[string](engine.TokenBucket(engine.PerMinute(1), 1), engine.WithClock(clock))
	defer limiter.Close()
	limiter.Allow("alice")

	passed := make(chan error)
	go func() { passed <- limiter.Wait(context.Background(), "alice", 1) }()

	clock.BlockUntil(1) // it waits
	clock.Advance(time.Minute)
	fmt.Println(<-passed)
	// Output:
	// <nil>
}
