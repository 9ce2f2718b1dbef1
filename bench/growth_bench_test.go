package bench_test

import (
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/benchtest"
)

// BenchmarkInsert: new keys, one goroutine.
func BenchmarkInsert(b *testing.B) {
	benchtest.Insert(b, full(b), append([]bench.Subject{bench.FloorNewSubject()}, limiters()...))
}

// BenchmarkTail: latency of takes while another goroutine inserts.
func BenchmarkTail(b *testing.B) {
	benchtest.Tail(b, full(b), append([]bench.Subject{bench.FloorSubject()}, limiters()...))
}

// BenchmarkMemory: bytes a key.
func BenchmarkMemory(b *testing.B) { benchtest.Memory(b, full(b), limiters()) }

// BenchmarkGC: a full collection with live keys.
func BenchmarkGC(b *testing.B) { benchtest.GC(b, full(b), limiters()) }

// BenchmarkGCLoad: the collector's share of a program that decides and makes garbage.
func BenchmarkGCLoad(b *testing.B) {
	benchtest.GCLoad(b, full(b), append([]bench.Subject{bench.FloorSubject()}, limiters()...))
}
