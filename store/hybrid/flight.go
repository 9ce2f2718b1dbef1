package hybrid

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// errPanicked stands for the answer to a request until there is one.
var errPanicked = fmt.Errorf("%w: hybrid: the request for a lease panicked", store.ErrUnknownOutcome)

// pacesPerLife is how many requests for a hot key may be made in a life while the store is short of
// permits. While it is not, a lease is for half of a life.
const pacesPerLife = 4

// pace returns the least time between two requests for a hot key that the store is short for.
func (l *Limiter) pace() int64 { return l.life / pacesPerLife }

// answer is what the store said to a request.
type answer struct {
	decision store.Decision
	taken    int64
}

// fly asks the store for n permits, for a caller, and as many as f says for a lease; n is 0 if nobody
// waits for them. The decision is the caller's, if there is one.
func (l *Limiter) fly(ctx context.Context, e *entry, f *flight, n int64) (store.Decision, error) {
	var a answer
	f.err, f.sent = errPanicked, l.time.now()
	defer func() { l.land(e, f, &a, n) }()
	l.counters.calls.Add(1)
	a.decision, a.taken, f.err = l.shared.TakeUpTo(ctx, e.key, max(1, n), n+f.extra)
	f.left = f.err != nil && ctx.Err() != nil
	d := a.decision
	switch {
	case f.err != nil:
	case d.Allowed:
		d.Remaining += a.taken - n
	case d.RetryAfter != engine.Never:
		d.RetryAfter = max(d.RetryAfter, after(f.sent+l.pace(), l.time.now()))
	}
	return d, f.err
}

// land takes in the answer to a request of which n permits are the caller's.
func (l *Limiter) land(e *entry, f *flight, a *answer, n int64) {
	now := l.time.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	defer close(f.done)
	l.settle(e, now)
	e.flight, e.touched = nil, now
	if f.err != nil {
		l.wakeAt(e, now+l.pace())
		return
	}
	l.roundTrip.observe(now - f.sent)
	if f.resets != e.resets { // it tells of a time before the reset, perhaps
		l.wakeAt(e, now)
		l.grant(e, f, &a.decision, max(0, a.taken-n), now)
		return
	}
	e.stock, e.stockAt = a.decision.Remaining, now
	if a.taken == 0 {
		l.wakeAt(e, f.sent+l.pace())
		e.refusal.Store(l.pacedOf(&a.decision, max(1, n), f.sent, now))
		return
	}
	e.demand.add(n, now, l.life)
	e.refusal.Store(nil)
	l.wakeAt(e, now)
	if a.decision.Remaining < f.want { // the store is short: it is not asked again at once
		l.wakeAt(e, f.sent+l.pace())
		e.refusal.Store(l.pacedOf(&a.decision, 1, f.sent, now))
	}
	if extra := a.taken - n; extra > 0 {
		l.grant(e, f, &a.decision, extra, now)
	}
}

// wakeAt sets the time from which a lease may be asked for ahead. The caller holds e.mu, and no
// lease is on its way or held.
func (l *Limiter) wakeAt(e *entry, when int64) {
	e.notBefore = when
	e.nextAsk.Store(when)
}

// grant publishes a lease of extra permits, or counts them as wasted if they come too late: after the
// end, a reset or Close. The caller holds e.mu.
func (l *Limiter) grant(e *entry, f *flight, d *store.Decision, extra, now int64) {
	l.counters.leased.Add(extra)
	until := f.sent + l.life
	if now >= until || f.resets != e.resets || l.closed.Load() {
		l.counters.wasted.Add(extra)
		return
	}
	a := &lease{
		until: until, granted: extra, beyond: d.Remaining, low: l.low(e, extra), resetAt: at(now, d.ResetAfter),
	}
	a.left.Store(extra)
	if e.current.Load() == nil {
		e.current.Store(a)
		return
	}
	e.next = a
	e.nextAsk.Store(underWay)
}

// low returns how much of a lease is to be left when the next one is asked for: what is spent in two
// round trips, an eighth to a half. The caller holds e.mu.
func (l *Limiter) low(e *entry, granted int64) int64 {
	spent := e.demand.perNano * float64(2*l.roundTrip.most())
	return max(granted/8, int64(min(spent, float64(granted/2))))
}

// await waits until a request has landed, and returns an error if the caller's time is up before.
func (f *flight) await(ctx context.Context) error {
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: still waiting for an earlier request for the key: %w", store.ErrUnavailable, ctx.Err())
	}
}

// away answers a call that the store did not: by the limit's policy, unless its caller has left.
func (l *Limiter) away(ctx context.Context, key string, n int64, err error) (store.Decision, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return store.Decision{Cause: err}, err
	}
	return l.shared.Fallback(key, n, err)
}
