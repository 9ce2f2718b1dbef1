package engine

import (
	"math"
	"sync"
	"time"

	"github.com/penstock-go/penstock/internal/sched"
)

// readClock in place of a time given by the caller means: read the limiter's clock.
const readClock int64 = math.MinInt64

// clockKind says where the limiter's time comes from.
type clockKind = uint32

const (
	// clockMonotonic: the process's monotonic clock.
	clockMonotonic clockKind = iota
	// clockCoarse: the latest tick of a background goroutine.
	clockCoarse
	// clockUser: the user's clock, held monotonic.
	clockUser
	// clockGiven: times are given by TakeAt; a call without one reads the monotonic clock,
	// held at or after every time given.
	clockGiven
)

// cacheLineBytes keeps a word that many processors write apart from what they only read. It
// is the line of x86-64 and of most arm64; where lines are longer only speed is lost.
const cacheLineBytes = 64

// timeline is a limiter's time, in nanoseconds since an origin of its own: any int64 up to
// lastNanos. It must not be copied once in use.
type timeline struct {
	kind   sched.Uint32 // a clockKind; changes at most twice, to clockGiven or back to clockMonotonic
	origin time.Time
	user   Clock
	coarse *ticker

	_      [cacheLineBytes]byte // latest is written by calls that see time progress, the fields above hardly ever
	latest sched.Int64          // latest time seen, for clockUser and clockGiven
	_      [cacheLineBytes - 8]byte
}

func (t *timeline) init(o *options) {
	t.origin = time.Now()
	t.latest.Store(math.MinInt64)
	switch {
	case o.clock != nil:
		t.user = o.clock
		t.kind.Store(clockUser)
	case o.coarse:
		t.coarse = newTicker(t.origin, o.tick)
		t.kind.Store(clockCoarse)
	}
}

// exact returns the monotonic time.
func (t *timeline) exact() int64 { return int64(sched.Since(t.origin)) }

// now returns the time of a decision: what the caller gave, or the clock's reading. It does
// not move back.
func (t *timeline) now(given int64) int64 {
	if t.isMonotonic(given) {
		return t.exact()
	}
	return t.nowSlow(given)
}

// sure is now, but never behind the exact clock.
func (t *timeline) sure(given int64) int64 {
	now := t.now(given)
	if t.mayLag(given) {
		now = max(now, t.exact())
	}
	return now
}

// isMonotonic reports whether now is a plain reading of the monotonic clock.
func (t *timeline) isMonotonic(given int64) bool {
	return given == readClock && t.kind.Load() == clockMonotonic
}

func (t *timeline) nowSlow(given int64) int64 {
	if given != readClock {
		return t.advance(given)
	}
	switch t.kind.Load() {
	case clockCoarse:
		return t.coarse.now.Load()
	case clockUser:
		return t.advance(int64(t.user.Now()))
	default:
		return t.advance(t.exact())
	}
}

// give switches to times given by callers, from here on never behind one of them, and
// returns now, moved off the value that means readClock. used tells whether the limiter has
// decided on its own clock before. Calls that have read that clock and not yet published are not waited
// for: what they charge may be later than settled by as much as they were stopped.
func (t *timeline) give(now time.Duration, used bool) int64 {
	for k := t.kind.Load(); k == clockMonotonic || k == clockCoarse; k = t.kind.Load() { // until it is not: Close changes it too
		if used {
			t.advance(t.exact())
		}
		t.kind.CompareAndSwap(k, clockGiven)
	}
	return max(int64(now), readClock+1)
}

// maxTickShare: a coarse clock may lag by this share of a limit's horizon at most. A word
// charged on the exact clock meanwhile must be readable on coarse time.
const maxTickShare = 16

// lastNanos is the end of time: one below the largest integer, which stands for a sweep that
// is never due.
const lastNanos = math.MaxInt64 - 1

// advance moves the latest time to now, if that is later, and returns it.
func (t *timeline) advance(now int64) int64 {
	now = min(now, lastNanos)
	for {
		latest := t.latest.Load()
		if now <= latest {
			return latest
		}
		if t.latest.CompareAndSwap(latest, now) {
			return now
		}
	}
}

// settled returns a time at or after the stamps of all charges published, without calling the
// user's code: the table asks for it under its locks.
func (t *timeline) settled() int64 {
	switch t.kind.Load() {
	case clockUser:
		return t.latest.Load()
	case clockGiven:
		if latest := t.latest.Load(); latest != math.MinInt64 {
			return latest
		}
	}
	return t.exact() // while the first time is being given, nothing has been charged at a given time yet
}

// stopTicking ends the coarse clock, if there is one; from then on the exact one is read.
func (t *timeline) stopTicking() {
	if t.coarse != nil {
		t.kind.CompareAndSwap(clockCoarse, clockMonotonic)
		t.coarse.close()
	}
}

// refresh reads a user's clock, so that settled is up to date though no call was made for a
// while. It must not be called under a lock of the table, nor where a decision would wait for
// it: the background sweep calls it under the sweeper's own lock, for which no decision on a
// known key waits.
func (t *timeline) refresh() {
	if t.kind.Load() == clockUser {
		t.advance(int64(t.user.Now()))
	}
}

// mayLag reports whether a reading may lag behind the exact clock. It goes by how the limiter
// was made: the kind of the clock may have changed since the reading.
func (t *timeline) mayLag(given int64) bool { return given == readClock && t.coarse != nil }

// ticker writes the time since an origin into now, every tick, until it is stopped.
type ticker struct {
	_    [cacheLineBytes]byte
	now  sched.Int64
	_    [cacheLineBytes - 8]byte
	stop chan struct{}
	once sync.Once
}

func newTicker(origin time.Time, tick time.Duration) *ticker {
	t := &ticker{stop: make(chan struct{})}
	t.now.Store(int64(time.Since(origin)))
	go t.run(origin, tick)
	return t
}

func (t *ticker) run(origin time.Time, tick time.Duration) {
	beat := time.NewTicker(tick)
	defer beat.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-beat.C:
			t.now.Store(int64(time.Since(origin)))
		}
	}
}

func (t *ticker) close() { t.once.Do(func() { close(t.stop) }) }
