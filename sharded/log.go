package sharded

import (
	"math"
	"strings"
	"unsafe"

	"github.com/penstock-go/penstock/internal/sched"
)

// LogNever is the RetryAfterNanos of a call that can never pass.
const LogNever int64 = -1

// LogLimit is what a sliding window log enforces: at most Limit permits in any
// half-open interval of WindowNanos. A permit taken at s stops counting at
// s + WindowNanos. A limit below 0 counts as 0 (every take is denied for ever),
// a window below 1 ns as 1 ns.
type LogLimit struct {
	Limit       int64 // permits in a window, 0 or more
	WindowNanos int64 // length of the window, 1 or more
}

// least raises what is below its least.
func (l LogLimit) least() LogLimit {
	return LogLimit{Limit: max(l.Limit, 0), WindowNanos: max(l.WindowNanos, 1)}
}

// charges tells whether a take of n permits can ever change anything.
func (l LogLimit) charges(n int64) bool { return n > 0 && n <= l.Limit }

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
	// AtNanos is the effective time at which the permits were charged, 0 if none
	// were. Times may be 0 as well; Generation tells.
	AtNanos int64
	// Generation is the number of the log that the permits were charged to, from 1
	// and never given twice; 0 if none were. With AtNanos it is what [Logs.Refund]
	// asks for.
	Generation uint64
}

// Logs is a table of sliding window logs, one a key: exact, at the price of
// memory for each call that counts.
//
// Cost: a take finds its key without a lock and holds the key's own lock for
// O(log entries); keys never wait for each other, except that the first take of
// a new key locks one bucket of the table. No allocation for a key whose log has
// room. Memory: 150 to 200 bytes for a key of 8 bytes, and 8 to 16 bytes for an
// entry (see logRing). A key has at most as many entries as the largest limit
// that it is under while they count; their room is doubled as it fills and given
// back by Sweep.
//
// Limits: each call says which limit its key is under, and a log remembers the
// last one that a take gave it. A take under another one first drops what has
// expired under the remembered one by then, and nothing else; from then on the
// log is under the new one. Entries keep their times, so a shorter window lets
// them expire sooner and a longer one later, and they count even beyond a
// smaller limit: Remaining is then 0, and RetryAfterNanos as true as ever. So a
// change of limits forgives nothing, and one forth and back mints nothing.
//
// Time: the effective time of a take is the largest of the caller's, that of
// any earlier take of the key, and for a key without a log that of any Sweep or
// Evacuate that dropped one. So time never moves back for a key, not even one that was
// forgotten in between. Any int64 is a valid time, also next to the ends of the
// range: times are only subtracted, as unsigned numbers.
//
// A denied take writes nothing but the time that it saw and the limit that it
// came under; of a key without a log it leaves no trace.
//
// All methods may be called concurrently. Each is atomic for its key, and takes
// of one key happen one after the other: what an earlier one wrote, a later one
// sees. A key that does not equal itself (NaN) is a new key at every call and is
// never stored. A Logs must not be copied; make it with NewLogs.
type Logs[K comparable] struct {
	rings   *sched.MapOf[K, *logRing]
	keys    sched.Int64  // rings that are not dead, and places reserved for new ones
	maxKeys sched.Int64  // 0: no cap
	births  sched.Uint64 // rings that ever were in the table: the generation of the next is one more
	// floorNanos is the latest time at which a ring was swept or evacuated. It is
	// raised before the ring is marked dead, so whoever misses the ring sees it.
	floorNanos sched.Int64
	cursor     sched.Int64 // rings at the front that the next sweep skips
}

// NewLogs returns an empty table.
func NewLogs[K comparable]() *Logs[K] {
	g := &Logs[K]{rings: sched.NewMapOf[K, *logRing]()}
	g.floorNanos.Store(math.MinInt64)
	return g
}

// SetMaxKeys sets how many keys may have a log; n < 1 means any number. There
// are never more, except those that a lower cap finds, since it drops nobody,
// and those that move in with usage ([Logs.Settle]).
func (g *Logs[K]) SetMaxKeys(n int) { g.maxKeys.Store(int64(max(n, 0))) }

// Len returns how many keys have a log; those whose entries have all expired
// count until a sweep drops them.
func (g *Logs[K]) Len() int { return int(g.keys.Load()) }

