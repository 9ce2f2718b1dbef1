package main

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// lane is a limiter under load, with the ledgers that its limits are held to.
type lane struct {
	name    string
	limits  string // for people
	limiter *engine.Limiter[uint64]
	take    take // how permits are taken
	clock   *clock
	ledgers []*ledger
	passed  atomic.Int64 // see instant
	maxKeys int          // 0: no cap
	floods  bool         // of new keys
	waits   bool         // reservations and waits, too
	cycle   []engine.Limit
	calls   atomic.Uint64
	allowed atomic.Uint64
}

// take takes n permits of a key; the receipt is nil if they were denied.
type take func(l *engine.Limiter[uint64], key uint64, n int64) (engine.Decision, *engine.Receipt[uint64])

// honest is the limiter as it is.
func honest(l *engine.Limiter[uint64], key uint64, n int64) (engine.Decision, *engine.Receipt[uint64]) {
	return l.TakeReceipt(key, n)
}

const (
	// cappedKeys is the cap on keys of the lane that floods of new keys hit.
	cappedKeys = 20_000
	// longestWait bounds reservations and waits: what a ledger knows of their time.
	longestWait = 50 * time.Millisecond
)

// newLanes makes the limiters, each for keys 0 .. keys-1 and, in a flood, others.
func newLanes(c *clock, keys int, how take) []*lane {
	bucket := func(r engine.Rate, burst int64) (engine.Limit, *ledger) {
		return engine.TokenBucket(r, burst), newLedger(c, r, burst, keys)
	}
	slow, slowLedger := bucket(engine.PerSecond(20), 50)
	fast, fastLedger := bucket(engine.PerSecond(1_000_000), 10_000)
	capped, cappedLedger := bucket(engine.PerSecond(10), 20)
	changing, changingLedger := bucket(engine.PerSecond(20), 50)
	second, secondLedger := bucket(engine.PerSecond(50), 100)
	minute, minuteLedger := bucket(engine.PerMinute(600), 60)
	waiting, waitingLedger := bucket(engine.PerSecond(10), 20)
	lanes := []*lane{
		newLane("calls", c, slow, []*ledger{slowLedger}),
		newLane("fast", c, fast, []*ledger{fastLedger}),
		newLane("capped", c, capped, []*ledger{cappedLedger}, engine.WithMaxKeys(cappedKeys, engine.CapDeny)),
		newLane("changing", c, changing, []*ledger{changingLedger}),
		newLane("several", c, second, []*ledger{secondLedger, minuteLedger}, engine.WithAlso(minute)),
		newLane("waiting", c, waiting, []*ledger{waitingLedger}, engine.WithMaxWait(longestWait)),
	}
	lanes[2].maxKeys, lanes[2].floods = cappedKeys, true
	lanes[3].cycle = []engine.Limit{
		engine.TokenBucket(engine.PerSecond(10), 25), engine.GCRA(engine.PerSecond(20), 10),
		engine.TokenBucket(engine.PerSecond(5), 50), changing,
	}
	lanes[4].limits += " and " + minute.String()
	lanes[5].waits = true
	for _, l := range lanes {
		l.take = how
	}
	return lanes
}

func newLane(name string, c *clock, limit engine.Limit, ledgers []*ledger, opts ...engine.Option) *lane {
	opts = append(opts, engine.WithClock(c), engine.WithSweepInterval(time.Second))
	l := &lane{name: name, limits: limit.String(), limiter: engine.Must[uint64](limit, opts...), clock: c, ledgers: ledgers}
	l.passed.Store(math.MinInt64 / 2) // half, so that differences fit
	return l
}

// enter counts permits of a key that acted, not before earliest.
func (l *lane) enter(key uint64, permits, earliest int64) {
	for _, g := range l.ledgers {
		g.enter(int(key), permits, earliest)
	}
}

// violations returns what has gone wrong, nil if nothing.
func (l *lane) violations() (found []string) {
	for i, g := range l.ledgers {
		if text := g.broken.Load(); text != nil {
			found = append(found, l.name+": limit "+string(rune('1'+i))+": "+*text)
		}
	}
	return found
}
