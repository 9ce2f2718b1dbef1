// Package storetest checks implementations of store.Storage and store.Applier: those of this project,
// and your own.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, storetest.Kit{New: func(t *testing.T, clock engine.Clock) store.Storage {
//			return mystore.New(mystore.WithClock(clock))
//		}})
//	}
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// Kit is what the checks need to know of an implementation.
type Kit struct {
	// New returns a storage that holds nothing under the keys of this test, and closes it when the
	// test ends. Its time is that of clock, the time since 1970-01-01 UTC, rounded down to ticks; if
	// clock is nil it is the storage's own. The clock stands still, leaps, and steps back. A storage whose
	// words expire by another clock than the one given must not let them expire while the test runs.
	New func(t *testing.T, clock engine.Clock) store.Storage
	// OwnClockOnly says that New cannot set a clock: it ignores it. The checks that need one are
	// skipped.
	OwnClockOnly bool
	// KeepsExpired says that words do not expire by the clock given, so that the check of that is skipped.
	KeepsExpired bool
	// Steps is the number of random calls for each limit of Model, 2000 if it is 0.
	Steps int
	// Deadline is how long a call may take in the checks, 10 s if it is 0.
	Deadline time.Duration
	// Wrap, if not nil, puts a limiter over each of those that are checked, which has to decide as they
	// do; it is on the storage that New returned last. Charges of an open size are not checked then.
	Wrap func(tb testing.TB, l *store.Shared) store.Limiter
}

// checked is a limiter under test.
type checked struct {
	store.Limiter
	shared *store.Shared
}

// takeUpTo takes least to most permits.
func (c *checked) takeUpTo(ctx context.Context, key string, least, most int64) (d store.Decision, taken int64, err error) {
	if least < most {
		return c.shared.TakeUpTo(ctx, key, least, most)
	}
	if d, err = c.Take(ctx, key, least); d.Allowed {
		taken = least
	}
	return d, taken, err
}

// Run makes all checks, as subtests: those of decisions by Apply, if there is one, and by
// compare-and-swap.
func Run(t *testing.T, k Kit) {
	t.Helper()
	t.Run("storage", func(t *testing.T) { Contract(t, k) })
	t.Run("ended", func(t *testing.T) { Ended(t, k) })
	if !k.OwnClockOnly && !k.KeepsExpired {
		t.Run("expiry", func(t *testing.T) { Expiry(t, k) })
	}
	t.Run("swap", func(t *testing.T) { decisions(t, k.hidden()) })
	if _, ok := k.New(t, nil).(store.Applier); ok {
		t.Run("apply", func(t *testing.T) { decisions(t, k) })
	}
}

// decisions makes the checks of one way to decide.
func decisions(t *testing.T, k Kit) {
	t.Helper()
	t.Run("concurrency", func(t *testing.T) { Concurrency(t, k) })
	t.Run("batch", func(t *testing.T) { Batch(t, k) })
	t.Run("reset", func(t *testing.T) { Reset(t, k) })
	if k.OwnClockOnly {
		return
	}
	t.Run("traces", func(t *testing.T) { Traces(t, k) })
	t.Run("model", func(t *testing.T) { Model(t, k) })
	t.Run("as new", func(t *testing.T) { AsNew(t, k) })
	t.Run("clock step", func(t *testing.T) { ClockStep(t, k) })
}

// hidden returns the kit without Apply.
func (k Kit) hidden() Kit {
	visible := k.New
	k.New = func(t *testing.T, clock engine.Clock) store.Storage {
		t.Helper()
		return store.WithoutApply(visible(t, clock))
	}
	return k
}

// limiter puts a limit on a storage. A failure of the store is an error of the test.
func (k Kit) limiter(tb testing.TB, s store.Storage, l engine.Limit) *checked {
	tb.Helper()
	deadline := k.Deadline
	if deadline == 0 {
		deadline = 10 * time.Second
	}
	backend, err := store.NewBackend(s, store.WithDeadline(deadline), store.WithPrefix("storetest"))
	if err != nil {
		tb.Fatal(err)
	}
	shared, err := backend.Limiter("limit", l, store.WithPolicy(store.Closed))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := shared.Close(); err != nil {
			tb.Error(err)
		}
	})
	if k.Wrap == nil {
		return &checked{shared, shared}
	}
	return &checked{k.Wrap(tb, shared), shared}
}
