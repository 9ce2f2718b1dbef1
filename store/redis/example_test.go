package redis_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/redis"
)

// Ten requests a second for each client, and up to twenty at once, over all processes. It needs a
// server, so it is only compiled with the tests.
func Example() {
	storage, err := redis.New(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	backend, err := store.NewBackend(storage, store.WithDeadline(30*time.Millisecond), store.WithLogger(slog.Default()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer backend.Close()
	limiter, err := backend.Limiter("per-client", engine.TokenBucket(engine.PerSecond(10), 20), store.WithProcesses(4))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer limiter.Close()

	d, err := limiter.Take(context.Background(), "203.0.113.9", 1)
	switch {
	case err != nil:
		fmt.Println("the store is away:", err) // under store.Closed only
	case d.Allowed:
		fmt.Println("go on;", d.Remaining, "left, says the", d.Source)
	default:
		fmt.Println("come back in", d.RetryAfter)
	}
}

// A program that has a client of go-redis already.
func ExampleFromGoRedis() {
	client := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{"127.0.0.1:7000", "127.0.0.1:7001"}})
	storage, err := redis.FromGoRedis(client)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer storage.Close() // its own connections; the client stays open
	fmt.Println(storage.Info().Name)
}

// Ten a second and a thousand an hour, all or nothing, in one round trip.
func ExampleAll() {
	storage, err := redis.New(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	backend, err := store.NewBackend(storage)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer backend.Close()
	second, err := backend.Limiter("second", engine.TokenBucket(engine.PerSecond(10), 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	hour, err := backend.Limiter("hour", engine.FixedWindow(1000, time.Hour))
	if err != nil {
		fmt.Println(err)
		return
	}
	both, err := redis.NewAll(second, hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := both.Take(context.Background(), "203.0.113.9", 1)
	fmt.Println(d.Allowed, []string{"second", "hour"}[d.Rule], err)
}

// Which limits are exact, and which are refused.
func ExampleExact() {
	for _, limit := range []engine.Limit{
		engine.TokenBucket(engine.PerSecond(1000), 1_000_000),
		engine.GCRA(engine.Rate{Tokens: 1, Per: 24 * time.Hour}, 100_000),
	} {
		slower, err := redis.Exact(limit)
		fmt.Println(limit, slower, err != nil)
	}
	// Output:
	// token_bucket 1000/1s burst 1000000 0 false
	// gcra 1/24h0m0s burst 100000 0 true
}
