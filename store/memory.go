package store

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/engine"
)

// Memory is a [Storage] in the memory of one process: the reference that others are compared with,
// and a stand-in for them in tests. It is an [Applier] as well, which [WithoutApply] hides. All that
// it does is done under one lock. It forgets what has expired bit by bit, as it writes.
type Memory struct {
	tick  time.Duration
	clock engine.Clock

	mu    sync.Mutex
	words map[string]kept
}

var _ Applier = (*Memory)(nil)

// kept is a word and the tick at which it expires, 0 if never.
type kept struct {
	word    uint64
	expires int64
}

// expireAtOnce is how many words a write looks at to find expired ones.
const expireAtOnce = 4

// NewMemory returns an empty storage whose clock is c read at a resolution of tick, 1 ns to 1 s; c
// tells the time since 1970-01-01 UTC, and if it steps back so does the storage's time. nil is the
// wall clock, from which it then goes on monotonically.
func NewMemory(tick time.Duration, c engine.Clock) *Memory {
	if c == nil {
		c = wallClock{time.Now()}
	}
	return &Memory{tick: tick, clock: c, words: map[string]kept{}}
}

// wallClock counts on from an origin.
type wallClock struct{ origin time.Time }

// Now returns the time since 1970-01-01 UTC.
func (c wallClock) Now() time.Duration {
	return time.Duration(c.origin.UnixNano()) + time.Since(c.origin)
}

// Info describes the storage.
func (m *Memory) Info() Info { return Info{Name: "memory", Tick: m.tick, SharedClock: true} }

// Get returns the word of key, 0 if there is none.
func (m *Memory) Get(ctx context.Context, key string) (Reading, error) {
	if err := ctx.Err(); err != nil {
		return Reading{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read(key), nil
}

// CompareAndSwap writes next if the word is old.
func (m *Memory) CompareAndSwap(ctx context.Context, key string, old, next uint64, ttl time.Duration) (Reading, bool, error) {
	if err := ctx.Err(); err != nil {
		return Reading{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.read(key)
	if at.Word != old {
		return at, false, nil
	}
	m.write(key, next, at.Now, ttl)
	return at, true, nil
}

// Put writes word, 0 to remove the key.
func (m *Memory) Put(ctx context.Context, key string, word uint64, ttl time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.write(key, word, m.now(), ttl)
	return nil
}

// Accepts accepts every law.
func (m *Memory) Accepts(*Law) error { return nil }

// Apply decides all ops under the lock.
func (m *Memory) Apply(ctx context.Context, ops []Op, results []Result) {
	err := ctx.Err()
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, op := range ops {
		if results[i] = (Result{Err: err}); err == nil {
			results[i] = m.apply(op)
		}
	}
}

func (m *Memory) apply(op Op) Result {
	at := m.read(op.Key)
	word, dirty := op.Law.Settle(at.Word, at.Now)
	r := Result{Now: at.Now}
	if atomicstate.IsLive(word) {
		r.Before = op.Law.State(word, at.Now)
	}
	next, taken := op.Law.Take(word, at.Now, op.Min, op.Max)
	if r.Taken = taken; taken > 0 || dirty {
		m.write(op.Key, next, at.Now, op.Law.Life(next, at.Now))
	}
	return r
}

// Len returns the number of words held, expired ones among them that no write has met yet.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.words)
}

// Close does nothing.
func (m *Memory) Close() error { return nil }

// now returns the time in ticks, rounded down.
func (m *Memory) now() int64 {
	now := int64(m.clock.Now())
	ticks := now / int64(m.tick)
	if now < ticks*int64(m.tick) {
		ticks--
	}
	return ticks
}

// read is called with mu held.
func (m *Memory) read(key string) Reading {
	now := m.now()
	k, ok := m.words[key]
	if ok && k.expires != 0 && k.expires <= now {
		delete(m.words, key)
		return Reading{Now: now}
	}
	return Reading{k.word, now}
}

// write is called with mu held.
func (m *Memory) write(key string, word uint64, now int64, ttl time.Duration) {
	m.expire(now)
	if word == 0 {
		delete(m.words, key)
		return
	}
	k := kept{word: word}
	if ttl > Forever {
		ticks := int64((ttl-1)/m.tick + 1) // rounded up
		if k.expires = now + ticks; k.expires < now {
			k.expires = math.MaxInt64
		}
	}
	m.words[key] = k
}

// expire looks at a few words and drops those that have expired.
func (m *Memory) expire(now int64) {
	looked := 0
	for key, k := range m.words {
		if k.expires != 0 && k.expires <= now {
			delete(m.words, key)
		}
		if looked++; looked == expireAtOnce {
			return
		}
	}
}
