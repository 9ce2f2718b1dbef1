package sharded

import (
	"math"

	"github.com/penstock-go/penstock/internal/sched"
)

const (
	// logRingMinEntries is the room of a new ring: a key that calls once or
	// twice a window, the common case of a flood of keys, pays 16 bytes.
	logRingMinEntries = 2
	// logRingKeepEntries is the room that a sweep never takes away: half a KiB
	// is not worth an allocation when the key becomes busy again.
	logRingKeepEntries = 64
	// logRingSpare: a sweep shrinks a ring to twice what it holds if at most one
	// in logRingSpare entries is in use. Growth doubles, so a ring that was just
	// grown (half full) is two doublings away from being shrunk.
	logRingSpare = 4
)

// logRing is the log of one key: the permits that may still count, oldest
// first, in a ring that grows as it fills. Permits taken at the same nanosecond
// share an entry, so a call for a million permits writes one entry, and a ring
// never grows beyond the limit that it is under, or what it holds already.
//
//	stamps  [ . . . 30 45 45+ 61 . . ]     nanoseconds, never falling
//	                ^head     ^head+size-1
//	ends    [ . . .  1  2  9  10 . . ]     permits taken up to and with the entry
//
// An entry costs 8 bytes while every entry holds one permit (ends is nil: the
// i-th entry ends at base+i+1), and 16 from the first that holds more. ends
// counts modulo 2^64 from the birth of the ring; only differences of it are
// used, and they are at most an int64: the largest limit or usage carried.
//
// mu guards every field. A ring that is dead has left the table, or is about
// to: it must not be charged, and whoever meets it looks its key up again.
type logRing struct {
	mu          sched.Mutex
	generation  uint64   // which ring of the table, from 1; 0: dead, or not in the table yet
	rule        LogLimit // of the last take, allowed or not
	latestNanos int64    // largest time of any take, allowed or not
	base        uint64   // permits taken before the entry at head
	head        int      // position of the oldest entry
	size        int      // entries in use
	stamps      []int64  // as long as the ring has room
	ends        []uint64 // nil, or as long as stamps
}

// newLogRing returns an empty ring under rule.
func newLogRing(rule LogLimit) *logRing {
	room := min(max(rule.Limit, 1), logRingMinEntries)
	return &logRing{rule: rule, latestNanos: math.MinInt64, stamps: make([]int64, room)}
}

func (r *logRing) dead() bool { return r.generation == 0 }

// position returns where in the ring the i-th oldest entry lies.
func (r *logRing) position(i int) int {
	p := r.head + i
	if p >= len(r.stamps) {
		p -= len(r.stamps)
	}
	return p
}

// stamp returns the time of the i-th oldest entry.
func (r *logRing) stamp(i int) int64 { return r.stamps[r.position(i)] }

// end returns the permits taken up to and with the i-th oldest entry; i = -1
// gives those before the oldest.
func (r *logRing) end(i int) uint64 {
	if i < 0 {
		return r.base
	}
	if r.ends == nil {
		return r.base + uint64(i) + 1
	}
	return r.ends[r.position(i)]
}

// taken returns all permits that were ever taken.
func (r *logRing) taken() uint64 { return r.end(r.size - 1) }

// logAgeNanos returns now - stamp for stamp <= now. Two int64 may be 2^64 - 1
// apart; the wrapped difference of the two as uint64 is the true one, so no
// time is ever added to another and nothing overflows at the ends of the range.
func logAgeNanos(now, stamp int64) uint64 { return uint64(now) - uint64(stamp) }

// logCounts tells whether a permit of the time stamp counts at now: those of a time
// to come, which are reserved, do.
func logCounts(now, stamp int64, window uint64) bool {
	return stamp > now || logAgeNanos(now, stamp) < window
}

// newest returns the time of the newest entry, or of the earliest time there is.
func (r *logRing) newest() int64 {
	if r.size == 0 {
		return math.MinInt64
	}
	return r.stamp(r.size - 1)
}

// firstLive returns the index of the oldest entry that still counts at now, size
// if there is none. O(1) if nothing or everything
// has expired, else O(log size).
func (r *logRing) firstLive(now, windowNanos int64) int {
	window := uint64(windowNanos)
	if r.size == 0 || logCounts(now, r.stamp(0), window) {
		return 0
	}
	expired, live := 0, r.size // live is the first that is, or size
	for expired+1 < live {
		middle := int(uint(expired+live) / 2)
		if logCounts(now, r.stamp(middle), window) {
			live = middle
		} else {
			expired = middle
		}
	}
	return live
}

