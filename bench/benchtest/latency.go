package benchtest

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
)

// Latency measures each decision on existing keys by itself: a row for each count
// and subject, with the quantiles of all calls in nanoseconds, one pair of clock
// reads included (pair-p50-ns is its median). Making the key is not in it.
func Latency(b *testing.B, load bench.Load, counts []int, subjects []bench.Subject) {
	for _, count := range counts {
		for _, subject := range subjects {
			row := Row{Subject: subject, Load: load, Count: count, Size: bench.KeySize}
			b.Run(rowName(subject, count), func(b *testing.B) {
				skipIfLacking(b, subject)
				row.open()
				row.latencies(b)
			})
			row.end(b)
		}
	}
}

func (r *Row) latencies(b *testing.B) {
	keys := generators(r.workers(), r.Count, r.Size)
	own := make(map[*bench.Keys]*bench.Histogram, len(keys))
	for _, k := range keys {
		own[k] = new(bench.Histogram)
	}
	start := time.Now()
	b.ResetTimer()
	tallies := drive(b.N, keys, func(k *bench.Keys, n int) (admitted int) {
		histogram := own[k]
		for range n {
			key := k.Next()
			before := time.Since(start)
			allowed := r.limiter.Allow(key)
			histogram.Record(uint64(time.Since(start) - before))
			if allowed {
				admitted++
			}
		}
		return admitted
	})
	b.StopTimer()
	if err := r.check(b.N, keys, tallies); err != nil {
		b.Fatal(err)
	}
	var all bench.Histogram
	for _, histogram := range own {
		all.Add(histogram)
	}
	reportQuantiles(b, &all)
}
