package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// retrying are ways to configure a client to repeat its requests.
var retrying = map[string]func(*awsdynamodb.Client) *awsdynamodb.Client{
	"default":  func(c *awsdynamodb.Client) *awsdynamodb.Client { return c },
	"attempts": with(func(o *awsdynamodb.Options) { o.RetryMaxAttempts = 5 }),
	"adaptive": with(func(o *awsdynamodb.Options) {
		o.RetryMode, o.Retryer, o.RetryMaxAttempts = aws.RetryModeAdaptive, nil, 4
	}),
}

func with(change func(*awsdynamodb.Options)) func(*awsdynamodb.Client) *awsdynamodb.Client {
	return func(c *awsdynamodb.Client) *awsdynamodb.Client { return awsdynamodb.New(c.Options(), change) }
}

// discard swallows an answer.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// serve starts a server that answers as told.
func serve(t *testing.T, answer http.HandlerFunc) *dynamodbtest.Server {
	t.Helper()
	web := httptest.NewServer(answer)
	t.Cleanup(web.Close)
	return &dynamodbtest.Server{Name: "fake", URL: web.URL, Floats: true, TellsOld: true}
}

// named fails the test unless an error says once that it is this store's.
func named(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, 1, strings.Count(err.Error(), "dynamodb: "), "%v", err)
}

// TestErrorsNameTheStore, once, whatever is called and at whatever point it fails.
func TestErrorsNameTheStore(t *testing.T) {
	server := dynamodbtest.Minidyn(t)
	s := server.Open(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	law, err := store.NewLaw(plenty, s.Info())
	require.NoError(t, err)
	results := make([]store.Result, 1)
	s.Apply(ended, []store.Op{{Key: "key", Law: law, Min: 1, Max: 1}}, results)
	named(t, results[0].Err)
	_, err = s.Get(ended, "key")
	named(t, err)
	_, _, err = s.CompareAndSwap(ended, "key", 0, 1, time.Hour)
	named(t, err)
	named(t, s.Put(ended, "key", 0, 0))
	named(t, s.Put(ended, "key", 1, time.Hour))
	client := dynamodbtest.Client(t, server.URL)
	_, err = dynamodb.Open(ended, client, "limits")
	named(t, err)
	require.ErrorIs(t, err, context.Canceled)
	named(t, dynamodb.CreateTable(ended, client, "limits"))
	broken := with(func(o *awsdynamodb.Options) { o.Credentials = noCredentials{} })(client)
	_, err = dynamodb.Open(t.Context(), broken, "limits")
	named(t, err)
	require.ErrorContains(t, err, `describing table "limits"`)
}

// TestAnswers: what the server says of a write is what the caller is told: that it was not made, that the key is
// too hot, or that nobody knows. Each answer is one to one request, but that what was surely not made
// is made once more; a throttled key leaves the breaker alone.
func TestAnswers(t *testing.T) {
	refuse := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { dynamodbtest.Refuse(w, status, code) }
	}
	plain := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   error
		sent   int
	}{
		"hot partition":            {refuse(400, "ProvisionedThroughputExceededException"), store.ErrThrottled, 1},
		"throttling":               {refuse(400, "ThrottlingException"), store.ErrThrottled, 1},
		"account limit":            {refuse(400, "RequestLimitExceeded"), store.ErrThrottled, 1},
		"status 429":               {plain(429, "slow down"), store.ErrThrottled, 1},
		"no such table":            {refuse(400, "ResourceNotFoundException"), store.ErrUnavailable, 2},
		"no leave":                 {refuse(400, "AccessDeniedException"), store.ErrUnavailable, 2},
		"bad signature":            {refuse(403, "InvalidSignatureException"), store.ErrUnavailable, 2},
		"not valid":                {refuse(400, "ValidationException"), store.ErrUnavailable, 2},
		"in a transaction":         {refuse(400, "TransactionConflictException"), store.ErrUnavailable, 2},
		"moved elsewhere":          {plain(302, ""), store.ErrUnavailable, 2},
		"internal error":           {refuse(500, "InternalServerError"), store.ErrUnknownOutcome, 1},
		"service unavailable":      {refuse(503, "ServiceUnavailable"), store.ErrUnknownOutcome, 1},
		"bad gateway":              {plain(502, "<html>"), store.ErrUnknownOutcome, 1},
		"an answer that is none":   {plain(200, "{"), store.ErrUnknownOutcome, 1},
		"attributes that are none": {plain(200, `{"Attributes":{"t":{"N":5}}}`), store.ErrUnknownOutcome, 1},
	} {
		t.Run(name, func(t *testing.T) {
			emulator, sent := dynamodbtest.MinidynHandler(), atomic.Int64{}
			web := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "UpdateItem") {
					sent.Add(1)
					c.answer(w, r)
					return
				}
				emulator.ServeHTTP(w, r)
			})
			l := on(t, web.Open(t), plenty, store.WithDeadline(patient), store.WithBreaker(store.Breaker{Failures: 1}))
			d, err := l.Take(t.Context(), "key", 1)
			require.ErrorIs(t, err, c.want)
			named(t, err)
			require.False(t, d.Allowed)
			require.Equal(t, int64(c.sent), sent.Load())
			require.Equal(t, errors.Is(c.want, store.ErrUnknownOutcome), !errors.Is(err, store.ErrUnavailable), "%v", err)
			open := 1
			if errors.Is(c.want, store.ErrThrottled) {
				open = 0
			}
			require.Equal(t, open, l.Stats().OpenBreakers)
		})
	}
}

