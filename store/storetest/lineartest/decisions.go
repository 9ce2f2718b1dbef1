package lineartest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// permits is the limit of the decisions, in a window that does not end while they are made.
const permits = 40

// kind is what a caller does.
type kind uint8

const (
	take kind = iota
	some      // TakeUpTo
	peek
	reset
)

// limitCall is a call for a key, and limitAnswer what it came to.
type limitCall struct {
	kind kind
	key  string
	n    int64
}

type limitAnswer struct {
	taken, remaining int64
	known            bool
}

// decisions makes a history of calls of two processes and judges it.
func decisions(ctx context.Context, s store.Storage, seed uint64, faults bool) error {
	var processes [2]*store.Shared
	for i := range processes {
		var err error
		if processes[i], err = process(faulty(s, seed+uint64(i), faults)); err != nil {
			return err
		}
	}
	input := func(rnd *rand.Rand) limitCall {
		c := limitCall{take, fmt.Sprintf("%d/%d", seed, rnd.IntN(keys)), 1 + rnd.Int64N(4)}
		switch r := rnd.IntN(20); {
		case r < 4:
			c.kind = some
		case r < 8:
			c.kind = peek
		case r == 8:
			c.kind = reset
		}
		return c
	}
	history := record(seed, input, func(c limitCall) (limitAnswer, effect) {
		return ask(ctx, processes[c.n%2], c)
	})
	return judge(limitModel().ToModel(), history)
}

// process returns a limiter as a process of its own would have it.
func process(s store.Storage) (*store.Shared, error) {
	backend, err := store.NewBackend(s, store.WithDeadline(10*time.Second), store.WithPrefix("storetest"),
		store.WithBreaker(store.Breaker{Failures: 1 << 30, MinCalls: 1 << 30}))
	if err != nil {
		return nil, err
	}
	return backend.Limiter("linear", engine.FixedWindow(permits, 100*365*24*time.Hour), store.WithPolicy(store.Closed))
}

// ask makes a call.
func ask(ctx context.Context, l *store.Shared, c limitCall) (limitAnswer, effect) {
	var d store.Decision
	var taken int64
	var err error
	switch c.kind {
	case take:
		if d, err = l.Take(ctx, c.key, c.n); d.Allowed {
			taken = c.n
		}
	case some:
		d, taken, err = l.TakeUpTo(ctx, c.key, 1, c.n)
	case peek:
		d, err = l.Peek(ctx, c.key)
	default:
		err = l.Reset(ctx, c.key)
	}
	how := effectOf(err)
	if c.kind == peek && how == unknown {
		how = none
	}
	return limitAnswer{taken, d.Remaining, err == nil}, how
}

// limitModel is the count of one window.
func limitModel() *porcupine.NondeterministicModel {
	return &porcupine.NondeterministicModel{
		Partition: byKey(func(c limitCall) string { return c.key }),
		Init:      func() []any { return []any{int64(0)} },
		Step: func(state, input, output any) []any {
			used, c, a := state.(int64), input.(limitCall), output.(limitAnswer) //nolint:errcheck // there is nothing else in them
			return limitStep(used, c, a)
		},
	}
}

// limitStep returns what may be used after a call, nothing if it could not have come out as it did.
func limitStep(used int64, c limitCall, a limitAnswer) []any {
	taken, after := int64(0), used
	switch c.kind {
	case take:
		if used+c.n <= permits {
			taken = c.n
		}
	case some:
		taken = min(c.n, permits-used)
	case reset:
		after = 0
	}
	after += taken
	switch {
	case !a.known:
		return []any{used, after}
	case c.kind != reset && (a.taken != taken || a.remaining != permits-after):
		return nil
	}
	return []any{after}
}
