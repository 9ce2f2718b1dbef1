package storetest

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/penstock-go/penstock/store"
)

// epoch is where the traces begin, as a time since 1970: no float holds its nanoseconds, and it is a
// multiple of every window in them.
const epoch = 2811 * 7 * 24 * time.Hour

// constructors make the limit of a trace, by the names of the traces.
var constructors = map[string]func(oracle.TraceLimit) engine.Limit{
	"token_bucket": func(l oracle.TraceLimit) engine.Limit { return engine.TokenBucket(rate(l), l.Burst) },
	"gcra":         func(l oracle.TraceLimit) engine.Limit { return engine.GCRA(rate(l), l.Burst) },
	"fixed_window": func(l oracle.TraceLimit) engine.Limit {
		return engine.FixedWindow(l.Limit, time.Duration(l.WindowNanos))
	},
	"sliding_counter": func(l oracle.TraceLimit) engine.Limit {
		return engine.SlidingWindow(l.Limit, time.Duration(l.WindowNanos))
	},
}

func rate(l oracle.TraceLimit) engine.Rate {
	return engine.Rate{Tokens: l.Limit, Per: time.Duration(l.WindowNanos)}
}

// Traces makes the calls of the recorded traces and compares the answers. Where the store's resolution
// is coarser than the times of a trace, calls that are to pass are made at the next tick and
// those that are not at the one before; a wait may be longer by less than a tick, and never shorter, and
// what was charged a tick late is due a tick late again.
// Traces with a limit that has no ticks at this resolution are left out.
func Traces(t *testing.T, k Kit) {
	t.Helper()
	traces, err := oracle.Traces()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, trace := range traces {
		for _, algorithm := range trace.Algorithms() {
			constructor, ok := constructors[algorithm]
			if !ok {
				continue
			}
			t.Run(trace.ID+"/"+algorithm, func(t *testing.T) {
				if k.trace(t, trace, constructor(trace.Limit)) {
					ran++
				}
			})
		}
	}
	if least := 40; ran < least && k.tick(t) <= time.Millisecond {
		t.Errorf("%d traces ran, expected %d at least", ran, least)
	}
}

// begins returns where a trace begins: at epoch, or so much earlier that its times fit, by weeks.
func begins(trace oracle.Trace) time.Duration {
	last := int64(0)
	for _, c := range trace.Calls {
		last = max(last, c.AtNanos)
	}
	const week = 7 * 24 * time.Hour
	return min(epoch, (math.MaxInt64-time.Duration(last)).Truncate(week)-week)
}

// trace makes the calls of one trace.
func (k Kit) trace(t *testing.T, trace oracle.Trace, limit engine.Limit) bool {
	t.Helper()
	clock, begin := enginetest.NewClock(), begins(trace)
	clock.Set(begin)
	s := k.New(t, clock)
	if _, err := store.NewLaw(limit, s.Info()); errors.Is(err, store.ErrNotSupported) {
		t.Skip(err)
	}
	l, tick := k.limiter(t, s, limit), s.Info().Tick
	latest, rounded := time.Duration(0), false
	for i, c := range trace.Calls {
		at := time.Duration(c.AtNanos)
		if rest := at % tick; c.WantAllow && rest != 0 {
			at, rounded = at+tick-rest, true
		}
		latest = max(latest, at-at%tick) // time never moves back, see package oracle
		clock.Set(begin + latest)
		d, err := l.Take(t.Context(), c.Key, c.N)
		if err == nil && rounded && c.WantAllow && d.RetryAfter == tick { // what it waits for was charged late
			latest += tick
			clock.Set(begin + latest)
			d, err = l.Take(t.Context(), c.Key, c.N)
		}
		if err == nil {
			err = judge(c, d, tick, max(0, latest-time.Duration(c.AtNanos)))
		}
		if err != nil {
			t.Errorf("call %d: %d of %q at %v: %v", i, c.N, c.Key, time.Duration(c.AtNanos), err)
		}
	}
	return true
}

// judge compares an answer with what a trace wants. late is by how much later the call was made: so
// much less is there to wait.
func judge(c oracle.TraceCall, d store.Decision, tick, late time.Duration) error {
	if d.Allowed != c.WantAllow {
		return fmt.Errorf("allowed is %t, want %t", d.Allowed, c.WantAllow)
	}
	if c.WantRetryAfterNanos == nil {
		if !d.Allowed && d.RetryAfter < tick && d.RetryAfter != engine.Never {
			return fmt.Errorf("retry-after is %v, want a tick at least", d.RetryAfter)
		}
		return nil
	}
	want, most := time.Duration(*c.WantRetryAfterNanos), 2*tick
	if want == engine.Never || want == 0 {
		most = 1
	} else {
		want -= late
	}
	if d.RetryAfter < want || d.RetryAfter >= want+most {
		return fmt.Errorf("retry-after is %v, want %v or up to %v more", d.RetryAfter, want, most)
	}
	return nil
}

// tick returns the resolution of the storage.
func (k Kit) tick(t *testing.T) time.Duration {
	t.Helper()
	return k.New(t, nil).Info().Tick
}
