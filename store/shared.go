package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// Shared is a [Limiter] whose words are in a store. Make one with [Backend.Limiter].
//
// For every key and every interval of the store's clock, all processes together are admitted what the
// limit says, as by an engine.Limiter, with these additions: what the policy admits while the
// store is away; a burst for each loss of the key's state; and what a step forward of the
// clock earns. A call that is refused writes nothing, but for [Law.Settle].
//
// Cost: one round trip if the store is an [Applier] that accepts the limit, else two, and one more for
// each race lost to another process, at most 4. Calls of one process for one key at one time share
// their round trips.
type Shared struct {
	backend   *Backend
	name      string
	limit     engine.Limit
	policy    Policy
	processes int
	law       *Law // nil if the limit keeps no state
	applies   bool // the storage decides by itself
	tail      string
	fallback  *engine.Limiter[string] // of LocalShare
	flights   flights
	counters  counters
}

var _ Limiter = (*Shared)(nil)

// init compiles the limit and makes what the policy needs.
func (s *Shared) init() error {
	if a := s.limit.Algorithm(); a == engine.AlgorithmUnlimited || a == engine.AlgorithmBlocked {
		return nil
	}
	law, err := NewLaw(s.limit, s.backend.info)
	if err != nil {
		return err
	}
	form := "w" // a word, or the store's own: they must not meet
	if s.backend.applier != nil && s.backend.applier.Accepts(law) == nil {
		s.applies, form = true, "a"
	}
	s.law, s.tail = law, s.name+":"+form+law.Tag()
	s.flights.init()
	if s.policy == LocalShare {
		s.fallback, err = engine.New[string](s.limit.Share(int64(s.processes)))
	}
	return err
}

// Law returns the compiled limit, nil if it keeps no state: unlimited or blocked.
func (s *Shared) Law() *Law { return s.law }

// Backend returns the backend that made the limiter.
func (s *Shared) Backend() *Backend { return s.backend }

// Key returns the key under which the store keeps a caller's key.
func (s *Shared) Key(key string) string { return fullKey(s.backend.prefix, key, s.tail) }

// Take takes n permits of key, all or none, see [Limiter]. A call for more than the capacity can never
// pass and is answered without the store: its Remaining is 0.
func (s *Shared) Take(ctx context.Context, key string, n int64) (Decision, error) {
	if d, ok := s.fixed(n); ok {
		return s.counters.decided(d), nil
	}
	return s.take(ctx, key, n, time.Now())
}

// take takes n permits for a caller who has waited since began, at most the capacity.
func (s *Shared) take(ctx context.Context, key string, n int64, began time.Time) (Decision, error) {
	c, err := s.ask(ctx, key, n, n)
	if err != nil {
		return s.away(ctx, key, n, err, began)
	}
	return s.counters.decided(s.answer(c, n)), nil
}

// Peek returns what Take(ctx, key, 1) would answer, and charges nothing. When the store does not
// answer it follows the policy too.
func (s *Shared) Peek(ctx context.Context, key string) (Decision, error) {
	if d, ok := s.fixed(1); ok {
		return d, nil
	}
	began := time.Now()
	c, err := s.ask(ctx, key, 0, 0)
	switch {
	case err == nil:
		return Decision{Decision: s.law.Describe(c.word, c.now, 1), Source: SourceStore}, nil
	case s.policy == LocalShare && !left(ctx, err):
		return Decision{Decision: s.share(s.fallback.Peek(key), 1), Source: SourceLocal, Cause: err}, nil
	}
	return s.away(ctx, key, 1, err, began)
}

// TakeUpTo takes as many permits as there are up to most, none if they are fewer than least, and
// returns how many it took: 1 <= least <= most, of which most is held to the capacity. The decision
// is that of a call of taken permits, or of least if it took none. It never follows the policy: an
// error is an error.
func (s *Shared) TakeUpTo(ctx context.Context, key string, least, most int64) (d Decision, taken int64, err error) {
	if least < 1 || least > most {
		return Decision{}, 0, fmt.Errorf("%w: TakeUpTo of %d to %d permits: use 1 <= least <= most", ErrOption, least, most)
	}
	if d, ok := s.fixed(least); ok {
		if d.Allowed {
			taken = most
		}
		return d, taken, nil
	}
	began := time.Now()
	c, err := s.ask(ctx, key, least, min(most, s.law.numbers.Limit))
	if err != nil {
		s.failed(ctx, err, began)
		return Decision{Cause: err}, 0, err
	}
	return s.counters.decided(s.answer(c, least)), c.taken, nil
}

