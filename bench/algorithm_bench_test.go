package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/benchtest"
	"github.com/penstock-go/penstock/engine"
)

// algorithms with limits that never refuse within a run and that no key is forgotten under. The
// counts of a sliding window hold 2^26 permits, so its window is short enough to end in time.
func algorithms() map[string]engine.Limit {
	rate := engine.PerSecond(1_000)
	return map[string]engine.Limit{
		"token_bucket":   engine.TokenBucket(rate, 1_000_000_000_000),
		"gcra":           engine.GCRA(rate, 1_000_000_000_000),
		"leaky_bucket":   engine.LeakyBucket(rate, 1_000_000_000_000),
		"leaky_queue":    engine.LeakyQueue(rate, 1_000_000_000_000),
		"fixed_window":   engine.FixedWindow(1_000_000_000_000, 24*time.Hour),
		"sliding_window": engine.SlidingWindow(1<<26-1, 5*time.Second),
	}
}

// BenchmarkAlgorithm: the same load under every algorithm of one word, by Allow and by Take, and
// with a resolver that knows the limit.
func BenchmarkAlgorithm(b *testing.B) {
	for _, count := range keyCounts() {
		for _, name := range []string{"token_bucket", "gcra", "leaky_bucket", "leaky_queue", "fixed_window", "sliding_window"} {
			limit := algorithms()[name]
			algorithmRow(b, name, "allow", count, limit, false)
			algorithmRow(b, name, "take", count, limit, true)
			resolver := engine.ResolverFunc[string](func(string) (engine.Limit, bool) { return limit, true })
			algorithmRow(b, name, "resolved", count, engine.Blocked(), false, engine.WithResolver[string](resolver))
		}
	}
}

func algorithmRow(b *testing.B, algorithm, call string, count int, limit engine.Limit, take bool, opts ...engine.Option) {
	subject := bench.Subject{Name: "penstock", Clock: "exact", New: func(int, bench.Load) bench.Limiter {
		return &anyLimit{limiter: engine.Must[string](limit, opts...), charge: algorithms()[algorithm].Capacity() / 2, take: take}
	}}
	name := fmt.Sprintf("limiter=penstock/algorithm=%s/call=%s/keys=%s", algorithm, call, bench.FormatCount(count))
	benchtest.DecideRow(b, name, benchtest.Row{Subject: subject, Load: bench.AllowLoad, Count: count, Size: bench.KeySize})
}

// anyLimit is the adapter of a limiter with any limit.
type anyLimit struct {
	limiter *engine.Limiter[string]
	charge  int64 // half of what a key may take, so that none can be forgotten
	take    bool
}

func (a *anyLimit) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		a.limiter.AllowN(k.At(i), a.charge)
	}
}

func (a *anyLimit) Run(k *bench.Keys, n int) (admitted int) {
	for range n {
		if a.take && a.limiter.Take(k.Next(), 1).Allowed || !a.take && a.limiter.Allow(k.Next()) {
			admitted++
		}
	}
	return admitted
}

func (a *anyLimit) Allow(key string) bool { return a.limiter.Allow(key) }
func (a *anyLimit) Len() int              { return a.limiter.Len() }
func (a *anyLimit) Close()                { _ = a.limiter.Close() }

// BenchmarkSlidingLog: what the exact log costs, by its limit: ns of a decision on a full log of
// which one entry expires at each call, and the bytes that a key holds then.
func BenchmarkSlidingLog(b *testing.B) {
	for _, limit := range []int64{10, 100, 10_000} {
		b.Run(fmt.Sprintf("limiter=penstock/limit=%d", limit), func(b *testing.B) {
			keys := int(max(10, 1_000_000/limit))
			before := bench.LiveHeap()
			l := engine.Must[int](engine.SlidingLog(limit, time.Duration(limit)))
			now := time.Duration(0)
			for range limit {
				now++
				for key := range keys {
					l.TakeAt(now, key, 1)
				}
			}
			held := bench.LiveHeap()
			b.ResetTimer()
			admitted := 0
			for i := range b.N {
				if i%keys == 0 {
					now++
				}
				if l.TakeAt(now, i%keys, 1).Allowed {
					admitted++
				}
			}
			b.StopTimer()
			if admitted != b.N {
				b.Fatalf("%d of %d admitted: each call should find one entry expired", admitted, b.N)
			}
			b.ReportMetric(float64(held.Alloc-before.Alloc)/float64(keys), "B/key")
		})
	}
}
