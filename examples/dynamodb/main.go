// Command dynamodb enforces one limit for all processes that run it: 2 requests an
// hour for each user, by a table in DynamoDB, or in an emulator of it.
//
//	docker compose up --detach --wait dynamodb
//	export AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 # leave these out for AWS itself
//	export AWS_REGION=eu-west-1 AWS_ACCESS_KEY_ID=none AWS_SECRET_ACCESS_KEY=none
//	go run ./dynamodb
//
// The table is called limits. It is made if it is not there.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb"
)

func main() {
	if err := run(context.Background(), os.Stdout, "limits"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, table string) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	client := awsdynamodb.NewFromConfig(cfg, func(o *awsdynamodb.Options) {
		// As many idle connections as there are calls at once: the SDK keeps 10, and opens the others anew.
		o.HTTPClient = &http.Client{Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256}}
	})
	// A table is made once, by whoever may: a deployment, and not the processes that serve.
	if err := dynamodb.CreateTable(ctx, client, table); err != nil {
		return err
	}

	storage, err := dynamodb.Open(ctx, client, table)
	if err != nil {
		return err
	}
	backend, err := store.NewBackend(storage, store.WithDeadline(time.Second)) // 50 ms by default
	if err != nil {
		return err
	}
	defer backend.Close()
	// A key that is hot is throttled by DynamoDB: while it is, nothing passes.
	limiter, err := backend.Limiter("per-user", engine.TokenBucket(engine.PerHour(2), 2), store.WithPolicy(store.Closed))
	if err != nil {
		return err
	}
	defer limiter.Close()

	for range 3 {
		d, err := limiter.Take(ctx, "alice", 1)
		switch {
		case err != nil: // the store is away, or throttles: see the errors of package store
			return err
		case d.Allowed:
			fmt.Fprintf(out, "go on; %d left\n", d.Remaining)
		default:
			fmt.Fprintln(out, "come back later") // in d.RetryAfter
		}
	}
	return nil
}
