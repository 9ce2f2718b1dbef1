// Package engine decides, per key and in process, whether a call may pass: exactly, without
// locks on the path of a known key, and without garbage.
//
//	limiter := engine.Must[string](engine.TokenBucket(engine.PerSecond(10), 20))
//	if !limiter.Allow(clientIP) {
//		// 429
//	}
//
// The file allow.go shows the way of a call, step by step.
package engine

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/evict"
	"github.com/penstock-go/penstock/internal/sched"
	"github.com/penstock-go/penstock/sharded"
)

// Limiter enforces a limit on every key of type K separately. A key needs no registration: one
// never seen before is full.
//
// For every key and every interval [x, y] of the limiter's clock a token bucket admits at most
// burst + (y-x)*rate tokens, whatever the interleaving of calls, the growth of the table and
// the order of clock readings; a token that is due is granted at its nanosecond; a denied call
// writes nothing.
//
// Cost: a call on a known key hashes it twice (integers and IPv4 addresses once), probes a few
// neighbouring slots, reads the clock and, if allowed, writes one word; it takes no lock and
// does not allocate. If another call was first it loads the word again, and after some tries the
// clock; while the leaf of its key is rebuilt it goes on at the copy of its word, and waits only if
// the rebuilder has lost its processor just before that copy. A new key locks one of the table's
// leaves. Memory, whatever the keys' length: 12 KiB, at most 131 bytes a key at some 3,000, and some
// 42 from 10,000 on; a key that equals a new one is forgotten. A [SlidingLog] costs more: a lock for each key, and memory for each
// admission.
//
// A key that does not equal itself (a floating-point NaN) is a new one at every call.
//
// A Limiter counts what one process admits while it runs: it is not for a limit that several
// processes share or that must outlive a restart: package store is. It answers at once or, by
// [Limiter.Reserve] and [Limiter.Wait], says or waits until the permits are there.
//
// Make one with [New] or [Must]; the zero value is not usable and a Limiter must not be copied.
//
// All methods are safe for concurrent use. In the terms of the Go memory model, a write to a key
// synchronizes before every read of it that observes the write, whatever growth and sweeps come
// between. [Limiter.Allow], [Limiter.AllowN], [AllowBytes], [Limiter.Take] and [Limiter.TakeAt]
// read the key, and write it when they take permits, as [Limiter.Reserve] and [Limiter.Wait] do;
// [Limiter.Peek] and [Limiter.PeekAt] read it; [Limiter.Reset], [Receipt.Refund] and
// [Reservation.Cancel] write it. A denied call is a read. [Limiter.Len] and [Limiter.Stats] are
// counts that order nothing; what a sweep forgets equals new, so [Limiter.Sweep] writes no key.
type Limiter[K comparable] struct {
	core
	alone    bool // a key is under one limit: no WithAlso
	hasher   sharded.Hasher[K]
	main     place[K]
	also     []alsoRule[K]
	resolver Resolver[K] // nil if there is none
	resolved resolved
}

// alsoRule is a limit of WithAlso and where its keys live.
type alsoRule[K comparable] struct {
	place place[K]
	rule  *rule
}

// core is what does not depend on the type of the keys.
type core struct {
	rule          sched.Pointer[rule] // of the default limit
	contended     sched.Bool          // a call lost a swap a moment ago, see tryWordContended
	table         *sharded.Table
	words         *words     // held here so that it lives as long as the limiter: the sweeper holds it weakly
	stats         *callStats // nil unless asked for
	sweeper       *evict.Sweeper[words, *words]
	sweepInterval time.Duration
	policy        CapPolicy
	capped        capCounters
	book          ruleBook
	time          timeline
	closed        sched.Bool // logs made from now on are not swept, nobody waits
	sleepers      sleepers
	maxWait       time.Duration
	queue         queueBounds
}

// words is the table as the background sweep sees it.
type words struct {
	*sharded.Table
	time *timeline
}

// Refresh reads the user's clock, if there is one.
func (w *words) Refresh() { w.time.refresh() }

// ErrKeyType reports a type of keys that holds interfaces: hashing one panics if the value inside
// is not comparable.
var ErrKeyType = sharded.ErrKeyType

