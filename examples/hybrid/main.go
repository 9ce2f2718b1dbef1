// Command hybrid enforces a limit that is shared by Redis and decided in process: it
// charges permits to Redis some at a time, and spends them later. Here two processes,
// as two limiters that do not know of each other, make 50,000 calls each for one key.
//
//	docker compose up --detach --wait redis
//	go run ./hybrid
//
// The address is REDIS_ADDR, 127.0.0.1:6379 if that is not set.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
	"github.com/penstock-go/penstock/store/redis"
)

const (
	processes = 2
	calls     = 50_000 // of each
	burst     = 10_000
	perMinute = 10_000
	slack     = 0.1 // of the burst: by how much an interval may exceed the limit
)

func main() {
	if err := run(context.Background(), os.Stdout, cmp.Or(os.Getenv("REDIS_ADDR"), "127.0.0.1:6379"), "alice"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// outcome is what one process saw.
type outcome struct {
	admitted, stored int64 // calls that passed, and that reached Redis
	err              error
}

func run(ctx context.Context, out io.Writer, addr, key string) error {
	began := time.Now()
	var admitted, stored atomic.Int64
	var done sync.WaitGroup
	failed := make([]error, processes)
	for i := range processes {
		done.Go(func() {
			o := process(ctx, addr, key)
			admitted.Add(o.admitted)
			stored.Add(o.stored)
			failed[i] = o.err
		})
	}
	done.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	earned := int64(perMinute*time.Since(began)/time.Minute) + 1
	fmt.Fprintf(out, "%d of %d calls passed, %d at most may have; %d reached Redis\n",
		admitted.Load(), processes*calls, int64((1+slack)*burst)+earned, stored.Load())
	return nil
}

// process is what each process does.
func process(ctx context.Context, addr, key string) (o outcome) {
	storage, err := redis.New(rueidis.ClientOption{InitAddress: []string{addr}}) //nolint:contextcheck // what it starts ends with Close
	if err != nil {
		return outcome{err: err}
	}
	backend, err := store.NewBackend(storage, store.WithDeadline(time.Second)) // 50 ms by default
	if err != nil {
		return outcome{err: err}
	}
	defer backend.Close()
	shared, err := backend.Limiter("per-client", engine.TokenBucket(engine.PerMinute(perMinute), burst), store.WithProcesses(processes))
	if err != nil {
		return outcome{err: err}
	}
	defer shared.Close()
	fast, err := hybrid.New(shared, hybrid.WithSlack(slack))
	if err != nil {
		return outcome{err: err}
	}
	defer fast.Close()

	for range calls {
		d, err := fast.Take(ctx, key, 1)
		if err != nil {
			return outcome{err: err}
		}
		if d.Allowed {
			o.admitted++
		}
	}
	o.stored = fast.Stats().Calls
	return o
}
