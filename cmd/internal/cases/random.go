package cases

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/oracle"
)

const (
	// CallsPerCase is the most calls that a random case has.
	CallsPerCase = 64

	// Random cases stay within 140 years of their origin, so that the time
	// between any two calls fits in 64 bits of nanoseconds.
	farthest = 140 * 365 * 24 * time.Hour

	// tickedSpan is how long random cases with a tick are, so that their times
	// stay small enough for a store.
	tickedSpan = 50 * 365 * 24 * time.Hour

	maxRandomRate    = 4_000_000_000 // tokens a second
	maxRandomBurst   = 1 << 40
	maxRandomWindow  = 1 << 40 // permits
	maxRandomWeights = 1 << 26 // permits, of a window in two counts of one word
	maxRandomLog     = 300     // entries; a log keeps each
)

// Model is the rational-number model of one key.
type Model interface {
	// Take asks for n permits at a time and charges them if it is allowed.
	Take(nowNanos, n int64) (allowed bool, retryAfterNanos int64)
}

// kind is what random cases are made of in turn: an algorithm, others with the
// same answers, and their model.
type kind struct {
	algorithm string
	also      []string
	most      int64 // permits a window
	spans     int64 // windows in which a permit weighs something, 0 for a bucket
	model     func(tokens int64, per time.Duration, burst int64) Model
}

var kinds = []kind{
	{
		algorithm: limits.TokenBucket,
		also:      []string{limits.GCRA, limits.LeakyBucket, limits.LeakyQueue},
		model: func(tokens int64, per time.Duration, burst int64) Model {
			return oracle.NewTokenBucket(tokens, per, burst)
		},
	},
	{
		algorithm: limits.SlidingWindow, most: maxRandomWeights, spans: 2,
		model: func(limit int64, window time.Duration, _ int64) Model { return oracle.NewSlidingWindow(limit, window) },
	},
	{
		algorithm: limits.FixedWindow, most: maxRandomWindow, spans: 1,
		model: func(limit int64, window time.Duration, _ int64) Model { return oracle.NewFixedWindow(limit, window) },
	},
	{
		algorithm: limits.SlidingLog, most: maxRandomLog, spans: 1,
		model: func(limit int64, window time.Duration, _ int64) Model { return oracle.NewSlidingLog(limit, window) },
	},
}

// Random makes cases of random calls on random limits, with the answers that
// the project's rational-number models give. The same seed makes the same
// cases.
type Random struct {
	rng  *rand.Rand
	seed uint64
	made int

	tick  time.Duration           // all times are multiples of it
	from  time.Duration           // and lie between from
	until time.Duration           // and until
	takes func(engine.Limit) bool // the limits that may be drawn, nil for all that the engine takes
}

// NewRandom starts a sequence of cases.
func NewRandom(seed uint64) *Random {
	return &Random{rng: rand.New(rand.NewPCG(seed, 0)), seed: seed, tick: 1, from: -farthest, until: farthest}
}

// NewRandomTicks is NewRandom for a limiter whose clock has a resolution of
// tick and no times before its origin, and that enforces exactly the limits
// that takes says.
func NewRandomTicks(seed uint64, tick time.Duration, takes func(engine.Limit) bool) *Random {
	r := NewRandom(seed)
	r.tick, r.from, r.until, r.takes = tick, 0, tickedSpan, takes
	return r
}

// Next makes a case of at most n calls (at least 1). The algorithms take turns.
func (r *Random) Next(n int) Case {
	kind := kinds[r.made%len(kinds)]
	r.made++
	spec, capacity := r.spec(kind)
	c := Case{
		ID:             fmt.Sprintf("random-%d-%d", r.seed, r.made),
		Algorithm:      spec.Algorithm,
		AlsoAlgorithms: kind.also,
		Limit:          Limit{Limit: &spec.Tokens, WindowNanos: (*int64)(&spec.Per)},
		Note:           "expected answers from the rational-number model",
	}
	if limits.HasBurst(spec.Algorithm) {
		c.Limit.Burst = &spec.Burst
	}
	w := walk{r: r, kind: kind, spec: spec, capacity: capacity, models: map[string]Model{}, tokens: spec.Tokens, per: spec.Per}
	if limit, err := limits.Build(spec); err == nil && !limit.Exact() {
		rate := limit.Effective()
		w.tokens, w.per = rate.Tokens, rate.Per
	}
	w.start()
	for range min(n, CallsPerCase) {
		c.Calls = append(c.Calls, w.call())
	}
	return c
}

// spec draws a limit that the engine takes.
func (r *Random) spec(k kind) (spec limits.Spec, capacity int64) {
	for {
		spec = limits.Spec{Algorithm: k.algorithm, Per: r.period()}
		if k.spans > 0 {
			spec.Tokens = r.upTo(k.most)
			capacity = spec.Tokens
		} else {
			spec.Burst = r.upTo(maxRandomBurst)
			most := min(maxRandomRate*spec.Per.Seconds(), math.MaxInt64/2)
			spec.Tokens = r.upTo(int64(max(1, most)))
			capacity = spec.Burst
		}
		if limit, err := limits.Build(spec); err == nil && (r.takes == nil || r.takes(limit)) {
			return spec, capacity
		}
	}
}

// period draws a whole unit, a few of them, or any length up to four weeks.
func (r *Random) period() time.Duration {
	const week = 7 * 24 * time.Hour
	whole := []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour, week}
	unit := whole[r.rng.IntN(len(whole))]
	switch r.rng.IntN(4) {
	case 0:
		return unit * time.Duration(1+r.rng.IntN(4))
	case 1:
		return time.Duration(r.upTo(int64(4 * week)))
	}
	return unit
}

