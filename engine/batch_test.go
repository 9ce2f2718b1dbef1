package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/sharded"
)

// batchOptions are the ways in which a limiter decides, by one word or otherwise.
func batchOptions() map[string][]engine.Option {
	return map[string][]engine.Option{
		"plain":  nil,
		"clock":  {engine.WithClock(enginetest.NewClock())},
		"coarse": {engine.WithCoarseClock(time.Millisecond)},
		"stats":  {engine.WithStats()},
		"also":   {engine.WithAlso(engine.FixedWindow(1000, 1000*time.Hour))},
		"capped": {engine.WithMaxKeys(3, engine.CapDeny)},
		"tiers":  {engine.WithResolver(engine.NewTiers(func(int) string { return "tier" }))},
	}
}

// TestABatchIsItsCalls: keys of which some stand there more than once, in batches of every length, are
// allowed as by calls one after the other, under every algorithm.
func TestABatchIsItsCalls(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for kind, options := range batchOptions() {
		for name, limit := range everyAlgorithm(3) {
			batch, one := engine.Must[int](limit, options...), engine.Must[int](limit, options...)
			for length := range 100 {
				keys := make([]int, length)
				for i := range keys {
					keys[i] = rnd.IntN(40)
				}
				out := make([]bool, length+1)
				out[length] = true
				want := 0
				allowed := batch.AllowAll(keys, out)
				for i, key := range keys {
					ok := one.Allow(key)
					require.Equal(t, ok, out[i], "%s, %s: %d of %d", kind, name, i, length)
					if ok {
						want++
					}
				}
				require.Equal(t, want, allowed)
				require.True(t, out[length], "what is beyond is not touched")
			}
			require.Equal(t, one.Len(), batch.Len())
			want, got := one.Stats(), batch.Stats()
			want.Table, got.Table = sharded.Counters{}, sharded.Counters{} // sweeps come on the process's clock
			require.Equal(t, want, got)
			require.NoError(t, batch.Close())
			require.NoError(t, one.Close())
		}
	}
	for _, out := range [][]bool{nil, make([]bool, 1), make([]bool, 1, 8)} {
		require.PanicsWithValue(t, fmt.Sprintf("engine: AllowAll: out is %d long, and there are 2 keys: make it as long", len(out)),
			func() { engine.Must[int](everyAlgorithm(1)["gcra"]).AllowAll(make([]int, 2), out) })
	}
}

// TestBatchesShareABurst: what concurrent batches and calls admit of the same keys is the burst, exactly.
func TestBatchesShareABurst(t *testing.T) {
	const burst, keys, callers = 300, 50, 8
	for name, limit := range everyAlgorithm(burst) {
		m := engine.Must[int](limit)
		admitted := make([][keys]int, callers)
		atOnce(callers, func(caller int) {
			rnd := rand.New(rand.NewPCG(7, uint64(caller)))
			batch, out := make([]int, 64), make([]bool, 64)
			for range 2 * burst * keys / callers / len(batch) {
				for i := range batch {
					batch[i] = rnd.IntN(keys)
				}
				m.AllowAll(batch, out)
				for i, key := range batch {
					if out[i] {
						admitted[caller][key]++
					}
				}
			}
		})
		for key := range keys {
			total := 0
			for caller := range admitted {
				total += admitted[caller][key]
			}
			for m.Allow(key) {
				total++
			}
			require.Equal(t, burst, total, name)
		}
	}
}

// TestABatchIsDueInTime: a permit that is earned while the batch is decided is not refused, and time that
// passes between two batches counts.
func TestABatchIsDueInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := engine.Must[string](engine.TokenBucket(engine.PerSecond(1), 2))
		out := make([]bool, 3)
		require.Equal(t, 2, m.AllowAll([]string{"a", "a", "a"}, out))
		require.Equal(t, []bool{true, true, false}, out)
		time.Sleep(time.Second - 1)
		require.Zero(t, m.AllowAll([]string{"a"}, out))
		time.Sleep(time.Nanosecond)
		require.Equal(t, 1, m.AllowAll([]string{"a", "a"}, out))
	})
}

// TestABatchDoesNotAllocate for keys that are known.
func TestABatchDoesNotAllocate(t *testing.T) {
	m := engine.Must[string](engine.TokenBucket(engine.PerSecond(1_000_000), 1000))
	keys, out := []string{"a", "b", "c", "d"}, make([]bool, 4)
	m.AllowAll(keys, out)
	require.Zero(t, testing.AllocsPerRun(1000, func() { m.AllowAll(keys, out) }))
}
