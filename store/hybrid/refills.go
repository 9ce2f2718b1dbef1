package hybrid

import (
	"context"
	"sync"
)

const (
	// maxWorkers is how many requests for leases ahead of need are made at one time: enough to fill a
	// client's pipeline. They are goroutines that end when there is nothing to ask for.
	maxWorkers = 8
	// maxQueued is how many keys may wait for that. The calls of others ask for themselves when
	// their lease is used up.
	maxQueued = 1024
)

// refills makes requests for leases ahead of need.
type refills struct {
	ctx  context.Context //nolint:containedctx // the lifetime of the limiter: these requests are nobody's call
	stop context.CancelFunc

	mu      sync.Mutex
	queue   []*entry
	workers int
	closed  bool
	done    sync.WaitGroup
}

func (r *refills) init() { r.ctx, r.stop = context.WithCancel(context.Background()) }

// ahead sees to it that a lease is asked for, unless it is too early or somebody does already.
func (l *Limiter) ahead(e *entry, now int64) {
	next := e.nextAsk.Load()
	if now < next || !e.nextAsk.CompareAndSwap(next, underWay) {
		return
	}
	if !l.refills.submit(e, l.refill) {
		e.nextAsk.CompareAndSwap(underWay, now+l.pace())
	}
}

// submit has work done on e, soon; it reports false if there is too much to do, or no more is done.
func (r *refills) submit(e *entry, work func(context.Context, *entry)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.queue) >= maxQueued {
		return false
	}
	r.queue = append(r.queue, e)
	if r.workers < maxWorkers {
		r.workers++
		r.done.Go(func() { r.run(work) })
	}
	return true
}

// run works until there is nothing to do.
func (r *refills) run(work func(context.Context, *entry)) {
	for {
		e := r.pop()
		if e == nil {
			return
		}
		work(r.ctx, e)
	}
}

// pop returns what is to be done next; nil ends the worker.
func (r *refills) pop() *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 || r.closed {
		r.workers--
		return nil
	}
	e := r.queue[0]
	r.queue[0] = nil
	r.queue = r.queue[1:]
	return e
}

// close ends all requests and returns when no worker runs.
func (r *refills) close() {
	r.mu.Lock()
	r.closed = true
	r.queue = nil
	r.mu.Unlock()
	r.stop()
	r.done.Wait()
}

// refill asks for the next lease of a key. An error is seen by those who wait for it, and by the next
// call that asks by itself; so is a panic of the storage, which would end the process from here.
func (l *Limiter) refill(ctx context.Context, e *entry) {
	f := l.beginAhead(e)
	if f == nil {
		return
	}
	defer func() { _ = recover() }()
	_, _ = l.fly(ctx, e, f, 0)
}

// beginAhead begins the request for a key's next lease; nil if it needs none any more.
func (l *Limiter) beginAhead(e *entry) *flight {
	now := l.time.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	l.settle(e, now)
	if e.flight != nil || e.next != nil {
		return nil // which has set nextAsk
	}
	f := l.begin(e, 0, now)
	if f == nil {
		l.wakeAt(e, now+l.pace())
	}
	return f
}
