package bench_test

import (
	"slices"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/benchtest"
)

// own are the subjects of this module, the floors first so that every other row
// stands beside its floor.
func own() []bench.Subject {
	return []bench.Subject{
		bench.FloorSubject(),
		bench.FloorNoClockSubject(),
		bench.FloorOrderedSubject(),
		bench.PenstockSubject(),
		bench.PenstockCoarseSubject(),
		bench.CellsSubject(),
	}
}

// limiters are the subjects with one row each where the clock does not matter.
func limiters() []bench.Subject {
	return []bench.Subject{bench.PenstockSubject(), bench.CellsSubject()}
}

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
func BenchmarkAllow(b *testing.B) { benchtest.Decide(b, bench.AllowLoad, counts(b), own()) }

// BenchmarkDeny: existing keys, every call denied.
func BenchmarkDeny(b *testing.B) { benchtest.Decide(b, bench.DenyLoad, counts(b), own()) }

// BenchmarkZipf: existing keys, some of them far more often than others, every
// call admitted.
func BenchmarkZipf(b *testing.B) { benchtest.Zipf(b, bench.AllowLoad, counts(b), exact()) }

// BenchmarkZipfDeny: the same, every call denied.
func BenchmarkZipfDeny(b *testing.B) { benchtest.Zipf(b, bench.DenyLoad, counts(b), exact()) }

// BenchmarkLatency: existing keys, each call by itself.
func BenchmarkLatency(b *testing.B) { benchtest.Latency(b, bench.AllowLoad, counts(b), exact()) }

// exact are the subjects with the exact clock.
func exact() []bench.Subject {
	return slices.DeleteFunc(own(), func(s bench.Subject) bool { return s.Clock != "exact" })
}
