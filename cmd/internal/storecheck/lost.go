package storecheck

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/cmd/internal/stores"
	"github.com/penstock-go/penstock/store"
)

const (
	lostCalls   = 10 // whose answer is lost; as many others, one before each
	lostPermits = 100
)

// lostAnswers breaks the connection when the server has answered, and sees that
// the caller is told that nobody knows, and that no call is charged twice.
func (r *run) lostAnswers(ctx context.Context, c *Check) error {
	loss := &stores.Loss{}
	s, err := r.target.Losing(ctx, loss)
	if errors.Is(err, stores.ErrNoConnection) {
		c.NotRun = append(c.NotRun, NotRun{"lost answers", err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	for _, algorithm := range []string{limits.TokenBucket, limits.FixedWindow, limits.SlidingWindow} {
		if err := r.lose(ctx, s, loss, algorithm); err != nil {
			c.judged(fmt.Sprintf("FAIL lost answers (%s): %v", algorithm, err))
			continue
		}
		c.judged()
	}
	c.Note = fmt.Sprintf("%d answers of each limit lost after the server gave them: the caller is told that nobody knows, "+
		"and each is charged once", lostCalls)
	return nil
}

// lose makes calls in pairs, of which the second loses its answer, and sees that
// each is charged once.
func (r *run) lose(ctx context.Context, s store.Storage, loss *stores.Loss, algorithm string) error {
	limit, err := limits.Build(limits.Spec{Algorithm: algorithm, Tokens: lostPermits, Per: 300 * day, Burst: lostPermits})
	if err != nil {
		return err
	}
	backend, err := r.backend(s)
	if err != nil {
		return err
	}
	l, err := limiter(backend, "lost-"+algorithm, limit)
	if err != nil {
		return err
	}
	before := loss.Lost()
	for i := range int64(lostCalls) {
		if d, err := l.Take(ctx, lostKey, 1); err != nil || !d.Allowed {
			return fmt.Errorf("a call between lost ones: %s, error %s; want allowed", said(d.Decision), text(err))
		}
		loss.Arm()
		d, err := l.Take(ctx, lostKey, 1)
		loss.Disarm()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if lost := loss.Lost() - before; lost != i+1 {
			return fmt.Errorf("%d answers were lost; want %d", lost, i+1)
		}
		if !errors.Is(err, store.ErrUnknownOutcome) {
			return fmt.Errorf("a call whose answer was lost: %s, error %s; want %w", said(d.Decision), text(err), store.ErrUnknownOutcome)
		}
	}
	return account(ctx, l)
}

const lostKey = "lost"

// text says what an error is, if there is one.
func text(err error) string {
	if err == nil {
		return "none"
	}
	return err.Error()
}

// account compares what is left with what was charged.
func account(ctx context.Context, l *store.Shared) error {
	d, err := l.Peek(ctx, lostKey)
	if err != nil {
		return err
	}
	if want := int64(lostPermits - 2*lostCalls); d.Remaining != want {
		return fmt.Errorf("%d permits are left of %d after %d calls that passed and %d whose answer was lost; want %d",
			d.Remaining, lostPermits, lostCalls, lostCalls, want)
	}
	return nil
}