// upTo draws from 1 to limit, each size about as often.
func (r *Random) upTo(limit int64) int64 {
	n := int64(math.Exp(r.rng.Float64() * math.Log(float64(limit))))
	return min(max(n, 1), limit)
}

// walk makes the calls of one case and keeps its models up to date.
type walk struct {
	r        *Random
	kind     kind
	spec     limits.Spec
	capacity int64
	tokens   int64         // the rate that is enforced
	per      time.Duration // of it

	models map[string]Model
	now    int64 // of the last call
	newest int64 // of all calls: what the limiter goes by
	retry  int64 // retry-after of the last call, 0 if none
	last   *Call
}

func (w *walk) start() {
	w.now = w.r.whole(w.r.rng.Int64N(int64(farthest)) - int64(farthest)/2)
	if w.r.rng.IntN(2) == 0 || w.r.from == 0 {
		w.now = 0
	}
	w.newest = w.now
}

// call makes the next call. A call whose answer does not depend on time (n is
// not positive, or more than can ever pass) is made at the latest time so far:
// whether a limiter takes note of the time of such a call is left open.
func (w *walk) call() Call {
	key, n, at := w.key(), w.n(), w.newest
	switch {
	case w.last == nil: // the limiter must have seen the start
		n = 1
	case n > 0 && n <= w.capacity:
		key, n, at = w.moment(key, n)
	}
	w.now, w.newest = at, max(w.newest, at)
	allowed, retry := w.expect(key, n)
	w.retry = max(retry, 0)
	c := Call{AtNanos: &at, Key: &key, N: &n, WantAllow: &allowed}
	if !allowed {
		c.WantRetryAfterNanos = &retry
	}
	w.last = &c
	return c
}

func (w *walk) expect(key string, n int64) (allowed bool, retryAfterNanos int64) {
	switch {
	case n < 0:
		return false, int64(engine.Never)
	case n == 0:
		return true, 0
	}
	m := w.models[key]
	if m == nil {
		m = w.kind.model(w.tokens, w.per, w.spec.Burst)
		w.models[key] = m
	}
	return m.Take(w.newest, n)
}

func (w *walk) key() string {
	return []string{"a", "a", "a", "b", "c", ""}[w.r.rng.IntN(6)]
}

// n draws a cost: mostly small or near the capacity, at times one that is
// refused at any time.
func (w *walk) n() int64 {
	switch w.r.rng.IntN(20) {
	case 0:
		return 0
	case 1:
		return []int64{-1, math.MinInt64, -w.r.upTo(math.MaxInt64)}[w.r.rng.IntN(3)]
	case 2:
		return []int64{math.MaxInt64, w.capacity + 1, 1 << 62}[w.r.rng.IntN(3)]
	case 3, 4:
		return w.capacity
	case 5, 6, 7, 8:
		return w.r.upTo(w.capacity)
	case 9, 10:
		return max(1, w.capacity/2)
	}
	return 1
}

// moment draws the time of a call. Half of the calls after a denial repeat the
// denied call exactly when it is due, or a nanosecond before.
func (w *walk) moment(key string, n int64) (string, int64, int64) {
	if w.retry > 0 && w.r.rng.IntN(2) == 0 {
		tick := int64(w.r.tick)
		due := w.r.whole(w.newest+w.retry+tick-1) - tick*int64(w.r.rng.IntN(2))
		if due > w.newest && due < int64(w.r.until) {
			return *w.last.Key, *w.last.N, due
		}
	}
	return key, n, w.later()
}

// later draws a time after, at or before that of the last call.
func (w *walk) later() int64 {
	return w.r.whole(w.sometime())
}

// whole rounds a time down to ticks, towards 0.
func (r *Random) whole(nanos int64) int64 { return nanos - nanos%int64(r.tick) }

func (w *walk) sometime() int64 {
	var gap int64
	switch w.r.rng.IntN(8) {
	case 0, 1:
		return w.now
	case 2: // the clock steps back
		return max(w.now-w.r.upTo(int64(farthest)), int64(w.r.from))
	case 3: // about one token
		gap = int64(w.per)/w.tokens + int64(w.r.rng.IntN(3)) - 1
	case 4: // about a full bucket, or all windows that weigh
		gap = w.full() + int64(w.r.rng.IntN(3)) - 1
	case 5:
		gap = w.r.upTo(int64(farthest))
	default: // up to a few tokens
		gap = w.r.upTo(max(1, int64(min(8*float64(w.per)/float64(w.tokens), float64(farthest)))))
	}
	if at := w.newest + max(gap, 0); at >= w.newest && at <= int64(w.r.until) {
		return at
	}
	return w.newest
}

func (w *walk) full() int64 {
	if w.kind.spans > 0 {
		return w.kind.spans * int64(w.per)
	}
	return int64(min(float64(w.spec.Burst)*float64(w.per)/float64(w.tokens), float64(farthest)))
}

// ModelOf returns the model of a key under a limit at the rate that it says,
// nil if the algorithm has none.
func ModelOf(spec limits.Spec) Model {
	for _, k := range kinds {
		if k.algorithm == spec.Algorithm || slices.Contains(k.also, spec.Algorithm) {
			return k.model(spec.Tokens, spec.Per, spec.Burst)
		}
	}
	return nil
}
