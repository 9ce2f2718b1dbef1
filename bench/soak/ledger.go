package main

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// ledger is an account for each key of what one limit has admitted, kept apart from the limiter and
// by other means: plain sums under locks. In every interval the limit must have admitted at most
//
//	burst + length * rate
//
// The ledger does not know at which instant a call was decided, only that it was between earliest
// and the time at which it is entered here. It enters all at the latter. If none of those that a
// busy time of the key counts was entered more than slack after its earliest, then in the ledger's
// times an interval may hold what is admitted in one that is longer by slack: so
//
//	owed <= burst + slack * rate,    owed = max(0, owed - gap * rate) + permits
//
// holds for a limiter that keeps the law, and one that admits more is found as soon as it is more
// by slack * rate, which is a small part of a token where calls are short: such checks are counted as
// sharp. All is in whole units of 1/perToken of a token, where the rate is perNano units a nanosecond.
type ledger struct {
	clock             *clock
	burst             uint64 // units
	perToken, perNano uint64
	stripes           [64]sync.Mutex // of the accounts of every 64th key
	accounts          []account
	checks, sharp     atomic.Uint64
	worst             [64]ratio // of each stripe
	broken            atomic.Pointer[string]
	violations        atomic.Uint64
}

// account is one key's.
type account struct {
	owed    uint64 // units, at the time at
	at      int64
	slack   int64 // ns: the largest since owed was last 0
	permits int64 // of all calls
}

// ratio is the largest part of its bound that a key has owed.
type ratio struct{ owed, bound uint64 }

// newLedger returns the accounts of keys under a limit that is never above rate and burst.
func newLedger(c *clock, r engine.Rate, burst int64, keys int) *ledger {
	a, b := uint64(r.Tokens), uint64(r.Per)
	for b != 0 {
		a, b = b, a%b
	}
	l := &ledger{clock: c, perToken: uint64(r.Per) / a, perNano: uint64(r.Tokens) / a, accounts: make([]account, keys)}
	l.burst = uint64(burst) * l.perToken
	return l
}

// enter counts permits that acted, not before earliest.
func (l *ledger) enter(key int, permits, earliest int64) {
	stripe := key % len(l.stripes)
	mu := &l.stripes[stripe]
	mu.Lock()
	defer mu.Unlock()
	a := &l.accounts[key]
	now := l.clock.latest.Load() // under the lock: the entries of a key are in order of time
	if earned := times(uint64(now-a.at), l.perNano); a.owed > earned {
		a.owed -= earned
	} else {
		a.owed, a.slack = 0, 0
	}
	a.at, a.permits = now, a.permits+permits
	a.slack = max(a.slack, now-earliest)
	a.owed += uint64(permits) * l.perToken
	l.check(stripe, key, a)
}

// check holds an account to its bound.
func (l *ledger) check(stripe, key int, a *account) {
	l.checks.Add(1)
	slack := times(uint64(a.slack), l.perNano)
	if slack < l.perToken {
		l.sharp.Add(1)
	}
	bound, carry := bits.Add64(l.burst, slack, 0)
	if carry != 0 {
		return // no bound that could be broken
	}
	if w := &l.worst[stripe]; w.bound == 0 || less(*w, ratio{a.owed, bound}) {
		*w = ratio{a.owed, bound}
	}
	if a.owed > bound {
		l.violations.Add(1)
		text := fmt.Sprintf("key %d owes %d units where %d are lawful (1 token is %d), at %v, of calls known to %v",
			key, a.owed, bound, l.perToken, time.Duration(a.at), time.Duration(a.slack))
		l.broken.CompareAndSwap(nil, &text)
	}
}

// times is x*y, or the largest number if that does not fit.
func times(x, y uint64) uint64 {
	if high, low := bits.Mul64(x, y); high == 0 {
		return low
	}
	return 1<<64 - 1
}

// less compares two ratios exactly.
func less(a, b ratio) bool {
	aHigh, aLow := bits.Mul64(a.owed, b.bound)
	bHigh, bLow := bits.Mul64(b.owed, a.bound)
	return aHigh < bHigh || aHigh == bHigh && aLow < bLow
}

// worstRatio returns the largest part of its bound that any key has owed so far.
func (l *ledger) worstRatio() float64 {
	var worst ratio
	for i := range l.worst {
		l.stripes[i].Lock()
		if w := l.worst[i]; w.bound != 0 && (worst.bound == 0 || less(worst, w)) {
			worst = w
		}
		l.stripes[i].Unlock()
	}
	if worst.bound == 0 {
		return 0
	}
	return float64(worst.owed) / float64(worst.bound)
}

// permits returns what was admitted to all keys.
func (l *ledger) permits() (total int64) {
	for key := range l.accounts {
		mu := &l.stripes[key%len(l.stripes)]
		mu.Lock()
		total += l.accounts[key].permits
		mu.Unlock()
	}
	return total
}
