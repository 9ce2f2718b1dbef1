package sharded

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// movingKey is a key of which the limit changes between a log and something that
// is no more than a count of permits, as a caller moves it: the count is read and
// written, and the log made and evacuated, under one lock.
type movingKey struct {
	g   *Logs[string]
	key string

	mu    sync.Mutex
	count int64

	// How often: a take missed the log, a log died between the moment it was found
	// and the charge, and somebody else had made one before the lock was held.
	missed, died, late, moves atomic.Int64
}

// takeLog takes of the log, and makes it of the count if there is none.
func (k *movingKey) takeLog(limit LogLimit, n, now int64, wait func()) LogDecision {
	looked := 0
	d, found := k.g.TakeExisting(k.key, limit, n, func() int64 {
		looked++
		wait()
		return now
	})
	if !found {
		looked++
	}
	if looked > 1 {
		k.died.Add(1)
	}
	if found {
		return d
	}
	k.missed.Add(1)
	runtime.Gosched()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.g.Has(k.key) {
		k.late.Add(1)
	}
	used := k.count
	k.count = 0
	return k.g.Settle(k.key, limit, used, n, now)
}

// takeCount takes of the count, to which the log adds what it has.
func (k *movingKey) takeCount(limit, n, now int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if used, had := k.g.Evacuate(k.key, now); had {
		k.count += used
		k.moves.Add(1)
	}
	if k.count+n > limit {
		return false
	}
	k.count += n
	return true
}

// TestLogMovesConservePermits: a key moves from a log to a count and back among
// takes under several limits, refunds and sweeps. In the end it has used exactly
// what was admitted and not given back.
func TestLogMovesConservePermits(t *testing.T) {
	const goroutines, calls = 12, 1500
	limits := []LogLimit{{2000, 1 << 40}, {40, 1 << 50}, {1000, 1 << 45}}
	k := &movingKey{g: NewLogs[string](), key: "key"}
	k.g.SetMaxKeys(1)
	var admitted, refunded, refused atomic.Int64
	logTogether(goroutines, func(i int) {
		for c := range calls {
			now, n := int64(c), int64(1+c%3)
			switch {
			case (i+c)%17 == 0:
				k.g.Sweep(now, nil)
			case (i*7+c)%5 == 0:
				if k.takeCount(2000, n, now) {
					admitted.Add(n)
				}
			default:
				d := k.takeLog(limits[(i+c)%3], n, now, runtime.Gosched)
				if d.Full {
					t.Error("full")
				}
				if !d.Allowed {
					continue
				}
				admitted.Add(n)
				if c%2 == 0 {
					runtime.Gosched()
				}
				if k.g.Refund(k.key, d.Generation, d.AtNanos, n, now) {
					admitted.Add(-n)
					refunded.Add(1)
				} else {
					refused.Add(1)
				}
			}
		}
	})
	used, _ := k.g.Evacuate(k.key, calls)
	assert.Equal(t, admitted.Load(), used+k.count)
	assert.LessOrEqual(t, admitted.Load(), int64(2000))
	assert.Zero(t, k.g.Len())
	assert.Zero(t, k.g.rings.Size())
	assert.Greater(t, k.moves.Load(), int64(100))
	assert.Greater(t, k.missed.Load(), int64(100))
	assert.Positive(t, k.died.Load(), "no log died under a take")
	assert.Positive(t, refunded.Load())
	assert.Positive(t, refused.Load(), "no refund met another log")
	t.Logf("%d moves, %d takes missed, %d logs died under a take, %d late; %d refunds, %d refused",
		k.moves.Load(), k.missed.Load(), k.died.Load(), k.late.Load(), refunded.Load(), refused.Load())
}

// TestLogMovesInRounds: the log or the count of a key has just expired, and
// takers of both and a sweeper meet it at once. Exactly its
// limit is admitted in each round.
func TestLogMovesInRounds(t *testing.T) {
	const rounds, goroutines, window = 1500, 8, 1000
	limit := LogLimit{Limit: 5, WindowNanos: window}
	k := &movingKey{g: NewLogs[string](), key: "key"}
	dropped := 0
	for round := range int64(rounds) {
		var admitted, stopped, swept atomic.Int64
		k.count = 0
		now := round * window
		wait := func() { // in half of the rounds for a sweep, with a log in hand
			for round%2 == 0 && swept.Load() == 0 {
				runtime.Gosched()
			}
		}
		logTogether(goroutines+1, func(i int) {
			if i == goroutines {
				for stopped.Load() < goroutines {
					dropped += k.g.Sweep(now, nil)
					swept.Add(1)
				}
				return
			}
			defer stopped.Add(1)
			for c := range 4 {
				if (i+c)%2 == 0 {
					if k.takeLog(limit, 1, now, wait).Allowed {
						admitted.Add(1)
					}
					continue
				}
				if wait(); k.takeCount(limit.Limit, 1, now) {
					admitted.Add(1)
				}
			}
		})
		require.Equal(t, limit.Limit, admitted.Load(), "round %d", round)
	}
	assert.Positive(t, dropped, "no sweep dropped a log")
	assert.Positive(t, k.late.Load()+k.died.Load(), "nobody was late for a log")
	t.Logf("%d dropped, %d moves, %d logs died under a take, %d late", dropped, k.moves.Load(), k.died.Load(), k.late.Load())
}

// TestLogResetAndRefundRace: refunds of charges before a reset never eat those
// after it: what is left is what was charged to the last log and not given back.
func TestLogResetAndRefundRace(t *testing.T) {
	const rounds, goroutines = 1500, 8
	limit := LogLimit{Limit: 1 << 20, WindowNanos: 1 << 40}
	g := NewLogs[string]()
	stale := 0
	for round := range rounds {
		var mu sync.Mutex
		kept := map[uint64]int64{} // by generation
		logTogether(goroutines, func(i int) {
			if i == 0 && round%4 != 0 {
				g.Reset("key")
				return
			}
			d := g.Take("key", limit, 2, logAt(0))
			if i%2 == 0 {
				runtime.Gosched()
			}
			given := g.Refund("key", d.Generation, 0, 1, 0)
			mu.Lock()
			defer mu.Unlock()
			if kept[d.Generation] += 2; given {
				kept[d.Generation]--
			} else {
				stale++
			}
		})
		r, found := g.rings.Load("key")
		want := int64(0)
		if found {
			want = kept[r.generation]
		}
		used, had := g.Evacuate("key", 0)
		require.Equal(t, found, had)
		require.Equal(t, want, used, "round %d", round)
	}
	assert.Positive(t, stale, "no refund came after a reset")
	t.Logf("%d refunds came after a reset", stale)
}

// TestLogLimitsFlipRace: takers under three limits at once share one usage.
func TestLogLimitsFlipRace(t *testing.T) {
	const goroutines, rounds = 16, 300
	limits := []LogLimit{{30, 1000}, {20, 500}, {25, 2000}}
	g := NewLogs[int]()
	var flips atomic.Int64
	for round := range rounds {
		var admitted atomic.Int64
		logTogether(goroutines, func(i int) {
			for c := range 6 {
				limit := limits[(i+c)%3]
				if r, found := g.rings.Load(round); found {
					r.mu.Lock()
					if r.rule != limit {
						flips.Add(1)
					}
					r.mu.Unlock()
				}
				if g.Take(round, limit, 1, logAt(int64(i%4))).Allowed {
					admitted.Add(1)
				}
			}
		})
		require.EqualValues(t, 30, admitted.Load(), "as many as the largest limit lets pass")
	}
	assert.Greater(t, flips.Load(), int64(1000))
	t.Logf("%d takes under another limit", flips.Load())
}
