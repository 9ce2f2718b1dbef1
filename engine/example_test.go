package engine_test

import (
	"fmt"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
)

func Example() {
	limiter := engine.Must[string](engine.TokenBucket(engine.PerSecond(10), 2))
	defer limiter.Close()
	for range 3 {
		fmt.Println(limiter.Allow("198.51.100.7"))
	}
	fmt.Println(limiter.Allow("198.51.100.8"))
	// Output:
	// true
	// true
	// false
	// true
}

// A decision says how long to wait. The time may be passed in, which makes tests and replays
// exact.
func ExampleLimiter_TakeAt() {
	limiter := engine.Must[string](engine.TokenBucket(engine.Rate{Tokens: 2, Per: 3 * time.Second}, 1))
	fmt.Println(limiter.TakeAt(0, "alice", 1).Allowed)
	d := limiter.TakeAt(time.Second, "alice", 1)
	fmt.Println(d.Allowed, d.RetryAfter)
	fmt.Println(limiter.TakeAt(time.Second+d.RetryAfter, "alice", 1).Allowed)
	// Output:
	// true
	// false 500ms
	// true
}

// Keys may be composite: any comparable type without interfaces.
func ExampleNew() {
	type route struct{ client, endpoint string }
	limiter, err := engine.New[route](engine.TokenBucket(engine.PerMinute(60), 1))
	if err != nil {
		panic(err)
	}
	defer limiter.Close()
	fmt.Println(limiter.Allow(route{"a", "/login"}), limiter.Allow(route{"a", "/login"}), limiter.Allow(route{"a", "/home"}))

	_, err = engine.New[string](engine.TokenBucket(engine.Rate{Tokens: -1, Per: 0}, 5))
	fmt.Println(err)
	// Output:
	// true false true
	// engine: invalid rate: -1 tokens: use 0 or more
	// engine: invalid rate: period 0s: use a period above 0
}

// A fake clock moves only when told to.
func ExampleWithClock() {
	clock := enginetest.NewClock()
	limiter := engine.Must[int](engine.TokenBucket(engine.PerSecond(1), 1), engine.WithClock(clock))
	fmt.Println(limiter.Allow(7), limiter.Allow(7))
	clock.Advance(time.Second)
	fmt.Println(limiter.Allow(7))
	// Output:
	// true false
	// true
}

// At the cap new keys share one bucket; keys that are held are not touched.
func ExampleWithMaxKeys() {
	limiter := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 1), engine.WithMaxKeys(1, engine.CapShared))
	fmt.Println(limiter.Allow("known"))
	fmt.Println(limiter.Allow("new"), limiter.Allow("another"))
	fmt.Println(limiter.Len(), limiter.Stats().CapShared)
	// Output:
	// true
	// true false
	// 1 2
}
