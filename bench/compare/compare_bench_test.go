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
