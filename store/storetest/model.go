package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
)

// modelLimits are the limits that the model is run with: plain ones, rates whose fraction in ticks has
// large numbers, and windows; those that a store does not support are left out.
func modelLimits() []engine.Limit {
	per := func(n int64, d time.Duration) engine.Rate { return engine.Rate{Tokens: n, Per: d} }
	return []engine.Limit{
		engine.TokenBucket(per(10, time.Second), 20),
		engine.TokenBucket(per(7, 3*time.Second), 5),
		engine.TokenBucket(per(999_983, time.Hour), 100_000),
		engine.TokenBucket(per(1_000_003, time.Second), 1000),
		engine.TokenBucket(per(0, time.Second), 30),
		engine.GCRA(per(1, 7*24*time.Hour), 3),
		engine.LeakyBucket(per(50, time.Minute), 10),
		engine.LeakyQueue(per(3, time.Second), 8),
		engine.FixedWindow(20, time.Second),
		engine.FixedWindow(3, 24*time.Hour),
		engine.SlidingWindow(20, time.Second),
		engine.SlidingWindow(1000, time.Minute),
	}
}

// Model makes random calls at random times, with steps back of the clock where all share it, and
// compares every answer with that of the law on numbers kept beside the store.
func Model(t *testing.T, k Kit) {
	t.Helper()
	for i, limit := range modelLimits() {
		t.Run(limit.String(), func(t *testing.T) { k.model(t, limit, uint64(i)) })
	}
}

// model is a store as simple as can be.
type model struct {
	law    *store.Law
	states map[string]kept
}

// kept is a state and when it was read.
type kept struct {
	state store.State
	at    int64
}

// take does what a store is to do at now, and returns the answer.
func (m *model) take(key string, now, least, most int64) (engine.Decision, int64) {
	word := uint64(0)
	if k, ok := m.states[key]; ok {
		word = m.law.Word(k.state, k.at)
	}
	found := m.law.State(word, now)
	before := m.law.SettleState(found, now)
	after, taken := m.law.Apply(before, now, least, most)
	if taken > 0 || before != found { // a refusal writes nothing
		m.states[key] = kept{after, now}
	}
	return m.law.Decide(m.law.Word(before, now), now, least, taken), taken
}

// forget drops the keys that equal a new one at now, from the store too. Whether it has dropped them by
// itself is not known, and after a step back of the clock it would make a difference.
func (m *model) forget(t *testing.T, l *checked, now int64) {
	t.Helper()
	for key, k := range m.states {
		if m.law.Describe(m.law.Word(k.state, k.at), now, 0).ResetAfter != 0 {
			continue
		}
		if err := l.Reset(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		delete(m.states, key)
	}
}

func (k Kit) model(t *testing.T, limit engine.Limit, seed uint64) {
	t.Helper()
	clock, rnd := enginetest.NewClock(), rand.New(rand.NewPCG(seed, 7))
	clock.Set(epoch)
	s := k.New(t, clock)
	law, err := store.NewLaw(limit, s.Info())
	if errors.Is(err, store.ErrNotSupported) {
		t.Skip(err)
	}
	l, m := k.limiter(t, s, limit), &model{law: law, states: map[string]kept{}}
	tick, now := s.Info().Tick, int64(epoch/s.Info().Tick)
	for step := range k.steps() {
		stride := stride(rnd, law, s.Info().SharedClock)
		if stride < 0 {
			m.forget(t, l, now)
		}
		now += stride
		clock.Set(time.Duration(now)*tick + time.Duration(rnd.Int64N(int64(tick)))) // rounded down again
		key := fmt.Sprintf("key-%d", rnd.IntN(3))
		least := 1 + rnd.Int64N(max(1, min(limit.Capacity(), 12)))
		most := least
		if k.Wrap == nil && rnd.IntN(3) == 0 {
			most += rnd.Int64N(limit.Capacity() + 2)
		}
		got, taken, err := l.takeUpTo(t.Context(), key, least, most)
		want, wantTaken := m.take(key, now, least, min(most, limit.Capacity()))
		if err != nil || taken != wantTaken || got.Decision != want {
			t.Fatalf("step %d: %d to %d of %s at tick %d: took %d, %+v, error %v;\nwant %d, %+v",
				step, least, most, key, now, taken, got.Decision, err, wantTaken, want)
		}
	}
	if n := l.shared.Stats().Mismatches; n != 0 {
		t.Errorf("%d decisions of the store differ from its law", n)
	}
}

// steps returns the number of random calls for each limit.
func (k Kit) steps() int {
	if k.Steps > 0 {
		return k.Steps
	}
	return 2000
}

// stride returns by how many ticks time goes on before a call: mostly by about what a permit takes.
func stride(rnd *rand.Rand, law *store.Law, mayStepBack bool) int64 {
	n := law.Numbers()
	typical := n.Window
	if n.Kind == store.KindBucket {
		typical = n.Unit / max(1, n.Rate)
	}
	typical = min(max(2, typical), int64(24*time.Hour/n.Tick))
	switch r := rnd.IntN(100); {
	case r < 30:
		return 0
	case r < 34 && mayStepBack:
		return -rnd.Int64N(5 * typical)
	case r < 37:
		return rnd.Int64N(50 * typical)
	}
	return rnd.Int64N(typical)
}