// Fallback answers a call of n permits by the limit's policy, as Take does when the store does not
// answer: cause is why.
func (s *Shared) Fallback(key string, n int64, cause error) (Decision, error) {
	switch {
	case s.policy == Open:
		return s.counters.decided(Decision{Decision: engine.Decision{Allowed: true}, Source: SourceOpen, Cause: cause}), nil
	case s.policy == Closed || s.fallback == nil:
		return s.counters.decided(Decision{Source: SourceClosed, Cause: cause}), cause
	}
	return s.counters.decided(Decision{Decision: s.share(s.fallback.Take(key, n), n), Source: SourceLocal, Cause: cause}), nil
}

// share reads an answer of this process's share of the limit to a call of n permits.
func (s *Shared) share(d engine.Decision, n int64) engine.Decision {
	if d.RetryAfter == engine.Never && n > d.Limit { // of the share, but not of the limit
		d.RetryAfter = s.backend.breakers.settings.Pause
	}
	return d
}

// away answers a call that the store did not: by the policy, unless its caller, who has waited since began,
// does not wait for the answer any more.
func (s *Shared) away(ctx context.Context, key string, n int64, err error, began time.Time) (Decision, error) {
	s.failed(ctx, err, began)
	if left(ctx, err) {
		return Decision{Cause: err}, err
	}
	return s.Fallback(key, n, err)
}

// failed counts a call that the store did not decide, and whose caller has waited since began.
func (s *Shared) failed(ctx context.Context, err error, began time.Time) {
	if ctx.Err() != nil && !errors.Is(err, ErrThrottled) && s.backend.blame(ctx, err, time.Since(began)) == nothing {
		s.counters.left.Add(1)
		return
	}
	s.counters.failed(err)
}

// left reports whether a caller has left, or did not wait from the beginning.
func left(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.Canceled) || errors.Is(err, errNotAsked)
}

// fixed answers calls that need no store.
func (s *Shared) fixed(n int64) (Decision, bool) {
	never := engine.Decision{Limit: s.limit.Capacity(), RetryAfter: engine.Never}
	switch {
	case s.law != nil && n >= 0 && n <= s.law.numbers.Limit:
		return Decision{}, false
	case n == 0, n > 0 && s.limit.Algorithm() == engine.AlgorithmUnlimited:
		d := engine.Decision{Allowed: true, Limit: s.limit.Capacity()}
		if d.Limit == math.MaxInt64 {
			d.Remaining = d.Limit
		}
		return Decision{Decision: d, Source: SourceFixed}, true
	}
	return Decision{Decision: never, Source: SourceFixed}, true
}

// errNotAsked reports a caller that did not wait when it called.
var errNotAsked = errors.New("store: not asked: the context had ended before the call")

// begun returns an error if a caller's context had ended before its call.
func begun(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotAsked, err)
	}
	return nil
}

// ask charges least to most permits of a caller's key, within the deadline.
func (s *Shared) ask(ctx context.Context, key string, least, most int64) (charged, error) {
	if err := begun(ctx); err != nil {
		return charged{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.backend.deadline)
	defer cancel()
	return s.charge(ctx, s.Key(key), least, most)
}

// answer is the decision of a call of n permits.
func (s *Shared) answer(c charged, n int64) Decision {
	return Decision{Decision: s.law.Decide(c.word, c.now, n, c.taken), Source: SourceStore}
}

// Reset makes key equal to a new one: in the store, and in this process's share.
func (s *Shared) Reset(ctx context.Context, key string) error {
	if err := begun(ctx); err != nil || s.law == nil {
		return err
	}
	if s.fallback != nil {
		s.fallback.Reset(key)
	}
	ctx, cancel := context.WithTimeout(ctx, s.backend.deadline)
	defer cancel()
	full := s.Key(key)
	return s.backend.guarded(ctx, s.backend.node(full), func() error {
		return written(s.backend.storage.Put(ctx, full, 0, Forever))
	})
}

// Stats returns a snapshot.
func (s *Shared) Stats() Stats { return s.counters.snapshot(s.backend) }

// Close ends the share that this process enforces on its own. The backend stays open.
func (s *Shared) Close() error {
	if s.fallback != nil {
		return s.fallback.Close()
	}
	return nil
}
