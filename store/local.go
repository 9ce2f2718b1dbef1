package store

import (
	"context"

	"github.com/penstock-go/penstock/engine"
)

// Local is a [Limiter] on an engine.Limiter: for one process, for tests, and for programs that are to
// be moved to a store later. Its decisions are of [SourceLocal]. It fails only if ctx has
// ended before the call.
type Local struct {
	limiter *engine.Limiter[string]
}

var _ Limiter = (*Local)(nil)

// NewLocal wraps l, which Close does not close.
func NewLocal(l *engine.Limiter[string]) *Local { return &Local{l} }

// Take takes n permits of key, all or none.
func (l *Local) Take(ctx context.Context, key string, n int64) (Decision, error) {
	if err := begun(ctx); err != nil {
		return Decision{Cause: err}, err
	}
	return Decision{Decision: l.limiter.Take(key, n), Source: SourceLocal}, nil
}

// Peek returns what Take(ctx, key, 1) would answer, and charges nothing.
func (l *Local) Peek(ctx context.Context, key string) (Decision, error) {
	if err := begun(ctx); err != nil {
		return Decision{Cause: err}, err
	}
	return Decision{Decision: l.limiter.Peek(key), Source: SourceLocal}, nil
}

// TakeBatch makes each of the requests as Take would.
func (l *Local) TakeBatch(ctx context.Context, requests []Request) []Outcome {
	outcomes := make([]Outcome, len(requests))
	for i, r := range requests {
		outcomes[i].Decision, outcomes[i].Err = l.Take(ctx, r.Key, r.N)
	}
	return outcomes
}

// Reset makes key equal to a new one.
func (l *Local) Reset(ctx context.Context, key string) error {
	if err := begun(ctx); err != nil {
		return err
	}
	l.limiter.Reset(key)
	return nil
}

// Close does nothing: the engine's limiter is its owner's.
func (l *Local) Close() error { return nil }
