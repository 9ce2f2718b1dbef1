package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb"
)

// wire counts the requests that a client sends, by operation, and those of them whose condition failed.
type wire struct {
	next http.RoundTripper

	mu           sync.Mutex
	sent, failed map[string]int
	updates      []byte // of each UpdateItem that was answered, one of those below
	inconsistent int    // reads that may be answered by a replica
}

// What became of an update. A guess is one for a key that equals a new one.
const (
	guessPassed = 'G'
	guessFailed = 'g'
	passed      = '+'
	refused     = '-'
)

// counted returns what a client sends, and what puts that before it.
func counted() (*wire, func(http.RoundTripper) http.RoundTripper) {
	w := &wire{sent: map[string]int{}, failed: map[string]int{}}
	return w, func(next http.RoundTripper) http.RoundTripper {
		w.next = next
		return w
	}
}

// RoundTrip sends a request, and counts it.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(request))
	w.mu.Lock()
	w.sent[operation]++
	if operation == "GetItem" && !bytes.Contains(request, []byte(`"ConsistentRead":true`)) {
		w.inconsistent++
	}
	w.mu.Unlock()
	response, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	failed, err := conditionFailed(response)
	if err != nil {
		return nil, err
	}
	w.answered(operation, request, failed)
	return response, nil
}

// conditionFailed reports an answer that a condition was not met, and leaves it as it was.
func conditionFailed(response *http.Response) (bool, error) {
	if response.StatusCode != http.StatusBadRequest {
		return false, nil
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return false, err
	}
	if err := response.Body.Close(); err != nil {
		return false, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return bytes.Contains(body, []byte("ConditionalCheckFailed")), nil
}

// answered counts an answer.
func (w *wire) answered(operation string, request []byte, failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if failed {
		w.failed[operation]++
	}
	if operation != "UpdateItem" {
		return
	}
	outcome := map[bool]byte{false: passed, true: refused}[failed]
	if bytes.Contains(request, []byte("attribute_not_exists(")) {
		outcome = map[bool]byte{false: guessPassed, true: guessFailed}[failed]
	}
	w.updates = append(w.updates, outcome)
}

// counts returns how many requests of an operation were sent, and for how many the condition failed.
func (w *wire) counts(operation string) (sent, failed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent[operation], w.failed[operation]
}

// on makes a limiter on a storage whose failures are errors of the call.
func on(tb testing.TB, s store.Storage, limit engine.Limit, opts ...store.Option) *store.Shared {
	tb.Helper()
	backend, err := store.NewBackend(s, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := backend.Limiter("test", limit, store.WithPolicy(store.Closed))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
	})
	return l
}

// fakeTime are the options of a store whose clock is a test's.
func fakeTime(c engine.Clock) []dynamodb.Option {
	return []dynamodb.Option{dynamodb.WithClock(c), dynamodb.WithMaxSkew(dynamodb.AnySkew)}
}

// names reports whether a request is for a key that contains text; it may be read again.
func names(t *testing.T, r *http.Request, text string) bool {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var request struct{ Key map[string]struct{ B []byte } }
	if err := json.Unmarshal(body, &request); err != nil {
		t.Error(err)
	}
	return bytes.Contains(request.Key["k"].B, []byte(text))
}
