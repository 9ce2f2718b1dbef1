package compare

import (
	"net/http"

	"github.com/go-chi/httprate"

	"github.com/penstock-go/penstock/bench"
)

// HTTPRate is go-chi/httprate with its local counter: a sliding window counter
// that keeps an unseeded hash of the key. Its call without a response is OnLimit,
// which sets headers; their names are empty here, so that none is set. What it
// takes of a key is one permit.
type HTTPRate struct {
	limiter *httprate.RateLimiter
	request *http.Request
}

// HTTPRateSubject is go-chi/httprate.
func HTTPRateSubject() bench.Subject {
	return bench.Subject{Name: "httprate", Clock: "exact",
		New: func(_ int, load bench.Load) bench.Limiter {
			limiter := httprate.NewRateLimiter(int(load.Burst), window(load), httprate.WithResponseHeaders(httprate.ResponseHeaders{}))
			return &HTTPRate{limiter: limiter, request: new(http.Request)}
		}}
}

// Allow takes one permit of key.
func (h *HTTPRate) Allow(key string) bool { return !h.limiter.OnLimit(nil, h.request, key) }

// Fill makes the first decision for the keys from..to-1.
func (h *HTTPRate) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		h.Allow(k.At(i))
	}
}

// Run decides n times about random keys.
func (h *HTTPRate) Run(k *bench.Keys, n int) (admitted int) {
	for range n {
		if !h.limiter.OnLimit(nil, h.request, k.Next()) {
			admitted++
		}
	}
	return admitted
}

// Len is not told by the counter.
func (h *HTTPRate) Len() int { return unknown }

// Close does nothing.
func (h *HTTPRate) Close() {}
