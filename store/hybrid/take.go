package hybrid

import (
	"context"

	"github.com/penstock-go/penstock/store"
)

// maxWaits is how often a call waits for a request of another before it asks for itself: twice, since
// what the first brings may be gone when it has come.
const maxWaits = 2

// way is how a call goes on.
type way uint8

const (
	decided way = iota // it is answered
	wait               // for the request under way
	lead               // make the request
	alone              // ask the store for this call only
)

// takeSlowly answers a call that the lease at hand did not.
func (l *Limiter) takeSlowly(ctx context.Context, key string, n int64) (store.Decision, error) {
	if l.plain || n < 1 || n > l.capacity || ctx.Err() != nil || l.closed.Load() {
		return l.shared.Take(ctx, key, n)
	}
	e := l.table.of(key)
	if e == nil {
		l.counters.calls.Add(1)
		return l.shared.Take(ctx, key, n)
	}
	for waits := 0; ; {
		d, f, way := l.choose(e, n, waits < maxWaits)
		switch way {
		case decided:
			return d, nil
		case alone:
			return l.takeAlone(ctx, e, n)
		case lead:
			if d, err := l.fly(ctx, e, f, n); err == nil {
				return d, nil
			}
			return l.away(ctx, key, n, f.err)
		}
		waits++
		if err := f.await(ctx); err != nil {
			return l.away(ctx, key, n, err)
		}
		if f.err != nil && !f.left {
			return l.away(ctx, key, n, f.err)
		}
	}
}

// choose answers a call from what is held by now, or says how it goes on.
func (l *Limiter) choose(e *entry, n int64, mayWait bool) (store.Decision, *flight, way) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var d store.Decision
	now := l.time.now()
	e.touched = now
	l.settle(e, now)
	if l.spend(&d, e, n, now) {
		return d, nil, decided
	}
	if r := e.refusal.Load(); r != nil && l.refuse(&d, r, n, now) {
		return d, nil, decided
	}
	switch {
	case l.life == 0 || !mayWait:
	case e.flight != nil:
		return d, e.flight, wait
	default:
		if request := l.begin(e, n, now); request != nil {
			return d, request, lead
		}
	}
	return d, nil, alone
}

// spend takes n permits from one of the leases. The caller holds e.mu and has settled.
func (l *Limiter) spend(d *store.Decision, e *entry, n, now int64) bool {
	for _, a := range [...]*lease{e.current.Load(), e.next} {
		if a == nil {
			continue
		}
		if left, ok := a.take(n, now); ok {
			if left <= a.low {
				l.ahead(e, now)
			}
			a.describe(d, l.capacity, left, now)
			return true
		}
	}
	return false
}

// takeAlone has the store decide one call, and learns from its answer.
func (l *Limiter) takeAlone(ctx context.Context, e *entry, n int64) (store.Decision, error) {
	sent := l.time.now()
	l.counters.calls.Add(1)
	d, err := l.shared.Take(ctx, e.key, n)
	if err == nil && d.Source == store.SourceStore {
		l.learn(e, &d, n, sent)
	}
	return d, err
}

// learn takes note of a decision of the store on a call of n permits.
func (l *Limiter) learn(e *entry, d *store.Decision, n, sent int64) {
	now := l.time.now()
	l.roundTrip.observe(now - sent)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.touched, e.stock, e.stockAt = now, d.Remaining, now
	if !d.Allowed {
		e.refusal.Store(l.refusalOf(d, n, sent, now))
		return
	}
	e.refusal.Store(nil) // still true, but its retry-after is put off now
	if l.life > 0 {
		e.demand.add(n, now, l.life)
	}
}

// TakeBatch makes each of the requests as Take would: those that leases or refusals answer at once,
// and the others together, by the store.
func (l *Limiter) TakeBatch(ctx context.Context, requests []store.Request) []store.Outcome {
	outcomes := make([]store.Outcome, len(requests))
	var rest []store.Request
	var of []int
	for i, r := range requests {
		if ctx.Err() != nil || !l.atHand(&outcomes[i].Decision, r) {
			rest, of = append(rest, r), append(of, i)
		}
	}
	if len(rest) == 0 {
		return outcomes
	}
	sent := l.time.now()
	l.counters.calls.Add(int64(len(rest)))
	for j, o := range l.shared.TakeBatch(ctx, rest) {
		outcomes[of[j]] = o
		if o.Err == nil && o.Decision.Source == store.SourceStore && rest[j].N > 0 {
			l.learnOf(rest[j], &o.Decision, sent)
		}
	}
	return outcomes
}

// atHand answers one of a batch from what is held, if it can.
func (l *Limiter) atHand(d *store.Decision, r store.Request) bool {
	e, ok := l.table.entries.Load(r.Key)
	switch {
	case !ok || r.N <= 0 || r.N > l.capacity:
		return false
	case l.fromMemory(d, e, r.N):
		return true
	}
	held, _, way := l.choose(e, r.N, false)
	*d = held
	return way == decided
}

// learnOf takes note of a decision of the store on one of a batch, and has a lease asked for if the key
// is hot.
func (l *Limiter) learnOf(r store.Request, d *store.Decision, sent int64) {
	if l.plain || l.closed.Load() {
		return
	}
	e := l.table.of(r.Key)
	if e == nil {
		return
	}
	l.learn(e, d, r.N, sent)
	if l.life > 0 && d.Allowed {
		l.ahead(e, l.time.now())
	}
}
