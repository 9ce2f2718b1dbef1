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
	"sync/atomic"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/evict"
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
// does not allocate. If another call was first it loads the word and reads the clock again;
// while the leaf of its key is rebuilt it waits for that. A new key locks one of the table's
// leaves. Memory: 12 KiB, or some 42 bytes a key, whatever the keys' length; a key that equals a
// new one is forgotten. A [SlidingLog] costs more: a lock for each key, and memory for each
// admission.
//
// A Limiter counts what one process admits while it runs: it is not for a limit that several
// processes share or that must outlive a restart. It answers; it does not wait for permits.
//
// Make one with [New] or [Must]; the zero value is not usable and a Limiter must not be copied.
//
// All methods are safe for concurrent use. In the terms of the Go memory model, a write to a key
// synchronizes before every read of it that observes the write, whatever growth and sweeps come
// between. [Limiter.Allow], [Limiter.AllowN], [AllowBytes], [Limiter.Take] and [Limiter.TakeAt]
// read the key, and write it when they take permits; [Limiter.Peek] and [Limiter.PeekAt] read
// it; [Limiter.Reset] writes it. A denied call is a read. [Limiter.Len] and [Limiter.Stats] are
// counts that order nothing; what a sweep forgets equals new, so [Limiter.Sweep] writes no key.
type Limiter[K comparable] struct {
	core
	hasher sharded.Hasher[K]
	logs   *logs[K] // for sliding logs, which need memory per event; else nil
}

// core is what does not depend on the type of the keys.
type core struct {
	rule    atomic.Pointer[rule]
	table   *sharded.Table
	words   *words     // held here so that it lives as long as the limiter: the sweeper holds it weakly
	stats   *callStats // nil unless asked for
	sweeper *evict.Sweeper[words, *words]
	policy  CapPolicy
	capped  capCounters
	time    timeline
}

// words is the table as the background sweep sees it.
type words struct {
	*sharded.Table
	time *timeline
}

// SweepStep sweeps one leaf at the present time.
func (w *words) SweepStep() (done bool) {
	w.time.refresh()
	return w.Table.SweepStep()
}

// verdict tells whether a rule needs to look at the key.
type verdict uint8

const (
	byLaw verdict = iota
	always
	never
)

// rule is a limit made ready. It is immutable.
type rule struct {
	bucket  atomicstate.Bucket // the law, if other is nil: in place, so that Take is inlined
	other   atomicstate.Law    // the law, if it is not a bucket
	law     atomicstate.Law    // the law, whatever it is; nil unless verdict is byLaw
	number  uint32             // of the law in the table
	verdict verdict
	limit   Limit
}

// New returns a limiter that enforces l on every key. Errors: those of [Limit.Validate],
// [ErrOption], and sharded.ErrKeyType for a K that holds interfaces; all that apply, joined.
func New[K comparable](l Limit, opts ...Option) (*Limiter[K], error) {
	o, err := gather(opts)
	if err := errors.Join(l.Validate(), err); err != nil {
		return nil, err
	}
	hasher, err := sharded.NewHasher[K]()
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	m := &Limiter[K]{hasher: *hasher}
	m.init(o)
	m.rule.Store(m.compile(l))
	if l.algorithm == slidingLog {
		m.logs = newLogs[K](l, o, &m.time)
	}
	if m.time.coarse != nil {
		runtime.AddCleanup(m, (*ticker).close, m.time.coarse)
	}
	return m, nil
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
	c.sweeper = evict.New(c.words, o.sweepInterval)
	c.policy = o.capPolicy
	if o.stats {
		c.stats = newCallStats()
	}
}

// compile makes a valid limit ready for this limiter's table.
func (c *core) compile(l Limit) *rule {
	r := &rule{limit: l}
	switch l.algorithm {
	case unlimited:
		r.verdict = always
	case blocked:
		r.verdict = never
	case slidingLog:
	default:
		r.law = l.law()
		r.number = c.table.Register(r.law)
		switch law := r.law.(type) {
		case *atomicstate.Bucket:
			r.bucket = *law
		case *atomicstate.LeakyQueue:
			r.bucket = law.Bucket
		default:
			r.other = law
		}
	}
	return r
}

// Len returns the number of keys held: those that do not equal a new one, and those not
// forgotten yet.
func (m *Limiter[K]) Len() int {
	if m.logs != nil {
		return m.logs.Len()
	}
	return m.table.Len()
}

// Reset makes key equal to a new one.
func (m *Limiter[K]) Reset(key K) {
	if m.logs != nil {
		m.logs.Reset(key)
		return
	}
	m.table.Reset(m.hasher.Key(key))
}

// Sweep forgets at once every key that equals a new one and returns how many. The background
// sweep does the same a little at a time; call this where time is under control, as in tests.
func (m *Limiter[K]) Sweep() int {
	m.time.refresh()
	if m.logs != nil {
		return m.logs.Sweep(m.time.settled(), nil)
	}
	return m.table.Sweep()
}

// Close ends the background work: the sweep and the coarse clock. Decisions go on working: the
// limiter then reads the exact clock. Close may be called again and always returns nil. A
// limiter that is dropped without Close leaks nothing.
func (m *Limiter[K]) Close() error {
	m.sweeper.Close()
	if m.logs != nil {
		m.logs.sweeper.Close()
	}
	m.time.stopTicking()
	return nil
}
