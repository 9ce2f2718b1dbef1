package sharded

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/stretchr/testify/require"
)

// The stress tests run for PENSTOCK_STRESS (a duration, 2s by default, shared among them) and
// fail if they did not provoke the conflicts that they are about.

const hotKeys = 6

func stressTime(t *testing.T, share time.Duration) time.Duration {
	t.Helper()
	total := 2 * time.Second
	if s := os.Getenv("PENSTOCK_STRESS"); s != "" {
		d, err := time.ParseDuration(s)
		require.NoError(t, err, "PENSTOCK_STRESS must be a duration such as 60s")
		total = d
	}
	return total / share
}

// arena is a table under attack: fillers force splits and drops, a sweeper rebuilds and merges.
type arena struct {
	t        *testing.T
	table    *Table
	now      atomic.Int64
	hasher   *Hasher[int]
	filler   uint32
	retries  atomic.Uint64 // failed compare-and-swaps on hot keys
	cameBack atomic.Uint64 // inserts of hot keys that had no slot
	stop     atomic.Bool
	wg       sync.WaitGroup
}

func newArena(t *testing.T) *arena {
	t.Helper()
	a := &arena{t: t}
	a.table = NewTable(a.now.Load, 0)
	var steps atomic.Uint64
	a.table.pause = func() { // lets takers meet frozen words
		if steps.Add(1)%16 == 0 {
			runtime.Gosched()
		}
	}
	a.filler = a.table.Register(newBucket(t, 1, 50, 1))
	h, err := NewHasher[int]()
	require.NoError(t, err)
	a.hasher = h
	return a
}

// take charges n permits of a hot key and returns the time of the charge.
func (a *arena) take(key int, limit uint32, n int64) (ok bool, at int64) {
	k := a.hasher.Key(key)
	for {
		word, value := a.table.Find(k, limit)
		if value == atomicstate.Moved {
			word, value = a.table.Follow(k, limit)
		}
		now := a.table.clock()
		switch {
		case now >= a.table.SweepDue():
			a.table.CatchUp(now)
		case value == atomicstate.Moved: // again
		case !atomicstate.IsLive(value):
			_, _, known := a.table.Lookup(k)
			if outcome, _, at := a.table.Insert(k, limit, now, n, nil); outcome != Retry && outcome != Leapt {
				if !known {
					a.cameBack.Add(1)
				}
				return outcome == Charged, at
			}
		default:
			runtime.Gosched() // widen the window between the load and the swap
			now = a.table.clock()
			next, ok := a.table.law(limit).Take(value, now, n)
			if !ok {
				return false, now
			}
			if word.CompareAndSwap(value, next) {
				return true, now
			}
			a.retries.Add(1)
		}
	}
}

// disturb starts the background: one goroutine that inserts and resets filler keys, one that
// sweeps without end.
func (a *arena) disturb(seed uint64) {
	a.stop.Store(false)
	a.wg.Go(func() {
		rnd := rand.New(rand.NewPCG(seed, 1))
		for i := 0; !a.stop.Load(); i++ {
			k := a.hasher.Key(1000 + rnd.IntN(20000))
			charge(a.table, k, a.filler, 1)
			if i%3 == 0 {
				a.table.Reset(a.hasher.Key(1000 + rnd.IntN(20000)))
			}
		}
	})
	a.wg.Go(func() {
		for !a.stop.Load() {
			a.table.Sweep()
		}
	})
}

func (a *arena) calm() {
	a.stop.Store(true)
	a.wg.Wait()
}

// provoked fails the test if the conflicts it is about were too few, in proportion to its time.
func (a *arena) provoked(lasted time.Duration) {
	c := a.table.Counters()
	back := a.cameBack.Load() - hotKeys
	a.t.Logf("%d failed swaps, %d words followed, %d waits for MOVED, %d stale leaves, %d hot keys back after a drop, %d drops, %d splits, "+
		"%d merges, %d doublings, %d conversions", a.retries.Load(), c.Follows, c.Awaits, c.StaleLeaves, back, c.Drops,
		c.Splits, c.Merges, c.Doublings, c.Conversions)
	least := uint64(10 * lasted.Seconds())
	require.GreaterOrEqual(a.t, a.retries.Load(), least, "too few failed swaps: the test was idle")
	require.GreaterOrEqual(a.t, c.Follows+c.Awaits, least/5, "too few MOVED words were met: the test was idle")
	require.GreaterOrEqual(a.t, back, least/10, "too few hot keys came back after a drop: the test was idle")
	require.Positive(a.t, c.Splits)
	require.Positive(a.t, c.Merges)
	checkInvariants(a.t, a.table)
}

