package sharded

import (
	"math"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/puzpuzpuz/xsync/v3"
)

// LogNever is the RetryAfterNanos of a call that can never pass.
const LogNever int64 = -1

// LogLimit is what a sliding window log enforces: at most Limit permits in any
// half-open interval of WindowNanos. A permit taken at s stops counting at
// s + WindowNanos.
type LogLimit struct {
	Limit       int64 // permits in a window, 0 or more
	WindowNanos int64 // length of the window, 1 or more
}

// LogDecision is the answer to one call. Remaining and ResetAfterNanos describe
// the key after it, so after a Peek they are what they were before.
type LogDecision struct {
	// Allowed reports whether the permits were taken, or would be.
	Allowed bool
	// Full: the key has no log and may get none, because the table is at its cap
	// of keys. The call was not decided and nothing was charged; all other fields
	// are zero. The caller's policy answers.
	Full bool
	// Remaining is how many permits could be taken at once now.
	Remaining int64
	// RetryAfterNanos is 0 for an allowed call, LogNever for one that can never
	// pass, else the smallest wait (>= 1) after which it passes if nobody else
	// takes of the key.
	RetryAfterNanos int64
	// ResetAfterNanos is the time until the key equals a new one, 0 if it does.
	ResetAfterNanos int64
}

// Logs is a table of sliding window logs, one a key: exact, at the price of
// memory for each call that counts.
//
// Cost: a take finds its key without a lock and holds the key's own lock for
// O(log entries); keys never wait for each other, except that the first take of
// a new key locks one bucket of the table. No allocation for a key whose log has
// room. Memory: 150 to 200 bytes for a key of 8 bytes, and 8 to 16 bytes for an
// entry (see logRing). A key has at most Limit entries; their room is doubled as
// it fills and given back by Sweep.
//
// Time: the effective time of a take is the largest of the caller's, that of
// any earlier take of the key, and for a key without a log that of any Sweep
// that dropped one. So time never moves back for a key, not even one that was
// forgotten in between. Any int64 is a valid time, also next to the ends of the
// range: times are only subtracted, as unsigned numbers.
//
// A denied take writes nothing but the time that it saw; of a key without a log
// it leaves no trace.
//
// All methods may be called concurrently. Each is atomic for its key, and takes
// of one key happen one after the other: what an earlier one wrote, a later one
// sees. A key that does not equal itself (NaN) is a new key at every call and is
// never stored. A Logs must not be copied; make it with NewLogs.
type Logs[K comparable] struct {
	rule    LogLimit
	rings   *xsync.MapOf[K, *logRing]
	keys    atomic.Int64 // rings that are not dead, and places reserved for new ones
	maxKeys atomic.Int64 // 0: no cap
	// floorNanos is the latest time at which a sweep dropped a ring. It is raised
	// before the ring is marked dead, so whoever misses the ring sees it.
	floorNanos atomic.Int64
	cursor     atomic.Int64 // rings at the front that the next sweep skips
}

// NewLogs returns an empty table for limit permits in any windowNanos. A limit
// below 0 counts as 0 (every take is denied for ever), a window below 1 ns as
// 1 ns.
func NewLogs[K comparable](limit, windowNanos int64) *Logs[K] {
	g := &Logs[K]{
		rule:  LogLimit{Limit: max(limit, 0), WindowNanos: max(windowNanos, 1)},
		rings: xsync.NewMapOf[K, *logRing](),
	}
	g.floorNanos.Store(math.MinInt64)
	return g
}

// Limit returns the limit in force.
func (g *Logs[K]) Limit() LogLimit { return g.rule }

// SetMaxKeys sets how many keys may have a log; n < 1 means any number. There
// are never more, except those that a lower cap finds: it drops nobody.
func (g *Logs[K]) SetMaxKeys(n int) { g.maxKeys.Store(int64(max(n, 0))) }

// Len returns how many keys have a log; those whose entries have all expired
// count until a sweep drops them.
func (g *Logs[K]) Len() int { return int(g.keys.Load()) }

// Take asks for n permits of key, all or nothing, and charges them if it is
// allowed. n < 0 is denied and n == 0 allowed; both, and n above the limit,
// change nothing.
//
// now is the clock, in nanoseconds. It is called under no lock, once the key's
// log was found, and again if that log turns out to be dropped. That the clock
// is read before the lock is taken costs no exactness: under the lock an older
// time is raised to the latest one that the log has seen, so times are charged
// in order and each lies within its own call.
func (g *Logs[K]) Take(key K, n int64, now func() int64) LogDecision {
	return g.take(key, n, now, nil)
}

// TakeLogBytes is Take for a key given as bytes: it makes a string only when
// the key needs a new log. key is not kept and must not change during the call.
func TakeLogBytes(g *Logs[string], key []byte, n int64, now func() int64) LogDecision {
	// Same as: g.Take(string(key), n, now), without a copy of a key that has a
	// log. Safety: the string is used for look-ups only; what is stored is its
	// clone.
	return g.take(unsafe.String(unsafe.SliceData(key), len(key)), n, now, strings.Clone)
}

// take is Take; own makes the copy of key that may be stored, nil if key itself
// may be.
func (g *Logs[K]) take(key K, n int64, now func() int64, own func(K) K) LogDecision {
	if n < 1 || n > g.rule.Limit {
		return g.Peek(key, n, now())
	}
	for {
		r, found := g.rings.Load(key)
		t := now()
		if !found {
			if d, done := g.takeNew(key, n, t, own); done {
				return d
			}
			continue // somebody else was first
		}
		if d, alive := r.take(g.rule, n, t); alive {
			return d
		}
		g.unlink(key, r)
	}
}

// Peek is the answer that Take would give at time now; it changes nothing, not
// even the time that the key has seen.
func (g *Logs[K]) Peek(key K, n, now int64) LogDecision {
	for {
		r, found := g.rings.Load(key)
		if !found {
			if d, done := g.peekNew(key, n, now); done {
				return d
			}
			continue
		}
		r.mu.Lock()
		if !r.dead {
			d, _ := r.judge(g.rule, n, max(now, r.latestNanos))
			r.mu.Unlock()
			return d
		}
		r.mu.Unlock()
		g.unlink(key, r)
	}
}

// Reset forgets what key has used and the times that it has seen.
func (g *Logs[K]) Reset(key K) {
	r, found := g.rings.Load(key)
	if !found {
		return
	}
	r.mu.Lock()
	if !r.dead {
		g.kill(r)
	}
	r.mu.Unlock()
	g.unlink(key, r)
}

// Used reports whether a key has a log or had one that a sweep dropped: then the times of
// earlier takes still count.
func (g *Logs[K]) Used() bool { return g.keys.Load() > 0 || g.floorNanos.Load() != math.MinInt64 }

// full tells whether a new key may get no log.
func (g *Logs[K]) full() bool {
	most := g.maxKeys.Load()
	return most > 0 && g.keys.Load() >= most
}
