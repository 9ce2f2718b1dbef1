package dynamodb_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// exampleConfig is what config.LoadDefaultConfig of aws-sdk-go-v2 returns, but for an emulator.
func exampleConfig(url string) aws.Config {
	return aws.Config{Region: "eu-west-1", BaseEndpoint: &url, Credentials: aws.AnonymousCredentials{}}
}

// Two requests an hour and user, for all processes that use the table.
func ExampleOpen() {
	ctx := context.Background()
	emulator := httptest.NewServer(dynamodbtest.MinidynHandler())
	defer emulator.Close()

	client := awsdynamodb.NewFromConfig(exampleConfig(emulator.URL), func(o *awsdynamodb.Options) {
		// As many idle connections as there are calls at once: the SDK keeps 10, and opens the others anew.
		o.HTTPClient = &http.Client{Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256}}
	})
	// A table is made once, by whoever may: a deployment, and not the processes that serve.
	if err := dynamodb.CreateTable(ctx, client, "limits"); err != nil {
		fmt.Println(err)
		return
	}

	storage, err := dynamodb.Open(ctx, client, "limits")
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
	limiter, err := backend.Limiter("per-user", engine.TokenBucket(engine.PerHour(2), 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer limiter.Close()

	for range 3 {
		d, err := limiter.Take(ctx, "alice", 1)
		fmt.Println(d.Allowed, d.Remaining, d.Source, err)
	}
	// Output:
	// true 1 store <nil>
	// true 0 store <nil>
	// false 0 store <nil>
}
