package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// Batch checks that calls made together come out as if they were made one by one, calls for the same
// key included.
func Batch(t *testing.T, k Kit) {
	t.Helper()
	l := k.limiter(t, k.New(t, nil), engine.TokenBucket(engine.Rate{Tokens: 1, Per: 24 * time.Hour}, 3))
	requests := []store.Request{
		{Key: "a", N: 1}, {Key: "b", N: 3}, {Key: "a", N: 1}, {Key: "c", N: 4}, {Key: "a", N: 1},
		{Key: "b", N: 1}, {Key: "a", N: 1}, {Key: "d", N: 0}, {Key: "e", N: -1},
	}
	allowed := map[string]int64{}
	outcomes := l.TakeBatch(t.Context(), requests)
	for i, o := range outcomes {
		if o.Err != nil {
			t.Errorf("request %d: %v", i, o.Err)
		}
		if o.Decision.Allowed {
			allowed[requests[i].Key] += max(1, requests[i].N)
		}
	}
	for key, want := range map[string]int64{"a": 3, "b": 3, "c": 0, "d": 1, "e": 0} {
		if got := allowed[key]; got != want && (key != "b" || got != 1) { // ops may come in any order
			t.Errorf("key %q: %d passed, want %d", key, got, want)
		}
	}
	if n := len(l.TakeBatch(t.Context(), nil)); n != 0 {
		t.Errorf("an empty batch has %d outcomes", n)
	}
}

// Reset checks that a key that was reset equals a new one.
func Reset(t *testing.T, k Kit) {
	t.Helper()
	l := k.limiter(t, k.New(t, nil), engine.FixedWindow(4, 365*24*time.Hour))
	for range 2 {
		if d := mustTake(t, l, "key", 4); !d.Allowed {
			t.Fatalf("not as new: %+v", d)
		}
		if d, err := l.Peek(t.Context(), "key"); err != nil || d.Allowed {
			t.Fatalf("Peek at a drained key: %+v, %v", d, err)
		}
		if err := l.Reset(t.Context(), "key"); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := l.Peek(t.Context(), "key"); err != nil || !d.Allowed || d.Remaining != 4 {
		t.Fatalf("Peek at a new key: %+v, %v", d, err)
	}
}

// Ended checks that operations whose context has ended return its error, and do nothing.
func Ended(t *testing.T, k Kit) {
	t.Helper()
	s := k.New(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	const key = "storetest:{ended}:a"
	if _, err := s.Get(ctx, key); err == nil {
		t.Error("Get: no error")
	}
	if _, _, err := s.CompareAndSwap(ctx, key, 0, word(1), time.Hour); err == nil {
		t.Error("CompareAndSwap: no error")
	}
	if err := s.Put(ctx, key, word(1), time.Hour); err == nil {
		t.Error("Put: no error")
	}
	present(t, s, key, 0, time.Hour)
	applier, ok := s.(store.Applier)
	if !ok {
		return
	}
	law, err := store.NewLaw(engine.TokenBucket(engine.PerHour(1), 1), s.Info())
	if err != nil {
		t.Fatal(err)
	}
	if err := applier.Accepts(law); errors.Is(err, store.ErrNotSupported) {
		return
	}
	op := store.Op{Key: "storetest:{ended}:b", Law: law, Min: 1, Max: 1}
	results := make([]store.Result, 1)
	if applier.Apply(ctx, []store.Op{op}, results); results[0].Err == nil {
		t.Error("Apply: no error")
	}
	if applier.Apply(t.Context(), []store.Op{op}, results); results[0].Err != nil || results[0].Taken != 1 {
		t.Errorf("after an Apply that had ended: %+v", results[0])
	}
}