// TestStressConservation: time stands still in a round, so each hot key admits exactly its
// burst, whatever takers, refunds, splits, sweeps and limit changes do meanwhile.
func TestStressConservation(t *testing.T) {
	for _, takers := range []int{1, 2, 8} {
		t.Run(fmt.Sprint("takers=", takers), func(t *testing.T) {
			a := newArena(t)
			const burst = 300
			limit := a.table.Register(newBucket(t, 3, 1000, burst))
			other := a.table.Register(newBucket(t, 7, 10000, 120))
			lasts := stressTime(t, 6)
			start := time.Now()
			for round := uint64(0); round < 3 || time.Since(start) < lasts; round++ {
				a.now.Add(10_000_000) // everything is as new
				a.table.Sweep()       // and comes back after having been dropped
				a.disturb(round)
				a.round(takers, round, burst, limit, other)
				a.calm()
			}
			require.Positive(t, a.table.Counters().Conversions)
			a.provoked(lasts)
		})
	}
}

// round runs takers until the hot keys are empty and compares the sum.
func (a *arena) round(takers int, seed uint64, burst int64, limit, other uint32) {
	var kept [hotKeys]atomic.Int64
	var wg sync.WaitGroup
	for w := range takers + 1 {
		refunder := w == takers // one more who takes and gives back, so that a lone taker meets conflicts
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(w)))
			for range 4*int(burst)/takers + 50 {
				a.attempt(&kept, rnd, refunder, limit, other)
			}
		})
	}
	wg.Wait()
	for key := range hotKeys {
		for ok := true; ok; {
			if ok, _ = a.take(key, limit, 1); ok {
				kept[key].Add(1)
			}
		}
		require.Equal(a.t, burst, kept[key].Load(), "hot key %d", key)
	}
}

// attempt takes a permit of a random hot key, at times under another limit, and gives some
// back. What a refund cannot give back, because the limit changed in between, stays counted.
func (a *arena) attempt(kept *[hotKeys]atomic.Int64, rnd *rand.Rand, refunder bool, limit, other uint32) {
	key, under := rnd.IntN(hotKeys), limit
	if key >= hotKeys/2 && rnd.IntN(4) == 0 {
		under = other
	}
	ok, at := a.take(key, under, 1)
	if !ok {
		return
	}
	kept[key].Add(1)
	if (refunder || rnd.IntN(8) == 0) && a.table.Refund(a.hasher.Key(key), under, atomicstate.Act{At: at, N: 1}, 1, a.table.Epoch()) {
		kept[key].Add(-1)
	}
}

// TestStressBound: the clock runs and leaps; what every hot key admitted obeys the bound in
// every interval, and keys are dropped and come back all the while.
func TestStressBound(t *testing.T) {
	for _, takers := range []int{1, 2, 8} {
		t.Run(fmt.Sprint("takers=", takers), func(t *testing.T) {
			a := newArena(t)
			limit := a.table.Register(newBucket(t, 2, 7, 20))
			lasts := stressTime(t, 6)
			start := time.Now()
			for round := uint64(0); round < 3 || time.Since(start) < lasts; round++ {
				a.now.Add(1000)
				a.disturb(round)
				a.wg.Go(func() { a.tick(round) })
				admitted := a.record(takers, round, limit)
				a.calm()
				for key := range hotKeys {
					require.NoError(t, oracle.Bound(2, 7, 20, admitted[key]), "hot key %d", key)
				}
			}
			a.provoked(lasts)
		})
	}
}

// tick moves the clock, at times far enough for every key to be as new.
func (a *arena) tick(seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 99))
	for !a.stop.Load() {
		d := rnd.Int64N(4)
		if rnd.IntN(12) == 0 {
			d = 200
		}
		a.now.Add(d)
		for range rnd.IntN(20) {
			runtime.Gosched()
		}
	}
}

// record lets takers take, and give some back, and returns what was kept, by key.
func (a *arena) record(takers int, seed uint64, limit uint32) [hotKeys][]oracle.Admission {
	var mu sync.Mutex
	var all [hotKeys][]oracle.Admission
	var wg sync.WaitGroup
	for w := range takers + 1 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(w)))
			var mine [hotKeys][]oracle.Admission
			for range 3000 {
				key, n := rnd.IntN(hotKeys), 1+rnd.Int64N(3)
				ok, at := a.take(key, limit, n)
				switch {
				case !ok:
				case rnd.IntN(4) == 0: // as if it had not been: later takes may use what came back
					a.table.Refund(a.hasher.Key(key), limit, atomicstate.Act{At: at, N: n}, n, a.table.Epoch())
				default:
					mine[key] = append(mine[key], oracle.Admission{At: at, N: n})
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for key := range hotKeys {
				all[key] = append(all[key], mine[key]...)
			}
		})
	}
	wg.Wait()
	return all
}
