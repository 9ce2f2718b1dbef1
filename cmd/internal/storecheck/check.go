// Package storecheck checks a store that runs somewhere, through the public API,
// under keys of its own: that it decides as the models do, what becomes of
// callers that race, of keys that expire, and of answers that are lost.
package storecheck

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/cases"
	"github.com/penstock-go/penstock/cmd/internal/stores"
	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// Options say what to check.
type Options struct {
	Cases  []cases.Case
	Orders int // of interleaving, see cases.Judge
	Random int // calls on random limits, at chosen times
	Seed   uint64
	// Began and Done, if not nil, are called before and after each check.
	Began func(name string)
	Done  func(Check)
}

// Report is what came of all checks.
type Report struct {
	Store      string  `json:"store"` // its URL, without user and password
	About      string  `json:"about"`
	TickNanos  int64   `json:"tick_ns"` // the resolution of its clock
	Prefix     string  `json:"prefix"`  // of all keys
	Removed    int     `json:"removed"` // keys
	Checks     []Check `json:"checks"`
	Passed     int     `json:"passed"`
	Failed     int     `json:"failed"`
	NotRun     int     `json:"not_run"`
	Unfinished string  `json:"unfinished,omitempty"` // why, if it was stopped
}

// Check is what came of one of them.
type Check struct {
	Name     string   `json:"name"`
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Note     string   `json:"note,omitempty"` // what it was made of
	Failures []string `json:"failures,omitempty"`
	NotRun   []NotRun `json:"not_run,omitempty"`
}

// NotRun is what cannot run on this store, and why.
type NotRun struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// judged counts one more thing that was checked; failures are what is wrong with it.
func (c *Check) judged(failures ...string) {
	if len(failures) == 0 {
		c.Passed++
		return
	}
	c.Failed++
	c.Failures = append(c.Failures, failures...)
}

// run is one run of all checks.
type run struct {
	target  stores.Target
	scratch *stores.Scratch
	options Options
	tick    time.Duration
	made    atomic.Int64 // limiters of cases so far
}

// deadline is how long a call may take: a check is no place to give up early.
const deadline = 10 * time.Second

// checks are all checks, in their order.
var checks = []struct {
	name  string
	check func(*run, context.Context, *Check) error
}{
	{"words", (*run).words},
	{"cases", (*run).recorded},
	{"random", (*run).random},
	{"own clock", (*run).ownClock},
	{"callers", (*run).callers},
	{"expiry", (*run).expiry},
	{"lost answers", (*run).lostAnswers},
}

// Run makes all checks and removes the keys that they wrote, also when ctx ends
// before. The error is that of keys that could not be removed.
func Run(ctx context.Context, address string, target stores.Target, o Options) (*Report, error) {
	r := &run{target: target, scratch: stores.NewScratch("check"), options: o, tick: target.Storage().Info().Tick}
	rep := &Report{
		Store: address, About: target.About(), TickNanos: int64(r.tick), Prefix: r.scratch.Prefix, Checks: []Check{},
	}
	for _, c := range checks {
		if o.Began != nil {
			o.Began(c.name)
		}
		out := Check{Name: c.name}
		if err := c.check(r, ctx, &out); err != nil && ctx.Err() == nil {
			out.judged(fmt.Sprintf("FAIL %s: %v", c.name, err))
		}
		if err := ctx.Err(); err != nil {
			rep.Unfinished = fmt.Sprintf("stopped during %q: %v", c.name, context.Cause(ctx))
			break
		}
		rep.add(out)
		if o.Done != nil {
			o.Done(out)
		}
	}
	var err error
	rep.Removed, err = r.scratch.Remove(context.WithoutCancel(ctx), target.Storage())
	return rep, err
}

func (rep *Report) add(c Check) {
	rep.Checks = append(rep.Checks, c)
	rep.Passed += c.Passed
	rep.Failed += c.Failed
	rep.NotRun += len(c.NotRun)
}

// backend puts a storage to use, under keys that are removed afterwards. A
// check makes calls that fail on purpose, so the breaker stays out of the way.
func (r *run) backend(s store.Storage) (*store.Backend, error) {
	return store.NewBackend(r.scratch.Over(s), store.WithDeadline(deadline), store.WithPrefix(r.scratch.Prefix),
		store.WithBreaker(store.Breaker{Failures: 1 << 30, MinCalls: 1 << 30}))
}

// limiter makes a limiter of a backend that answers with the store's errors.
func limiter(b *store.Backend, name string, l engine.Limit) (*store.Shared, error) {
	return b.Limiter(name, l, store.WithPolicy(store.Closed))
}

// ways are the ways to decide that a storage has: by itself, and by
// compare-and-swap.
func ways(s store.Storage) map[string]store.Storage {
	out := map[string]store.Storage{waySwap: store.WithoutApply(s)}
	if _, ok := s.(store.Applier); ok {
		out[wayApply] = s
	}
	return out
}

const wayApply, waySwap = "apply", "swap"

// supported returns why a store cannot enforce a limit by itself, nil if it can.
func supported(s store.Storage, l engine.Limit) (*store.Law, error) {
	law, err := store.NewLaw(l, s.Info())
	if err != nil {
		return nil, err
	}
	if applier, ok := s.(store.Applier); ok {
		if err := applier.Accepts(law); err != nil {
			return nil, err
		}
	}
	return law, nil
}

// why is the reason in an error of a limit that is not supported, without the
// limit.
func why(err error, info store.Info) string {
	text := strings.TrimPrefix(err.Error(), store.ErrNotSupported.Error()+": ")
	if _, reason, found := strings.Cut(text, " on "+info.Name+": "); found {
		return reason
	}
	return text
}
