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
// and on many, on as many goroutines as -cpu says.
func BenchmarkTake(b *testing.B) {
	for _, keys := range []int{1, 1000} {
		for name, limit := range map[string]engine.Limit{"allow": benchLimit(), "deny": denyLimit()} {
			row := fmt.Sprintf("answer=%s/keys=%d/limiter=", name, keys)
			b.Run(row+"engine", func(b *testing.B) {
				l := engine.Must[string](limit)
				defer l.Close()
				takeRow(b, keys, func(key string) bool { return l.Take(key, 1).Allowed })
			})
			b.Run(row+"local", func(b *testing.B) {
				inner := engine.Must[string](limit)
				defer inner.Close()
				takeRow(b, keys, taker(b, store.NewLocal(inner)))
			})
			b.Run(row+"hybrid", func(b *testing.B) {
				l := benchHybrid(b, limit)
				takeRow(b, keys, taker(b, l))
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

func taker(b *testing.B, l store.Limiter) func(string) bool {
	b.Helper()
	ctx := b.Context()
	return func(key string) bool {
		d, err := l.Take(ctx, key, 1)
		if err != nil {
			panic(err)
		}
		return d.Allowed
	}
}

// takeRow measures one row.
func takeRow(b *testing.B, count int, take func(key string) bool) {
	b.Helper()
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("client-%016d", i)
		for range 20 {
			take(keys[i])
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			take(keys[i%count])
		}
	})
}
