package engine_test

import (
	"fmt"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
)

// Plans have limits, and so may single users. All of it may change while calls are made.
func ExampleTiers() {
	type user struct{ name, plan string }
	tiers := engine.NewTiers(func(u user) string { return u.plan })
	for plan, limit := range map[string]engine.Limit{
		"pro":      engine.TokenBucket(engine.PerSecond(10), 20),
		"internal": engine.Unlimited(),
	} {
		if err := tiers.Set(plan, limit); err != nil {
			panic(err)
		}
	}
	// The default is for the plans that have no limit of their own.
	limiter := engine.Must[user](engine.TokenBucket(engine.PerMinute(60), 2), engine.WithResolver(tiers))
	defer limiter.Close()

	ann, bob, job := user{"ann", "free"}, user{"bob", "pro"}, user{"nightly", "internal"}
	for _, u := range []user{ann, bob, job} {
		fmt.Println(u.name, limiter.AllowN(u, 20))
	}
	if err := tiers.Override(bob, engine.Blocked()); err != nil {
		panic(err)
	}
	fmt.Println("bob", limiter.Allow(bob))
	tiers.Remove(bob)
	// Output:
	// ann false
	// bob true
	// nightly true
	// bob false
}

// A new limit forgives nothing: what was used is carried over.
func ExampleLimiter_SetLimit() {
	limiter := engine.Must[string](engine.TokenBucket(engine.PerSecond(10), 20))
	defer limiter.Close()
	fmt.Println(limiter.TakeAt(0, "alice", 15).Remaining)
	if err := limiter.SetLimit(engine.TokenBucket(engine.PerSecond(1), 5)); err != nil {
		panic(err)
	}
	d := limiter.TakeAt(0, "alice", 1)
	fmt.Println(d.Allowed, d.RetryAfter) // 15 used of 5: 11 have to be earned before one passes
	fmt.Println(limiter.TakeAt(0, "bob", 1).Remaining)
	// Output:
	// 5
	// false 11s
	// 4
}

// Ten a second, and no more than fifteen an hour.
func ExampleWithAlso() {
	limiter := engine.Must[string](engine.SlidingLog(10, time.Second), engine.WithAlso(engine.SlidingLog(15, time.Hour)))
	defer limiter.Close()
	fmt.Println(limiter.TakeAt(0, "alice", 10).Allowed)
	d := limiter.TakeAt(time.Second, "alice", 6)
	fmt.Println(d.Allowed, d.Rule, d.Limit, d.RetryAfter) // the first of WithAlso refused
	fmt.Println(limiter.TakeAt(time.Second, "alice", 5).Allowed)
	// Output:
	// true
	// false 1 15 59m59s
	// true
}

// A call passes for its address and for its user, or it is charged to neither.
func ExampleTakeAll() {
	clock := enginetest.NewClock()
	byAddress := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 5), engine.WithClock(clock))
	byUser := engine.Must[int](engine.TokenBucket(engine.PerMinute(1), 3), engine.WithClock(clock))
	address, user := byAddress.Part("192.0.2.1"), byUser.Part(7)

	d, part := engine.TakeAll(3, address, user)
	fmt.Println(d.Allowed, part, d.Remaining) // the user has the least left
	d, part = engine.TakeAll(2, address, user)
	fmt.Println(d.Allowed, part, d.RetryAfter)
	fmt.Println(byAddress.Peek("192.0.2.1").Remaining)
	// Output:
	// true 1 0
	// false 1 2m0s
	// 2
}

// Permits of what did not happen are given back, once.
func ExampleLimiter_TakeReceipt() {
	clock := enginetest.NewClock()
	limiter := engine.Must[string](engine.TokenBucket(engine.PerHour(1), 5), engine.WithClock(clock))
	d, receipt := limiter.TakeReceipt("alice", 4)
	if !d.Allowed {
		return // receipt is nil
	}
	fmt.Println(receipt.Refund(3)) // three of the four were not needed
	fmt.Println(receipt.Refund(3)) // only one is left to give back
	fmt.Println(limiter.Peek("alice").Remaining)
	// Output:
	// true
	// false
	// 4
}
