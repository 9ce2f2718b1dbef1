package compare

import (
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/benchtest"
)

func counts(b *testing.B) []int {
	b.Helper()
	counts, err := bench.Counts()
	if err != nil {
		b.Fatal(err)
	}
	return counts
}

func full(b *testing.B) int {
	b.Helper()
	count, err := bench.Full()
	if err != nil {
		b.Fatal(err)
	}
	return count
}

// BenchmarkAllow: existing keys, every call admitted.
func BenchmarkAllow(b *testing.B) { benchtest.Decide(b, bench.AllowLoad, counts(b), All()) }

// BenchmarkDeny: existing keys, every call denied.
func BenchmarkDeny(b *testing.B) { benchtest.Decide(b, bench.DenyLoad, counts(b), All()) }

// BenchmarkInsert: new keys, one goroutine.
func BenchmarkInsert(b *testing.B) { benchtest.Insert(b, full(b), Limiters()) }

// BenchmarkTail: latency of takes while another goroutine inserts.
func BenchmarkTail(b *testing.B) { benchtest.Tail(b, full(b), Limiters()) }

// BenchmarkMemory: bytes a key.
func BenchmarkMemory(b *testing.B) { benchtest.Memory(b, full(b), Limiters()) }

// BenchmarkGC: a full collection with live keys.
func BenchmarkGC(b *testing.B) { benchtest.GC(b, full(b), Limiters()) }

// BenchmarkZipf: existing keys, some of them far more often than others, every
// call admitted.
func BenchmarkZipf(b *testing.B) { benchtest.Zipf(b, bench.AllowLoad, counts(b), Exact()) }

// BenchmarkZipfDeny: the same, every call denied.
func BenchmarkZipfDeny(b *testing.B) { benchtest.Zipf(b, bench.DenyLoad, counts(b), Exact()) }

// BenchmarkLatency: existing keys, each call by itself.
func BenchmarkLatency(b *testing.B) { benchtest.Latency(b, bench.AllowLoad, counts(b), Exact()) }

// BenchmarkHot: one key, many goroutines.
func BenchmarkHot(b *testing.B) {
	benchtest.Hot(b, bench.AllowLoad, benchtest.HotGoroutines(), Exact())
}

// BenchmarkGCLoad: the collector's share of a program that decides and makes garbage.
func BenchmarkGCLoad(b *testing.B) {
	benchtest.GCLoad(b, full(b), append([]bench.Subject{bench.FloorSubject()}, Limiters()...))
}