// TestCredentialsThatCannotBeHad: a request that could not be signed was not sent.
func TestCredentialsThatCannotBeHad(t *testing.T) {
	server := dynamodbtest.Minidyn(t)
	client := dynamodbtest.Client(t, server.URL)
	table := dynamodbtest.Table(t, client)
	l := on(t, server.OpenTable(t, client, table), plenty)
	_, err := l.Take(t.Context(), "key", 1)
	require.NoError(t, err)
	broken := with(func(o *awsdynamodb.Options) { o.Credentials = noCredentials{} })(client)
	_, err = dynamodb.Open(t.Context(), broken, table)
	require.ErrorIs(t, err, store.ErrUnavailable)
}

// TestNoTable: a table that is not there is told as that, with where it was looked for and what to do.
func TestNoTable(t *testing.T) {
	client := dynamodbtest.Client(t, dynamodbtest.Minidyn(t).URL)
	_, err := dynamodb.Open(t.Context(), client, "nowhere")
	require.ErrorIs(t, err, dynamodb.ErrTable)
	require.ErrorIs(t, err, store.ErrUnavailable)
	named(t, err)
	require.ErrorContains(t, err, `there is no table "nowhere" in eu-west-1: make it once, by CreateTable`)
}

// TestServersDate: the clock is compared with the Date of the answers. Nothing is decided by one that is too far
// away, or that cannot be compared; when it is right again, so are the decisions.
func TestServersDate(t *testing.T) {
	emulator, off, updates := dynamodbtest.MinidynHandler(), atomic.Int64{}, atomic.Int64{}
	const none = 1 << 62
	web := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "UpdateItem") {
			updates.Add(1)
		}
		w.Header()["Date"] = nil
		if d := off.Load(); d != none {
			w.Header().Set("Date", time.Now().Add(time.Duration(d)).UTC().Format(http.TimeFormat))
		}
		emulator.ServeHTTP(w, r)
	})
	client := dynamodbtest.Client(t, web.URL)
	table := dynamodbtest.Table(t, client)
	for _, d := range []int64{int64(time.Hour), -int64(time.Hour), int64(5 * time.Second), none} {
		off.Store(d)
		_, err := dynamodb.Open(t.Context(), client, table)
		require.ErrorIs(t, err, dynamodb.ErrSkew)
		require.ErrorIs(t, err, store.ErrUnavailable)
	}
	off.Store(int64(5 * time.Second))
	web.OpenTable(t, client, table, dynamodb.WithMaxSkew(10*time.Second))
	web.OpenTable(t, client, table, dynamodb.WithMaxSkew(dynamodb.AnySkew))
	off.Store(0)
	s := web.OpenTable(t, client, table)
	l := on(t, s, engine.FixedWindow(1000, time.Hour), store.WithDeadline(patient), noBreaker)
	_, err := l.Take(t.Context(), "key", 1)
	require.NoError(t, err)
	low, high, ok := s.Skew()
	require.True(t, ok)
	require.LessOrEqual(t, low, time.Duration(0))
	require.GreaterOrEqual(t, high, time.Duration(0))
	off.Store(-int64(time.Minute))
	_, err = l.Take(t.Context(), "key", 1) // its answer is what tells
	require.NoError(t, err)
	made := updates.Load()
	_, err = l.Take(t.Context(), "key", 1)
	require.ErrorIs(t, err, dynamodb.ErrSkew)
	require.Equal(t, made, updates.Load(), "refused, but sent")
	off.Store(0)
	require.Eventually(t, func() bool {
		_, err := l.Take(t.Context(), "key", 1)
		return err == nil
	}, patient, 50*time.Millisecond)
}

// noCredentials are some that cannot be had.
type noCredentials struct{}

// Retrieve fails.
func (noCredentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{}, errors.New("the role cannot be assumed")
}
