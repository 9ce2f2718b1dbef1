// Package storebench measures limits on a store that runs somewhere, beside what
// the same server does without penstock, in turns in one run.
package storebench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/cmd/internal/stores"
)

// Options say what to measure.
type Options struct {
	Limit       limits.Spec   // of the calls that are to pass
	Concurrency []int         // callers at once, one table for each
	For         time.Duration // of each row
	// Began, if not nil, is called before each table.
	Began func(callers, rows int)
}

// Report is what was measured.
type Report struct {
	Store      string    `json:"store"` // its URL, without user and password
	About      string    `json:"about"`
	Go         string    `json:"go"`
	Processors int       `json:"processors"` // of the machine that called
	Limit      string    `json:"limit"`
	DenyLimit  string    `json:"deny_limit"`
	Keys       int       `json:"keys"`
	ForNanos   int64     `json:"for_ns"` // of each row
	Removed    int       `json:"removed"`
	Rows       []Row     `json:"rows"`
	When       time.Time `json:"when"`
}

// Row is one way to call at one number of callers.
type Row struct {
	Callers   int     `json:"callers"`
	Name      string  `json:"name"`
	Calls     int64   `json:"calls"`
	PerSecond float64 `json:"per_second"`
	P50Nanos  int64   `json:"p50_ns"`
	P99Nanos  int64   `json:"p99_ns"`
	P999Nanos int64   `json:"p999_ns"`
	// Floor is the row that Times compares with: how many times as long a call
	// takes, the median of all turns. "" if there is none.
	Floor string  `json:"floor,omitempty"`
	Times float64 `json:"times_floor,omitempty"`
	// ServerMicros is the server's own time for a call, of all its clients
	// together, where it tells.
	ServerMicros *float64 `json:"server_us,omitempty"`
	// StoreCalls is the calls to the store for each call, of leases.
	StoreCalls *float64 `json:"store_calls,omitempty"`
	Unexpected int64    `json:"unexpected,omitempty"` // denied where it should pass, or the other way
	Errors     int64    `json:"errors,omitempty"`
	FirstError string   `json:"first_error,omitempty"`
}

// Open reaches the store.
type Open func(context.Context) (stores.Target, error)

const (
	keyCount = 1000 // keys that are called in turn

	// A row takes its time in turns, between those of the others, so that what
	// else happens on the machine happens to all.
	turns       = 20
	longestTurn = 250 * time.Millisecond
	leastTurn   = 5 * time.Millisecond

	// stride spreads the callers over the keys: it has no divisor in common with keyCount.
	stride = 379
)

// Run measures and removes the keys that it wrote, also when ctx ends before:
// then the report holds what was finished. open reaches the store; each number of
// callers gets connections of its own, since some clients change their ways for
// good once calls have overlapped.
func Run(ctx context.Context, address *stores.Address, open Open, o Options) (rep *Report, err error) {
	target, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	scratch := stores.NewScratch("bench")
	rep = &Report{
		Store: address.String(), About: target.About(), Go: runtime.Version(), Processors: runtime.GOMAXPROCS(0),
		Limit: o.Limit.Algorithm + " " + o.Limit.String(), DenyLimit: denySpec(o.Limit).Algorithm + " " + denySpec(o.Limit).String(),
		Keys: keyCount, ForNanos: int64(o.For), Rows: []Row{}, When: time.Now(),
	}
	defer func() {
		removed, removeErr := scratch.Remove(context.WithoutCancel(ctx), target.Storage())
		if rep.Removed = removed; err == nil {
			err = removeErr
		}
	}()
	if stores.InProcess(target) {
		open = func(context.Context) (stores.Target, error) { return target, nil }
	}
	if err := prepare(ctx, target, scratch, o.Limit); err != nil {
		return rep, err
	}
	for _, callers := range o.Concurrency {
		rows, err := table(ctx, open, scratch, callers, o)
		if err != nil {
			return rep, err
		}
		rep.Rows = append(rep.Rows, rows...)
	}
	return rep, nil
}

