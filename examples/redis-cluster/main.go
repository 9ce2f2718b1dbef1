// Command redis-cluster enforces two limits at once on a cluster of Redis, all or
// nothing, in one round trip: 2 requests a minute and 3 an hour for each client.
//
//	docker compose up --detach --wait cluster
//	go run ./redis-cluster
//
// The addresses of one node or more are REDIS_CLUSTER_ADDRS, with commas between
// them, 127.0.0.1:7001 if that is not set; the others are found by it.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/redis"
)

func main() {
	addrs := cmp.Or(os.Getenv("REDIS_CLUSTER_ADDRS"), "127.0.0.1:7001")
	if err := run(context.Background(), os.Stdout, strings.Split(addrs, ",")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, addrs []string) error {
	storage, err := redis.New(rueidis.ClientOption{InitAddress: addrs}) //nolint:contextcheck // what it starts ends with Close
	if err != nil {
		return err
	}
	backend, err := store.NewBackend(storage, store.WithDeadline(time.Second)) // 50 ms by default
	if err != nil {
		return err
	}
	defer backend.Close()
	minute, err := backend.Limiter("minute", engine.TokenBucket(engine.PerMinute(2), 2))
	if err != nil {
		return err
	}
	defer minute.Close()
	hour, err := backend.Limiter("hour", engine.FixedWindow(3, time.Hour))
	if err != nil {
		return err
	}
	defer hour.Close()
	both, err := redis.NewAll(minute, hour)
	if err != nil {
		return err
	}

	for _, client := range []string{"203.0.113.9", "192.0.2.44", "192.0.2.1"} { // on three nodes
		for range 3 {
			d, err := both.Take(ctx, client, 1)
			switch {
			case err != nil:
				return err
			case d.Allowed:
				fmt.Fprintf(out, "%s: go on; %d left\n", client, d.Remaining)
			default:
				fmt.Fprintf(out, "%s: refused by the limit of a %s\n", client, []string{"minute", "hour"}[d.Rule])
			}
		}
	}
	return nil
}
