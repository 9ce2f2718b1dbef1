package engine_test

import (
	"fmt"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// The bodies of these examples are the pieces of Go in docs/algorithms.md.

func ExampleTokenBucket() {
	limiter := engine.Must[string](engine.TokenBucket(engine.PerSecond(2), 6))
	defer limiter.Close()
	fmt.Println(limiter.TakeAt(0, "alice", 6).Allowed) // the burst
	d := limiter.TakeAt(100*time.Millisecond, "alice", 1)
	fmt.Println(d.Allowed, d.RetryAfter) // 0.2 of a token earned, 0.8 to come
	// Output:
	// true
	// false 400ms
}

func ExampleGCRA() {
	// One cell every 500 ms, with a tolerance of six.
	limiter := engine.Must[string](engine.GCRA(engine.Every(500*time.Millisecond), 6))
	defer limiter.Close()
	fmt.Println(limiter.TakeAt(0, "alice", 6).Allowed)
	fmt.Println(limiter.TakeAt(100*time.Millisecond, "alice", 1).RetryAfter)
	// Output:
	// true
	// 400ms
}

func ExampleLeakyQueue() {
	limiter := engine.Must[string](engine.LeakyQueue(engine.PerSecond(2), 6))
	defer limiter.Close()
	for range 7 {
		d := limiter.TakeAt(0, "mailer", 1)
		fmt.Print(d.Allowed, " ", d.Delay, "; ") // if allowed: wait for Delay, then go on
	}
	// Output:
	// true 0s; true 500ms; true 1s; true 1.5s; true 2s; true 2.5s; false 0s;
}

func ExampleFixedWindow() {
	// A thousand a day, from midnight to midnight UTC: times are given since 1970.
	limiter := engine.Must[string](engine.FixedWindow(1000, 24*time.Hour))
	defer limiter.Close()
	evening := time.Date(2026, 5, 4, 23, 0, 0, 0, time.UTC)
	now := time.Duration(evening.UnixNano())
	fmt.Println(limiter.TakeAt(now, "alice", 1000).Allowed)
	fmt.Println(limiter.TakeAt(now, "alice", 1).RetryAfter)
	fmt.Println(limiter.TakeAt(now+time.Hour, "alice", 1000).Allowed) // twice the limit in an hour
	// Output:
	// true
	// 1h0m0s
	// true
}

func ExampleSlidingWindow() {
	limiter := engine.Must[string](engine.SlidingWindow(6, 3*time.Second))
	defer limiter.Close()
	fmt.Println(limiter.TakeAt(2900*time.Millisecond, "alice", 6).Allowed)
	fmt.Println(limiter.TakeAt(3100*time.Millisecond, "alice", 1).RetryAfter) // at 3.5 s, five of six still weigh
	fmt.Println(limiter.TakeAt(5500*time.Millisecond, "alice", 5).Allowed)    // 11 in 2.6 s
	// Output:
	// true
	// 400ms
	// true
}

func ExampleSlidingLog() {
	limiter := engine.Must[string](engine.SlidingLog(6, 3*time.Second))
	defer limiter.Close()
	fmt.Println(limiter.TakeAt(2900*time.Millisecond, "alice", 6).Allowed)
	fmt.Println(limiter.TakeAt(5500*time.Millisecond, "alice", 1).RetryAfter) // at 5.9 s
	// Output:
	// true
	// 400ms
}
