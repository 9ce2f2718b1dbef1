package sharded

import (
	"testing"

	"github.com/penstock-go/penstock/atomicstate"
)

// BenchmarkSweep: one background sweep over a table in which nothing can be forgotten, which is
// what a sweep costs at least. Divide by the keys to set it against evict.DefaultInterval.
func BenchmarkSweep(b *testing.B) {
	const keys = 100_000
	law, err := atomicstate.NewBucket(0, 1, 1) // never refilled
	if err != nil {
		b.Fatal(err)
	}
	table := NewTable(func() int64 { return 0 }, 0)
	number := table.Register(law)
	h, err := NewHasher[int]()
	if err != nil {
		b.Fatal(err)
	}
	for i := range keys {
		charge(table, h.Key(i), number, 1)
	}
	for b.Loop() {
		for done := false; !done; {
			done = table.SweepStep()
		}
	}
	if table.Len() != keys {
		b.Fatalf("%d keys are left of %d", table.Len(), keys)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/keys, "ns/key")
}