// firstEnding returns the oldest entry, first or younger, up to which at least
// target permits were taken since the end of the entry before first.
func (r *logRing) firstEnding(first int, target uint64) int {
	begin := r.end(first - 1)
	low, high := first, r.size-1
	for low < high {
		middle := int(uint(low+high) / 2)
		if r.end(middle)-begin >= target {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// used returns the permits of the entries from first on.
func (r *logRing) used(first int) int64 { return int64(r.taken() - r.end(first-1)) }

// judge answers a call for n permits at now (not before latestNanos) and changes
// nothing. first is the oldest entry that counts: what has expired under the window
// that the ring is under until now does not, however long that of rule is. Nothing
// passes before the newest entry, whose time is to come if it is reserved.
func (r *logRing) judge(rule LogLimit, n, now int64) (d LogDecision, first int) {
	reserved := int64(0)
	if newest := r.newest(); newest > now {
		now, reserved = newest, newest-now
	}
	d, first = r.judgeLast(rule, n, now)
	if reserved == 0 {
		return d, first
	}
	d.Remaining = 0
	d.ResetAfterNanos = logLater(d.ResetAfterNanos, reserved)
	if n != 0 && d.RetryAfterNanos != LogNever {
		d.Allowed = false
		d.RetryAfterNanos = logLater(d.RetryAfterNanos, reserved)
	}
	return d, first
}

// logLater adds two waits; a sum beyond the range is the end of it.
func logLater(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// judgeLast is judge at a time not before the newest entry.
func (r *logRing) judgeLast(rule LogLimit, n, now int64) (d LogDecision, first int) {
	first = r.firstLive(now, min(rule.WindowNanos, r.rule.WindowNanos))
	used := r.used(first)
	d.Remaining = max(rule.Limit-used, 0)
	if first < r.size {
		d.ResetAfterNanos = rule.WindowNanos - int64(logAgeNanos(now, r.stamp(r.size-1)))
	}
	if n < 0 || n > rule.Limit {
		d.RetryAfterNanos = LogNever
		return d, first
	}
	mustExpire := used - (rule.Limit - n)
	if n == 0 || mustExpire <= 0 {
		d.Allowed = true
		return d, first
	}
	last := r.stamp(r.firstEnding(first, uint64(mustExpire)))
	d.RetryAfterNanos = rule.WindowNanos - int64(logAgeNanos(now, last))
	return d, first
}

// take answers a call for n permits (from 1 to the limit) and charges them if it
// is allowed. alive is false for a dead ring, which answers nothing.
func (r *logRing) take(rule LogLimit, n, now int64) (d LogDecision, alive bool) {
	r.mu.Lock()
	if r.dead() {
		r.mu.Unlock()
		return d, false
	}
	d = r.takeLocked(rule, n, now)
	r.mu.Unlock()
	return d, true
}

// peek is the answer of take, for any n, and changes nothing.
func (r *logRing) peek(rule LogLimit, n, now int64) (d LogDecision, alive bool) {
	r.mu.Lock()
	if alive = !r.dead(); alive {
		d, _ = r.judge(rule, n, max(now, r.latestNanos))
	}
	r.mu.Unlock()
	return d, alive
}

// takeLocked is take, for any n, for a holder of the lock of a ring that is not
// dead, or for the maker of a ring that nobody else can see yet.
func (r *logRing) takeLocked(rule LogLimit, n, now int64) LogDecision {
	now = r.enter(rule, now)
	d, first := r.judge(rule, n, now)
	if d.Allowed && n > 0 {
		r.expire(first)
		r.push(now, n)
		d.Remaining -= n
		d.ResetAfterNanos = rule.WindowNanos
		d.AtNanos, d.Generation = now, r.generation
	}
	return d
}

// enter makes the ring see now and puts it under rule. What has expired under
// another rule until then is dropped, for under a longer window it would count
// again. It returns the effective time.
func (r *logRing) enter(rule LogLimit, now int64) int64 {
	now = max(now, r.latestNanos)
	r.latestNanos = now
	if rule != r.rule {
		r.expire(r.firstLive(now, r.rule.WindowNanos))
		r.rule = rule
	}
	return now
}

// expire removes the entries before first.
func (r *logRing) expire(first int) {
	r.base = r.end(first - 1)
	r.head = r.position(first)
	r.size -= first
	if r.size == 0 {
		r.head = 0
	}
}

// push adds n permits at now, which is not before the newest entry.
func (r *logRing) push(now, n int64) {
	merge := r.size > 0 && r.stamp(r.size-1) == now
	if !merge && r.size == len(r.stamps) {
		r.resize(growLogRing(len(r.stamps), r.rule.Limit))
	}
	if (merge || n > 1) && r.ends == nil {
		r.ends = r.allEnds(len(r.stamps))
	}
	end := r.taken() + uint64(n)
	if !merge {
		r.size++
	}
	p := r.position(r.size - 1)
	r.stamps[p] = now
	if r.ends != nil {
		r.ends[p] = end
	}
}

// growLogRing returns the room of a full ring after it has grown: twice as much,
// but no more than the limit, which is all that takes can need; one more if what
// the ring carries is beyond the limit already.
func growLogRing(entries int, limit int64) int {
	return max(int(min(2*int64(entries), limit)), entries+1)
}

// allEnds returns the ends of all entries, at their positions in the ring.
func (r *logRing) allEnds(entries int) []uint64 {
	ends := make([]uint64, entries)
	for i := range r.size {
		ends[r.position(i)] = r.end(i)
	}
	return ends
}

// resize moves the entries, which must fit, to a ring of another room.
func (r *logRing) resize(entries int) {
	stamps := make([]int64, entries)
	for i := range r.size {
		stamps[i] = r.stamp(i)
	}
	var ends []uint64
	if r.ends != nil && r.taken()-r.base != uint64(r.size) {
		ends = make([]uint64, entries)
		for i := range r.size {
			ends[i] = r.end(i)
		}
	}
	r.stamps, r.ends, r.head = stamps, ends, 0
}

// idle tells whether the ring equals a new one for every call from now on, also
// for one under a longer window, which would find nothing left. A ring that has
// seen a later time than now is not judged: its key would meet time moving back
// if it were forgotten.
func (r *logRing) idle(now int64) bool {
	return now >= r.latestNanos && r.firstLive(now, r.rule.WindowNanos) == r.size
}

// trim gives back memory that the ring does not use at the time that it has
// seen itself. It changes no answer.
func (r *logRing) trim() {
	first := r.firstLive(r.latestNanos, r.rule.WindowNanos)
	live := r.size - first
	if len(r.stamps) <= logRingKeepEntries || live > len(r.stamps)/logRingSpare {
		return
	}
	r.expire(first)
	r.resize(max(2*live, logRingKeepEntries/2))
}