// New returns a limiter that enforces l on every key. Errors: those of [Limit.Validate], for
// WithAlso too, [ErrOption], and [ErrKeyType]; all that apply, joined.
func New[K comparable](l Limit, opts ...Option) (*Limiter[K], error) {
	o, err := gather(opts)
	hasher, keyErr := sharded.NewHasher[K]()
	resolver, resolverErr := resolverOf[K](o)
	if err := errors.Join(l.Validate(), err, keyErr, resolverErr, o.fitsTick(l)); err != nil {
		return nil, err
	}
	m := &Limiter[K]{hasher: *hasher, resolver: resolver, alone: len(o.also) == 0}
	m.init(o)
	m.rule.Store(m.book.learn(l, m.table))
	for i, also := range o.also {
		m.also = append(m.also, alsoRule[K]{rule: m.book.learn(also, m.table)})
		m.also[i].place.index = uint8(i + 1)
	}
	if resolver != nil {
		m.resolved = resolved{sched.NewCounter(), sched.NewCounter()}
	}
	if m.time.coarse != nil {
		runtime.AddCleanup(m, (*ticker).close, m.time.coarse)
	}
	return m, nil
}

// resolverOf returns the resolver in the options, which must be for keys of type K.
func resolverOf[K comparable](o *options) (Resolver[K], error) {
	if o.resolver == nil {
		return nil, nil
	}
	if r, ok := o.resolver.(Resolver[K]); ok {
		return r, nil
	}
	return nil, fmt.Errorf("%w: WithResolver of a %T: its keys are not of the limiter's type %T", ErrOption, o.resolver, *new(K))
}

// Must is [New] for limits and options known to be right: it panics on an error.
func Must[K comparable](l Limit, opts ...Option) *Limiter[K] {
	m, err := New[K](l, opts...)
	if err != nil {
		panic(err)
	}
	return m
}

func (c *core) init(o *options) {
	c.time.init(o)
	c.table = sharded.NewTable(c.time.settled, int64(o.maxKeys))
	c.words = &words{Table: c.table, time: &c.time}
	c.sweepInterval = o.sweepInterval
	c.sweeper = evict.New(c.words, o.sweepInterval)
	c.policy = o.capPolicy
	c.maxWait, c.queue = o.maxWait, o.queue
	c.book.known, c.book.check = sched.NewMapOf[Limit, *rule](), o.fitsTick
	if o.stats {
		c.stats = newCallStats()
	}
}

// eachLogs calls visit for the logs of each place that has some.
func (m *Limiter[K]) eachLogs(visit func(*logs[K])) {
	if g := m.main.logs.Load(); g != nil {
		visit(g)
	}
	for i := range m.also {
		if g := m.also[i].place.logs.Load(); g != nil {
			visit(g)
		}
	}
}

// Len returns the number of keys held: those that do not equal a new one, and those not
// forgotten yet. A key counts once for each limit of [WithAlso] too.
func (m *Limiter[K]) Len() int {
	n := m.table.Len()
	m.eachLogs(func(g *logs[K]) { n += g.Len() })
	return n
}

// Reset makes key equal to a new one, under every limit.
func (m *Limiter[K]) Reset(key K) {
	m.resetAt(&m.main, key)
	for i := range m.also {
		m.resetAt(&m.also[i].place, key)
	}
}

func (m *Limiter[K]) resetAt(p *place[K], key K) {
	k := m.hasher.Key(key).WithIndex(p.index)
	if p.logs.Load() == nil && (m.table.Reset(k) || p.logs.Load() == nil) {
		return
	}
	g := p.logs.Load() // a key that can move is reset under the lock of its moves
	for !m.table.MoveOut(k, m.time.settled(), func(int64, int64) { g.Reset(key) }) {
		m.table.CatchUp(m.time.settled())
	}
	m.table.Forget(k)
}

// Sweep forgets at once every key that equals a new one and returns how many. The background
// sweep does the same a little at a time; call this where time is under control, as in tests.
func (m *Limiter[K]) Sweep() int {
	m.time.refresh()
	n := m.table.Sweep()
	m.eachLogs(func(g *logs[K]) { n += g.Sweep(m.time.settled(), nil) })
	return n
}

// Close ends the background work, the sweep and the coarse clock, and all waiting: whoever is in
// [Limiter.Wait], or calls it later, gets [ErrClosed]. Decisions go on working: the limiter then reads
// the exact clock. Close may be called again and always returns nil. A limiter that is dropped
// without Close leaks nothing.
func (m *Limiter[K]) Close() error {
	m.closed.Store(true)
	m.sleepers.wakeAll()
	m.sweeper.Close()
	m.eachLogs(func(g *logs[K]) { g.sweeper.Close() })
	m.time.stopTicking()
	return nil
}