// table measures all rows for a number of callers.
func table(ctx context.Context, open Open, scratch *stores.Scratch, callers int, o Options) ([]Row, error) {
	target, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	s, err := newSetup(ctx, target, scratch, o.Limit)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.seen(ctx, callers); err != nil {
		return nil, err
	}
	if o.Began != nil {
		o.Began(callers, len(s.ways))
	}
	all := make([]*tally, len(s.ways))
	for i, w := range s.ways {
		all[i] = newTally(w, callers)
	}
	turn := min(max(o.For/turns, leastTurn), longestTurn)
	for range max(1, int(o.For/turn)) {
		for _, t := range all {
			before := s.meter.read(ctx)
			t.turn(ctx, turn)
			t.server.add(before, s.meter.read(ctx))
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
	}
	rows := make([]Row, len(all))
	for i, t := range all {
		rows[i] = t.row(all)
	}
	return rows, nil
}

// tally is what one way came to.
type tally struct {
	way     way
	callers []caller
	rounds  []float64 // nanoseconds a call of each turn
	took    time.Duration
	server  usage
}

// caller is one of those that call at the same time.
type caller struct {
	latencies  histogram
	calls      int
	unexpected int64
	errors     int64
	err        error // the first
}

func newTally(w way, callers int) *tally { return &tally{way: w, callers: make([]caller, callers)} }

// turn lets all callers call for so long.
func (t *tally) turn(ctx context.Context, length time.Duration) {
	before := t.calls()
	began := time.Now()
	end := began.Add(length)
	var done sync.WaitGroup
	for c := range t.callers {
		done.Go(func() { t.callers[c].call(ctx, &t.way, c, end) })
	}
	done.Wait()
	took := time.Since(began)
	t.took += took
	t.rounds = append(t.rounds, float64(took)/float64(max(1, t.calls()-before)))
}

// call calls until end, and once at least.
func (c *caller) call(ctx context.Context, w *way, number int, end time.Time) {
	count := keyCount
	if w.keys > 0 {
		count = w.keys
	}
	for now := time.Now(); ; {
		key := (number*stride + c.calls) % count
		expected, err := w.call(ctx, key)
		after := time.Now()
		c.latencies.add(after.Sub(now))
		c.calls++
		switch {
		case err != nil && c.err == nil:
			c.err = err
			fallthrough
		case err != nil:
			c.errors++
		case !expected:
			c.unexpected++
		}
		if now = after; !now.Before(end) || ctx.Err() != nil {
			return
		}
	}
}

func (t *tally) calls() (n int64) {
	for i := range t.callers {
		n += int64(t.callers[i].calls)
	}
	return n
}

// row sums up.
func (t *tally) row(all []*tally) Row {
	var h histogram
	r := Row{Callers: len(t.callers), Name: t.way.name, Calls: t.calls()}
	for i := range t.callers {
		c := &t.callers[i]
		h.merge(&c.latencies)
		r.Unexpected += c.unexpected
		r.Errors += c.errors
		if c.err != nil && r.FirstError == "" {
			r.FirstError = c.err.Error()
		}
	}
	r.PerSecond = float64(r.Calls) / t.took.Seconds()
	r.P50Nanos, r.P99Nanos, r.P999Nanos = int64(h.quantile(0.5)), int64(h.quantile(0.99)), int64(h.quantile(0.999))
	if i := slices.IndexFunc(all, func(o *tally) bool { return o.way.name == t.way.floor }); i >= 0 {
		r.Floor, r.Times = t.way.floor, medianRatio(t.rounds, all[i].rounds)
	}
	if t.server.known {
		micros := t.server.micros(t.way.command) / float64(r.Calls)
		r.ServerMicros = &micros
	}
	if t.way.storeCalls != nil {
		share := float64(t.way.storeCalls()) / float64(r.Calls)
		r.StoreCalls = &share
	}
	return r
}

// medianRatio is the median of how one compares with the other, turn by turn.
func medianRatio(of, to []float64) float64 {
	ratios := make([]float64, 0, len(of))
	for i := range min(len(of), len(to)) {
		ratios = append(ratios, of[i]/to[i])
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// failing reports that more calls failed than one in a hundred: then the figures
// are not those of a store that answers.
func (r *Row) failing() bool { return r.Errors*100 > r.Calls }

// failed returns an error if the row is failing.
func (r *Row) failed() error {
	if !r.failing() {
		return nil
	}
	return fmt.Errorf("%s, %d callers: %d of %d calls failed, so there are no figures: %s",
		r.Name, r.Callers, r.Errors, r.Calls, r.FirstError)
}
