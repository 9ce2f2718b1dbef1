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
	q := l.question(e, n)
	l.counters.calls.Add(1)
	d, err := l.shared.Take(ctx, e.key, n)
	if err == nil && d.Source == store.SourceStore {
		l.learn(q, &d)
	}
	return d, err
}

// question is a call of n permits for a key that the store is about to decide.
type question struct {
	entry   *entry
	n, sent int64
	resets  int // of the entry when it was sent
}

// question notes the time and what was reset before it.
func (l *Limiter) question(e *entry, n int64) question {
	e.mu.Lock()
	defer e.mu.Unlock()
	return question{e, n, l.time.now(), e.resets}
}

// learn takes note of a decision of the store.
func (l *Limiter) learn(q question, d *store.Decision) {
	now, e, n := l.time.now(), q.entry, q.n
	l.roundTrip.observe(now - q.sent)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.touched = now; e.resets != q.resets {
		return // it tells of a time before the reset, perhaps
	}
	e.stock, e.stockAt = d.Remaining, now
	if !d.Allowed {
		e.refusal.Store(l.refusalOf(d, n, q.sent, now))
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
	questions := l.questions(rest)
	l.counters.calls.Add(int64(len(rest)))
	for j, o := range l.shared.TakeBatch(ctx, rest) {
		outcomes[of[j]] = o
		if q := questions[j]; q.entry != nil && o.Err == nil && o.Decision.Source == store.SourceStore {
			l.learnOf(q, &o.Decision)
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

// questions returns those of a batch; one has no entry if nothing is to be learned from it.
func (l *Limiter) questions(requests []store.Request) []question {
	questions := make([]question, len(requests))
	for i, r := range requests {
		if l.plain || l.closed.Load() || r.N <= 0 || r.N > l.capacity {
			continue
		}
		if e := l.table.of(r.Key); e != nil {
			questions[i] = l.question(e, r.N)
		}
	}
	return questions
}

// learnOf takes note of a decision of the store on one of a batch, and has a lease asked for if the key
// is hot.
func (l *Limiter) learnOf(q question, d *store.Decision) {
	l.learn(q, d)
	if l.life > 0 && d.Allowed {
		l.ahead(q.entry, l.time.now())
	}
}
