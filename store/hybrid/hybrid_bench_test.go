package hybrid_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
)

// benchLimit never refuses within a run, and its leases are as large as a benchmark's loop asks for.
func benchLimit() engine.Limit {
	return engine.TokenBucket(engine.PerSecond(1_000_000_000), 1_000_000_000)
}

// denyLimit refuses all but the first call.
func denyLimit() engine.Limit { return engine.TokenBucket(engine.PerHour(1), 1) }

// BenchmarkTake sets a decision from a lease beside one of the in-process engine, as it is and behind
// the interface that the hybrid has too (store.Local), in one run: all admitted, all denied, on one key
// and on many, on as many goroutines as -cpu says. calls/op is the share of calls that reach the store.
func BenchmarkTake(b *testing.B) {
	for _, keys := range []int{1, 1000} {
		for name, limit := range map[string]engine.Limit{"allow": benchLimit(), "deny": denyLimit()} {
			row := fmt.Sprintf("answer=%s/keys=%d/limiter=", name, keys)
			b.Run(row+"engine", func(b *testing.B) {
				l := engine.Must[string](limit)
				defer l.Close()
				takeRow(b, limit, keys, func(key string, n int64) { l.Take(key, n) })
			})
			b.Run(row+"local", func(b *testing.B) {
				inner := engine.Must[string](limit)
				defer inner.Close()
				takeRow(b, limit, keys, taker(b, store.NewLocal(inner)))
			})
			b.Run(row+"hybrid", func(b *testing.B) {
				l := benchHybrid(b, limit)
				takeRow(b, limit, keys, taker(b, l))
				s := l.Stats()
				b.ReportMetric(float64(s.Calls)/float64(b.N), "calls/op")
			})
		}
	}
}

func benchHybrid(b *testing.B, limit engine.Limit) *hybrid.Limiter {
	b.Helper()
	backend, err := store.NewBackend(store.NewMemory(time.Microsecond, nil), patient)
	if err != nil {
		b.Fatal(err)
	}
	shared, err := backend.Limiter("bench", limit, store.WithPolicy(store.Closed))
	if err != nil {
		b.Fatal(err)
	}
	l, err := hybrid.New(shared)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}

func taker(b *testing.B, l store.Limiter) func(string, int64) {
	b.Helper()
	ctx := b.Context()
	return func(key string, n int64) {
		if _, err := l.Take(ctx, key, n); err != nil {
			panic(err)
		}
	}
}

// takeRow measures one row.
func takeRow(b *testing.B, limit engine.Limit, count int, take func(key string, n int64)) {
	b.Helper()
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("client-%016d", i)
		take(keys[i], limit.Capacity()/2)
		for range 20 {
			take(keys[i], 1)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			take(keys[i%count], 1)
		}
	})
}

// BenchmarkRatio makes calls of the engine and of the hybrid in turns, some thousands each, so that both
// meet the same machine at the same time, and reports the quickest turn of each and their ratio. Of
// decisions that say what is left (Take), and of the engine's plain yes or no (Allow).
func BenchmarkRatio(b *testing.B) {
	const calls, turns = 5_000, 200
	for name, limit := range map[string]engine.Limit{"allow": benchLimit(), "deny": denyLimit()} {
		b.Run("answer="+name, func(b *testing.B) {
			inner, ctx := engine.Must[string](limit), b.Context()
			defer inner.Close()
			fast := benchHybrid(b, limit)
			best := [3]time.Duration{1 << 60, 1 << 60, 1 << 60}
			ways := [3]func(){
				func() { inner.Take("client", 1) },
				func() { inner.Allow("client") },
				func() { _, _ = fast.Take(ctx, "client", 1) },
			}
			inner.Take("client", limit.Capacity()/2)
			for range b.N {
				for turn := range turns * len(ways) {
					began := time.Now()
					for range calls {
						ways[turn%len(ways)]()
					}
					best[turn%len(ways)] = min(best[turn%len(ways)], time.Since(began))
				}
			}
			nanos := func(i int) float64 { return float64(best[i]) / calls }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(nanos(0), "engine-take-ns")
			b.ReportMetric(nanos(1), "engine-allow-ns")
			b.ReportMetric(nanos(2), "hybrid-take-ns")
			b.ReportMetric(nanos(2)/nanos(0), "ratio")
		})
	}
}
