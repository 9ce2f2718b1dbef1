// Package dynamodbtest starts servers that speak DynamoDB's protocol, for tests: two emulators, whose
// faults are not the same.
//
//	minidyn    in this process; numbers are floats, exact below 2^53 only
//	dynalite   a process of node; numbers are exact, a failed condition does not say what stands there
//
// What both get wrong, and how they bill, says nothing about DynamoDB.
package dynamodbtest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	minidyn "github.com/truora/minidyn/server"

	penstock "github.com/penstock-go/penstock/store/dynamodb"
)

// Server is a running emulator. Its methods are safe for concurrent use.
type Server struct {
	Name string
	// URL is where it is asked.
	URL string
	// Floats says that its numbers are exact below 2^53 only, see WithFloatNumbers.
	Floats bool
	// TellsOld says that a failed condition comes with the item on which it failed.
	TellsOld bool

	process *process // nil if it runs in this one
}

// Minidyn starts an emulator in this process, empty. It ends with the test.
func Minidyn(tb testing.TB) *Server {
	tb.Helper()
	web := httptest.NewServer(MinidynHandler())
	tb.Cleanup(web.Close)
	return &Server{Name: "minidyn", URL: web.URL, Floats: true, TellsOld: true}
}

// MinidynHandler returns the emulator itself, for tests that put something before it.
func MinidynHandler() http.Handler {
	emulator := minidyn.NewServer()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TimeToLive") { // it answers these with plain text
			Refuse(w, http.StatusBadRequest, "UnknownOperationException")
			return
		}
		emulator.ServeHTTP(w, r)
	})
}

// Refuse answers a request with an error of DynamoDB's.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"refused by the test"}`, code)
}

// Client returns a client of a server, with the SDK's default retries, which a store has to overrule. It has
// an HTTP client of its own, whose connections end with the test; wrap puts something before that.
func Client(tb testing.TB, url string, wrap ...func(http.RoundTripper) http.RoundTripper) *dynamodb.Client {
	tb.Helper()
	const connections = 128 // as many as there may be callers: those above are closed after each call
	transport := &http.Transport{MaxIdleConns: connections, MaxIdleConnsPerHost: connections}
	tb.Cleanup(transport.CloseIdleConnections)
	var trips http.RoundTripper = transport
	for _, w := range wrap {
		trips = w(trips)
	}
	return dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: &url, HTTPClient: &http.Client{Transport: trips},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "none", SecretAccessKey: "none"}, nil
		}),
	})
}

var tables atomic.Int64

// Table makes a table of its own and returns its name.
func Table(tb testing.TB, client *dynamodb.Client) string {
	tb.Helper()
	name := fmt.Sprintf("limits-%d", tables.Add(1))
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	if err := penstock.CreateTable(ctx, client, name); err != nil {
		tb.Fatal(err)
	}
	return name
}

// Open returns a store in a table of its own on a server.
func (s *Server) Open(tb testing.TB, opts ...penstock.Option) *penstock.Store {
	tb.Helper()
	client := Client(tb, s.URL)
	return s.OpenTable(tb, client, Table(tb, client), opts...)
}

// OpenTable returns a store in a table that is there.
func (s *Server) OpenTable(tb testing.TB, client *dynamodb.Client, table string, opts ...penstock.Option) *penstock.Store {
	tb.Helper()
	if s.Floats {
		opts = append(opts, penstock.WithFloatNumbers())
	}
	opened, err := penstock.Open(tb.Context(), client, table, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return opened
}
