package dynamodb

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// attempt is what one request came to on the wire. There is one for each call: nothing is retried.
type attempt struct {
	store *Store

	reached   bool        // the request was handed to the HTTP client: before that it is made and signed
	asked     atomic.Bool // the transport tells what it does, and was asked for a connection
	connected atomic.Bool // there was a connection: from then on it may have been executed
	status    int         // of the answer, 0 if there was none
}

// send makes one request and classifies its error. The option that call hands to the client is what
// keeps it from being repeated.
func (s *Store) send(ctx context.Context, call func(option func(*awsdynamodb.Options)) error) error {
	if err := ctx.Err(); err != nil {
		return notExecuted(fmt.Errorf("not asked: %w", err))
	}
	a := &attempt{store: s}
	err := call(func(o *awsdynamodb.Options) {
		o.Retryer = aws.NopRetryer{}
		o.RetryMaxAttempts = 0 // else it would put its own retries on top
		o.APIOptions = append(slices.Clip(o.APIOptions), a.install)
	})
	if err != nil {
		return a.classify(err)
	}
	return nil
}

// install puts the attempt next to the HTTP client, where each request passes.
func (a *attempt) install(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("PenstockAttempt", a.handle), middleware.After)
}

// handle watches the request on its way and measures the clock by its answer.
func (a *attempt) handle(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	a.reached = true
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { a.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { a.connected.Store(true) },
	})
	began, sent := time.Now(), a.store.clock.Now()
	out, metadata, err := next.HandleDeserialize(ctx, in)
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if ok && response != nil && response.Response != nil && response.StatusCode != 0 { // 0: there was no answer, this stands for it
		a.status = response.StatusCode
		a.store.skew.observe(began, sent, a.store.clock.Now(), response.Header.Get("Date"))
	}
	return out, metadata, err
}

// unsent reports whether the request surely did not reach the server.
func (a *attempt) unsent() bool {
	return !a.reached || a.asked.Load() && !a.connected.Load()
}
