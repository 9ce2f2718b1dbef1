package fair_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/fair"
)

// One hundred permits a second for all; gold has five times the share of others while they ask.
func Example() {
	limiter := fair.Must[string](engine.TokenBucket(engine.PerSecond(100), 10))
	defer limiter.Close()
	if err := limiter.SetWeight("gold", 5); err != nil {
		fmt.Println(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, tenant := range []string{"gold", "silver"} {
		if err := limiter.Wait(ctx, tenant, 1); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(tenant, "goes on")
	}
	// Output:
	// gold goes on
	// silver goes on
}

// Each reason not to wait has an error of its own.
func ExampleLimiter_Wait() {
	limiter := fair.Must[string](engine.TokenBucket(engine.PerMinute(1), 1))
	defer limiter.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()

	fmt.Println(limiter.Wait(ctx, "a", 1))
	var late *fair.DeadlineError
	err := limiter.Wait(ctx, "a", 1)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.As(err, &late), late.AtLeast.Round(time.Second))
	fmt.Println(limiter.Wait(ctx, "a", 2))
	// Output:
	// <nil>
	// true true 1m0s
	// fair: the limit can never grant this: 2 permits, capacity 1: ask for fewer, or raise the limit
}

// Without waiting: who is refused has his place for a while, however often another asks.
func ExampleLimiter_Take() {
	clock := enginetest.NewClock()
	limiter := fair.Must[string](engine.TokenBucket(engine.PerSecond(1), 1), fair.WithClock(clock))
	limiter.Allow("busy")
	limiter.Allow("busy") // refused: nothing is left
	d := limiter.Take("quiet", 1)
	fmt.Println(d.Allowed, d.RetryAfter)

	clock.Advance(d.RetryAfter)
	fmt.Println("busy", limiter.Allow("busy"))
	d = limiter.Take("quiet", 1)
	clock.Advance(d.RetryAfter)
	fmt.Println("busy", limiter.Allow("busy"))
	fmt.Println("quiet", limiter.Allow("quiet"))
	// Output:
	// false 1s
	// busy true
	// busy false
	// quiet true
}
