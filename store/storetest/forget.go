package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
)

// keptLate is how long after its time to live a word may still be there.
const keptLate = time.Minute

// Expiry checks that words go when their time to live is over, and not before.
func Expiry(t *testing.T, k Kit) {
	t.Helper()
	clock := enginetest.NewClock()
	clock.Set(epoch)
	s := k.New(t, clock)
	tick := s.Info().Tick
	const key = "storetest:{expiry}:a"
	for _, ttl := range []time.Duration{tick, 10 * tick, time.Second, 40 * time.Minute, 90 * 24 * time.Hour} {
		ttl = max(ttl, tick).Truncate(tick)
		if _, ok, err := s.CompareAndSwap(t.Context(), key, 0, word(1), ttl); err != nil || !ok {
			t.Fatalf("CompareAndSwap with a time to live of %v: %t, error %v", ttl, ok, err)
		}
		clock.Advance(ttl - 1)
		present(t, s, key, word(1), ttl)
		clock.Advance(1 + keptLate)
		present(t, s, key, 0, ttl)
		if at, ok, err := s.CompareAndSwap(t.Context(), key, word(1), word(2), ttl); err != nil || ok || at.Word != 0 {
			t.Fatalf("an expired word was swapped: %t, error %v, word %#x", ok, err, at.Word)
		}
	}
	if err := s.Put(t.Context(), key, word(3), store.Forever); err != nil {
		t.Fatal(err)
	}
	clock.Advance(10 * 365 * 24 * time.Hour)
	present(t, s, key, word(3), store.Forever)
}

func present(t *testing.T, s store.Storage, key string, want uint64, ttl time.Duration) {
	t.Helper()
	at, err := s.Get(t.Context(), key)
	if err != nil || at.Word != want {
		t.Fatalf("time to live %v: word %#x, error %v; want %#x", ttl, at.Word, err, want)
	}
}

// AsNew checks that forgetting is invisible: a drained key has its capacity again when its ResetAfter
// is over, and a tick before that it has less, whether its word has expired meanwhile or not.
func AsNew(t *testing.T, k Kit) {
	t.Helper()
	for _, limit := range modelLimits() {
		t.Run(limit.String(), func(t *testing.T) {
			clock := enginetest.NewClock()
			clock.Set(epoch)
			s := k.New(t, clock)
			if _, err := store.NewLaw(limit, s.Info()); errors.Is(err, store.ErrNotSupported) {
				t.Skip(err)
			}
			k.asNew(t, k.limiter(t, s, limit), clock, s.Info().Tick)
		})
	}
}

func (k Kit) asNew(t *testing.T, l *checked, clock *enginetest.Clock, tick time.Duration) {
	t.Helper()
	all := l.shared.Law().Limit().Capacity()
	d := mustTake(t, l, "drained", all)
	if !d.Allowed || d.Remaining != 0 {
		t.Fatalf("draining a new key: %+v", d)
	}
	if d.ResetAfter == engine.Never {
		clock.Advance(10 * 365 * 24 * time.Hour)
		if d := mustTake(t, l, "drained", 1); d.Allowed || d.RetryAfter != engine.Never {
			t.Fatalf("a key that never refills was forgotten: %+v", d)
		}
		return
	}
	clock.Advance(d.ResetAfter - tick)
	if early := mustTake(t, l, "drained", all); early.Allowed || early.RetryAfter > tick {
		t.Fatalf("%v before the reset: %+v", tick, early)
	}
	clock.Advance(tick)
	if d := mustTake(t, l, "drained", all); !d.Allowed {
		t.Fatalf("at the reset: %+v", d)
	}
	clock.Advance(20 * d.ResetAfter)
	if d := mustTake(t, l, "drained", all); !d.Allowed {
		t.Fatalf("long after the reset: %+v", d)
	}
}

func mustTake(t *testing.T, l *checked, key string, n int64) store.Decision {
	t.Helper()
	d, err := l.Take(t.Context(), key, n)
	if err != nil {
		t.Fatalf("taking %d of %q: %v", n, key, err)
	}
	return d
}

// ClockStep checks that a key recovers from a step back of the clock that all share: refused at first,
// it passes after a wait that is no longer than if the clock had not stepped.
func ClockStep(t *testing.T, k Kit) {
	t.Helper()
	for _, limit := range modelLimits() {
		t.Run(limit.String(), func(t *testing.T) {
			clock := enginetest.NewClock()
			clock.Set(epoch + time.Hour)
			s := k.New(t, clock)
			if _, err := store.NewLaw(limit, s.Info()); errors.Is(err, store.ErrNotSupported) {
				t.Skip(err)
			}
			if !s.Info().SharedClock {
				t.Skip("each caller brings a clock of its own")
			}
			l := k.limiter(t, s, limit)
			all := limit.Capacity()
			mustTake(t, l, "key", all)
			usual := mustTake(t, l, "key", 1).RetryAfter
			clock.Advance(-40 * time.Second)
			d := mustTake(t, l, "key", 1)
			longest := max(usual, l.shared.Law().Numbers().Tick*time.Duration(2*l.shared.Law().Numbers().Window))
			if d.Allowed || d.RetryAfter > longest {
				t.Fatalf("after the step: %+v, want a wait of %v at most", d, longest)
			}
			if d.RetryAfter == engine.Never {
				return
			}
			clock.Advance(d.RetryAfter)
			if d := mustTake(t, l, "key", 1); !d.Allowed {
				t.Fatalf("%v later: %+v", longest, d)
			}
		})
	}
}