// Has tells whether key has a log.
func (g *Logs[K]) Has(key K) bool {
	r, found := g.rings.Load(key)
	if !found {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.dead()
}

// Take asks for n permits of key under limit, all or nothing, and charges them if
// it is allowed. n < 0 is denied and n == 0 allowed; both, and n above the limit,
// change nothing.
//
// now is the clock, in nanoseconds. It is called under no lock, once the key's
// log was found, and again if that log turns out to be dropped. That the clock
// is read before the lock is taken costs no exactness: under the lock an older
// time is raised to the latest one that the log has seen, so times are charged
// in order and each lies within its own call.
func (g *Logs[K]) Take(key K, limit LogLimit, n int64, now func() int64) LogDecision {
	return g.take(key, limit.least(), n, now, nil)
}

// TakeExisting is Take for a key that has a log. For one that has none it is
// false: the call was not decided, nothing was charged and the clock not read.
func (g *Logs[K]) TakeExisting(key K, limit LogLimit, n int64, now func() int64) (LogDecision, bool) {
	return g.takeExisting(key, limit.least(), n, now, nil)
}

// TakeLogBytes is Take for a key given as bytes: it makes a string only when
// the key needs a new log. key is not kept and must not change during the call.
func TakeLogBytes(g *Logs[string], key []byte, limit LogLimit, n int64, now func() int64) LogDecision {
	// Same as: g.Take(string(key), limit, n, now), without a copy of a key that
	// has a log. Safety: the string is used for look-ups only; what may be stored
	// is its clone.
	return g.take(unsafe.String(unsafe.SliceData(key), len(key)), limit.least(), n, now, strings.Clone)
}

// TakeExistingLogBytes is [Logs.TakeExisting] for a key given as bytes, of which
// it makes a string only when it meets a log that is being dropped.
func TakeExistingLogBytes(g *Logs[string], key []byte, limit LogLimit, n int64, now func() int64) (LogDecision, bool) {
	// Safety: the string is used for look-ups only; what may be stored is its clone.
	return g.takeExisting(unsafe.String(unsafe.SliceData(key), len(key)), limit.least(), n, now, strings.Clone)
}

// take is Take; own makes the copy of key that may be stored, nil if key itself
// may be.
func (g *Logs[K]) take(key K, limit LogLimit, n int64, now func() int64, own func(K) K) LogDecision {
	for {
		if d, found := g.takeExisting(key, limit, n, now, own); found {
			return d
		}
		if !limit.charges(n) {
			return g.peek(key, limit, n, now(), own)
		}
		if d, done := g.takeNew(key, limit, 0, n, now(), own); done {
			return d
		}
		// Somebody else was first.
	}
}

// takeExisting is TakeExisting; own is as for take.
func (g *Logs[K]) takeExisting(key K, limit LogLimit, n int64, now func() int64, own func(K) K) (d LogDecision, found bool) {
	for {
		r, found := g.rings.Load(key)
		if !found {
			return LogDecision{}, false
		}
		t := now()
		var alive bool
		if limit.charges(n) {
			d, alive = r.take(limit, n, t)
		} else {
			d, alive = r.peek(limit, n, t)
		}
		if alive {
			return d, true
		}
		g.unlink(key, r, own)
	}
}

// Peek is the answer that Take would give at time now; it changes nothing, not
// even the time that the key has seen or the limit that it is under.
func (g *Logs[K]) Peek(key K, limit LogLimit, n, now int64) LogDecision {
	return g.peek(key, limit.least(), n, now, nil)
}

// peek is Peek; own is as for take.
func (g *Logs[K]) peek(key K, limit LogLimit, n, now int64, own func(K) K) LogDecision {
	for {
		r, found := g.rings.Load(key)
		if !found {
			if d, done := g.peekNew(key, limit, n, now); done {
				return d
			}
			continue
		}
		if d, alive := r.peek(limit, n, now); alive {
			return d
		}
		g.unlink(key, r, own)
	}
}

// Reset forgets what key has used, and the times and the limit that it has seen.
func (g *Logs[K]) Reset(key K) {
	r, found := g.rings.Load(key)
	if !found {
		return
	}
	r.mu.Lock()
	if !r.dead() {
		g.kill(r)
	}
	r.mu.Unlock()
	g.unlink(key, r, nil)
}

// full tells whether a new key may get no log.
func (g *Logs[K]) full() bool {
	most := g.maxKeys.Load()
	return most > 0 && g.keys.Load() >= most
}
