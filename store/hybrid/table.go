package hybrid

import (
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v3"
)

// table is the keys that are kept in mind. It is what the sweeper sees of the limiter.
type table struct {
	limiter *Limiter
	entries *xsync.MapOf[string, *entry]
	count   atomic.Int64 // of entries, and of those about to be made
}

func newTable(l *Limiter) *table {
	return &table{limiter: l, entries: xsync.NewMapOf[string, *entry]()}
}

// of returns the entry of a key, made if there is none; nil if there is no room.
func (t *table) of(key string) *entry {
	if e, ok := t.entries.Load(key); ok {
		return e
	}
	if t.count.Add(1) > t.limiter.maxKeys {
		t.count.Add(-1)
		return nil
	}
	now := t.limiter.time.now()
	e, found := t.entries.LoadOrCompute(key, func() *entry {
		e := &entry{key: key, touched: now, demand: demand{at: now}, stock: t.limiter.capacity, stockAt: now}
		e.nextAsk.Store(now)
		return e
	})
	if found {
		t.count.Add(-1)
	}
	t.limiter.sweeper.Kick()
	return e
}

// keptIdle is how long a key is kept in mind after the last call that needed more than its lease, in
// nanoseconds: then nothing is known of its demand any more.
const keptIdle = int64(maxLife)

// forget drops the keys of which nothing is held, refused or under way, and that were idle for
// keptIdle. It returns how many.
func (t *table) forget() (dropped int) {
	l := t.limiter
	t.entries.Range(func(key string, e *entry) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		now := l.time.now()
		l.settle(e, now)
		r := e.refusal.Load()
		if e.current.Load() != nil || e.flight != nil || r != nil && now < r.until || now-e.touched < keptIdle {
			return true
		}
		t.remove(key, e)
		dropped++
		return true
	})
	return dropped
}

// remove takes an entry out of the table, once. The caller holds e.mu.
func (t *table) remove(key string, e *entry) {
	if !e.dead {
		e.dead = true
		t.entries.Delete(key)
		t.count.Add(-1)
	}
}

// clear drops everything.
func (t *table) clear() {
	l := t.limiter
	t.entries.Range(func(key string, e *entry) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		l.drop(e)
		t.remove(key, e)
		return true
	})
}

// SweepStep is part of evict.Table.
func (t *table) SweepStep() (done bool) {
	t.forget()
	return true
}

// Refresh is part of evict.Table.
func (t *table) Refresh() {}

// Horizon is part of evict.Table: what is kept in mind can always be read.
func (t *table) Horizon() int64 { return 1 << 62 }

// Len is part of evict.Table.
func (t *table) Len() int { return int(t.count.Load()) }

// Sweep forgets at once the keys that nothing has to be kept of and returns how many. A background
// sweep does the same; call this where time is under control, as in tests.
func (l *Limiter) Sweep() int { return l.table.forget() }

// Len returns the number of keys kept in mind.
func (l *Limiter) Len() int { return l.table.Len() }
