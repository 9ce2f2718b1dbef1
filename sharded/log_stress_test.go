package sharded

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// logTogether runs f in n goroutines that start at once and waits for them.
func logTogether(n int, f func(i int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	done.Add(n)
	for i := range n {
		go func() {
			defer done.Done()
			ready.Done()
			<-start
			f(i)
		}()
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// TestLogNewKeyRace: many callers meet a key that nobody has seen, among sweeps;
// exactly its limit is admitted. The cap has room for this one key more, so none
// of them may be told that the table is full.
func TestLogNewKeyRace(t *testing.T) {
	const rounds, goroutines, limit = 1000, 64, 5
	g := newFixedLogs[int](limit, 1<<62)
	for round := range rounds {
		var admitted, full atomic.Int64
		g.SetMaxKeys(round + 1)
		logTogether(goroutines, func(i int) {
			if i%16 == 0 {
				g.Sweep(int64(round), nil)
			}
			if i%16 == 1 && g.Peek(round, 1, int64(round)).Full {
				full.Add(1)
			}
			switch d := g.Take(round, 1, logAt(int64(round))); {
			case d.Full:
				full.Add(1)
			case d.Allowed:
				admitted.Add(1)
			}
		})
		require.EqualValues(t, limit, admitted.Load(), "round %d", round)
		require.Zero(t, full.Load(), "round %d", round)
	}
	assert.Equal(t, rounds, g.Len())
	assert.Equal(t, rounds, g.rings.Size())
}

// TestLogOneInstantRace: many permits in one window, all or nothing.
func TestLogOneInstantRace(t *testing.T) {
	const goroutines, limit = 50, 25
	for _, n := range []int64{1, 2, 5} {
		g := newFixedLogs[string](limit, 1000)
		var admitted atomic.Int64
		logTogether(goroutines, func(i int) {
			for range 20 {
				if g.Take("key", n, logAt(int64(i))).Allowed {
					admitted.Add(n)
				}
			}
		})
		assert.Equal(t, limit/n*n, admitted.Load(), "by %d", n)
	}
}

// TestLogEvictionRace: the shape in which a debit is lost. A key's log expires
// at each tick of a clock that ticks every 64 calls, and is dropped, by two
// sweepers, while others take of it. At even ticks the first callers, which have
// found the log by then, wait until a sweep has passed: they hold a dead log.
//
// Exactly limit permits are admitted at each tick: not more by the law; not
// fewer, since of the 64 calls that read the tick at most one a taker can still
// be under way when the next tick is first charged.
func TestLogEvictionRace(t *testing.T) {
	const takers, ticks, perTick, limit = 8, 600, 64, 5
	g := newFixedLogs[string](limit, 1)
	var calls, admitted, dropped, stopped, swept atomic.Int64
	tickOf := func(call int64) int64 { return max(call-1, 0) / perTick }
	clock := func() int64 {
		call := calls.Add(1)
		tick := tickOf(call)
		for tick%2 == 0 && (call-1)%perTick < takers && swept.Load() < tick {
			runtime.Gosched()
		}
		return tick
	}
	take := func() {
		if g.Take("key", 1, clock).Allowed {
			admitted.Add(1)
		}
	}
	logTogether(takers+2, func(i int) {
		if i >= takers {
			for stopped.Load() < takers {
				tick := tickOf(calls.Load())
				dropped.Add(int64(g.Sweep(tick, nil)))
				swept.Store(tick)
			}
			return
		}
		defer stopped.Add(1)
		for range ticks * perTick / takers {
			take()
		}
	})
	swept.Store(1 << 62)
	for calls.Load()%perTick != 0 { // looking a dead log up again reads the clock again
		take()
	}
	assert.Equal(t, calls.Load()/perTick*limit, admitted.Load())
	assert.Greater(t, dropped.Load(), int64(ticks/3), "the race was not provoked")
	t.Logf("%d drops", dropped.Load())
}

// TestLogEvictionRaceInRounds: a key with a log that has just expired is met by
// takers and a sweeper at once: exactly its limit is admitted in each round.
func TestLogEvictionRaceInRounds(t *testing.T) {
	const rounds, takers, limit, window = 2000, 8, 5, 1000
	g := newFixedLogs[string](limit, window)
	g.SetMaxKeys(1)
	var dropped atomic.Int64
	for round := range int64(rounds) {
		var admitted, stopped atomic.Int64
		logTogether(takers+1, func(i int) {
			if i == takers {
				for stopped.Load() < takers {
					dropped.Add(int64(g.Sweep(round*window, nil)))
				}
				return
			}
			defer stopped.Add(1)
			for range 4 {
				if g.Take("key", 1, logAt(round*window)).Allowed {
					admitted.Add(1)
				}
			}
		})
		require.EqualValues(t, limit, admitted.Load(), "round %d", round)
	}
	assert.Positive(t, dropped.Load(), "the race was not provoked")
	t.Logf("%d drops", dropped.Load())
}

// TestLogCapRace: many new keys at once get exactly as many logs as the cap.
func TestLogCapRace(t *testing.T) {
	const rounds, goroutines, most = 1000, 32, 10
	for range rounds {
		g := newFixedLogs[int](1, 1000)
		g.SetMaxKeys(most)
		var admitted, full atomic.Int64
		logTogether(goroutines, func(i int) {
			switch d := g.Take(i, 1, logAt(0)); {
			case d.Full:
				full.Add(1)
			case d.Allowed:
				admitted.Add(1)
			}
		})
		require.EqualValues(t, most, admitted.Load())
		require.EqualValues(t, goroutines-most, full.Load())
		require.Equal(t, most, g.Len())
		require.Equal(t, most, g.rings.Size())
	}
}

// TestLogResetRace: a log that several drop at once is counted out once.
func TestLogResetRace(t *testing.T) {
	const rounds, goroutines = 2000, 8
	g := newFixedLogs[string](1, 10)
	for round := range int64(rounds) {
		g.Take("key", 1, logAt(round*10))
		logTogether(goroutines, func(i int) {
			if i%4 == 0 {
				g.Sweep(round*10+10, nil)
			} else {
				g.Reset("key")
			}
		})
		require.Zero(t, g.Len(), "round %d", round)
		require.Zero(t, g.rings.Size(), "round %d", round)
	}
}

// TestLogCapHoldsWhileKeysComeAndGo: the count of keys neither drifts nor
// exceeds the cap among resets and sweeps.
func TestLogCapHoldsWhileKeysComeAndGo(t *testing.T) {
	const goroutines, keys, most, rounds = 16, 64, 10, 2000
	g := newFixedLogs[int](1, 1)
	g.SetMaxKeys(most)
	var calls, full, stopped atomic.Int64
	logTogether(goroutines+1, func(i int) {
		if i == goroutines {
			for stopped.Load() < goroutines {
				g.Sweep(calls.Load()/64, nil)
				if n := g.Len(); n > most || n < 0 {
					t.Errorf("%d keys held, cap %d", n, most)
				}
			}
			return
		}
		defer stopped.Add(1)
		for r := range rounds {
			key := (i*7 + r) % keys
			if g.Take(key, 1, func() int64 { return calls.Add(1) / 64 }).Full {
				full.Add(1)
			}
			if r%5 == 0 {
				g.Reset(key)
			}
		}
	})
	assert.Positive(t, full.Load(), "the cap was never met")
	assert.Equal(t, g.rings.Size(), g.Len(), "the count drifted")
	g.Sweep(calls.Load(), nil)
	assert.Zero(t, g.Len())
	assert.Zero(t, g.rings.Size())
}

// TestLogMixedRace lets everything meet everything for the race detector, on
// several keys, with logs that grow: what was admitted is what is charged.
func TestLogMixedRace(t *testing.T) {
	const goroutines, calls = 16, 1000
	g := newFixedLogs[string](goroutines*calls, 1<<40)
	keys := []string{"", "a", "b", "c"}
	admitted := make([]atomic.Int64, len(keys))
	var clock atomic.Int64
	logTogether(goroutines, func(i int) {
		for c := range calls {
			k := (i + c) % len(keys)
			switch {
			case c%50 == 7:
				g.Sweep(clock.Load(), nil)
			case c%50 == 9:
				budget := 3
				g.Sweep(clock.Load(), func() bool { budget--; return budget >= 0 })
			case c%10 == 3:
				g.Peek(keys[k], 5, clock.Load())
			default:
				n := int64(1 + c%2)
				if takeFixedBytes(g, []byte(keys[k]), n, func() int64 { return clock.Add(1) / 3 }).Allowed {
					admitted[k].Add(n)
				}
			}
		}
	})
	for k, key := range keys {
		d := g.Peek(key, 0, clock.Load())
		assert.Equal(t, goroutines*calls-admitted[k].Load(), d.Remaining, "key %q", key)
	}
}
