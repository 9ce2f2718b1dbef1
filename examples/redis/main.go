// Command redis enforces one limit for all processes that run it: 2 requests an
// hour for each client, by a server of Redis.
//
//	docker compose up --detach --wait redis
//	go run ./redis
//	go run ./redis # another process, the same limit: all are refused
//
// The address is REDIS_ADDR, 127.0.0.1:6379 if that is not set.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/redis/rueidis"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/redis"
)

func main() {
	if err := run(context.Background(), os.Stdout, cmp.Or(os.Getenv("REDIS_ADDR"), "127.0.0.1:6379")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, addr string) error {
	storage, err := redis.New(rueidis.ClientOption{InitAddress: []string{addr}}) //nolint:contextcheck // what it starts ends with Close
	if err != nil {
		return err
	}
	// A second is for a first try; 50 ms, the default, are enough for a healthy server nearby.
	backend, err := store.NewBackend(storage, store.WithDeadline(time.Second))
	if err != nil {
		return err
	}
	defer backend.Close()
	// While Redis is away, each of 4 processes enforces a quarter of the limit on its own.
	limiter, err := backend.Limiter("per-client", engine.TokenBucket(engine.PerHour(2), 2), store.WithProcesses(4))
	if err != nil {
		return err
	}
	defer limiter.Close()

	for range 3 {
		d, err := limiter.Take(ctx, "203.0.113.9", 1)
		switch {
		case err != nil: // this caller's context has ended; under store.Closed also that Redis is away
			return err
		case d.Allowed:
			fmt.Fprintf(out, "go on; %d left, says the %s\n", d.Remaining, d.Source)
		default:
			fmt.Fprintf(out, "come back later, says the %s\n", d.Source) // in d.RetryAfter
		}
	}
	return nil
}
