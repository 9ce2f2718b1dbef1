package plot

import (
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// kind is an algorithm with what its picture says of it.
type kind struct {
	limit   engine.Limit
	numbers string // the limit in words
	promise string // what it promises, in a sentence
}

// kinds are the algorithms that have a picture, in the order in which they are explained.
func kinds() []kind {
	rate := engine.Rate{Tokens: permits, Per: window}
	const (
		burst    = "2 a second, burst 6"
		capacity = "2 a second, capacity 6"
		windows  = "6 in 3 s"
		another  = "The token bucket under another name: at most 6 + 2 a second in any interval."
	)
	return []kind{
		{engine.TokenBucket(rate, permits), burst, "A burst passes at once, then the rate: at most 6 + 2 a second in any interval."},
		{engine.GCRA(rate, permits), burst, another},
		{engine.LeakyBucket(rate, permits), capacity, another},
		{engine.LeakyQueue(rate, permits), capacity, "What passes waits for its turn: one every 500 ms, however they arrive."},
		{engine.FixedWindow(permits, window), windows, "A new allowance at each edge: at most 6 between two edges, up to 12 around one."},
		{engine.SlidingWindow(permits, window), windows, "An estimate from two counts: no jump at an edge, yet up to 11 in some 3 s."},
		{engine.SlidingLog(permits, window), windows, "Every admission is remembered: never more than 6 in any 3 s."},
	}
}

// Algorithms returns the names of the algorithms that have a picture.
func Algorithms() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, string(k.limit.Algorithm()))
	}
	return names
}

// record is what a limiter answered under the load.
type record struct {
	calls     []call
	passed    []pass // in order of time
	remaining []level
}

// call is the requests of an instant.
type call struct {
	at       time.Duration
	answers  []bool // in order: admitted or denied
	admitted int
}

// pass is the requests let through at an instant.
type pass struct {
	at       time.Duration
	requests int
	delayed  bool // they had to wait for it
}

// level is a value from an instant on.
type level struct {
	at    time.Duration
	value int64
}

// drive asks a new limiter for a permit at each arrival, and at every grain of time how many
// remain.
func drive(limit engine.Limit, phases []phase) (*record, error) {
	limiter, err := engine.New[string](limit)
	if err != nil {
		return nil, fmt.Errorf("cannot draw %s: %w", limit.Algorithm(), err)
	}
	arrivals := map[time.Duration]int{}
	for _, p := range phases {
		for _, a := range p.arrivals {
			arrivals[a.at] += a.requests
		}
	}
	r := &record{}
	for at := time.Duration(0); at <= span; at += grain {
		r.note(at, limiter.TakeAt(at, key, 0).Remaining)
		if n := arrivals[at]; n > 0 {
			r.call(limiter, at, n)
		}
	}
	slices.SortStableFunc(r.passed, func(a, b pass) int { return int(a.at - b.at) })
	return r, limiter.Close()
}

// key is the one key that all requests are for.
const key = "a client"

// call makes n requests at an instant.
func (r *record) call(limiter *engine.Limiter[string], at time.Duration, n int) {
	c := call{at: at}
	for range n {
		d := limiter.TakeAt(at, key, 1)
		c.answers = append(c.answers, d.Allowed)
		r.note(at, d.Remaining)
		if d.Allowed {
			c.admitted++
			r.pass(at+d.Delay, d.Delay > 0)
		}
	}
	r.calls = append(r.calls, c)
}

// pass counts a request that is let through.
func (r *record) pass(at time.Duration, delayed bool) {
	if last := len(r.passed) - 1; last >= 0 && r.passed[last].at == at {
		r.passed[last].requests++
		return
	}
	r.passed = append(r.passed, pass{at, 1, delayed})
}

// note keeps what remains, if it has changed.
func (r *record) note(at time.Duration, remaining int64) {
	if last := len(r.remaining) - 1; last >= 0 && r.remaining[last].value == remaining {
		return
	}
	r.remaining = append(r.remaining, level{at, remaining})
}

// inWindow returns how many requests were let through in the window that ends at each
// instant; one let through at s stops counting at s + window.
func (r *record) inWindow() []level {
	var changes []level
	for _, p := range r.passed {
		changes = append(changes, level{p.at, int64(p.requests)}, level{p.at + window, -int64(p.requests)})
	}
	slices.SortStableFunc(changes, func(a, b level) int { return int(a.at - b.at) })
	levels := []level{{0, 0}}
	for _, c := range changes {
		if last := &levels[len(levels)-1]; last.at == c.at {
			last.value += c.value
		} else {
			levels = append(levels, level{c.at, last.value + c.value})
		}
	}
	return levels
}

// totals returns how many requests were admitted and denied.
func (r *record) totals() (admitted, denied int) {
	for _, c := range r.calls {
		admitted += c.admitted
		denied += len(c.answers) - c.admitted
	}
	return admitted, denied
}
