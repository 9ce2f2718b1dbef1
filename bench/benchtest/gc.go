package benchtest

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
)

// gcSamples is the least number of collections a median is taken of.
const gcSamples = 10

// GC measures a full collection (runtime.GC, time on the clock) while count
// keys are live. It reports gc-ns, the median of at least ten. The row
// limiter=none is the process without any limiter: what the others start from.
func GC(b *testing.B, count int, subjects []bench.Subject) {
	gcRow(b, bench.Subject{Name: "none"}, count, func() bench.Limiter { return nil })
	for _, subject := range subjects {
		gcRow(b, subject, count, func() bench.Limiter {
			limiter := subject.New(count, bench.AllowLoad)
			limiter.Fill(bench.NewKeys(1, bench.KeySize, 0), 0, uint64(count))
			return limiter
		})
	}
}

func gcRow(b *testing.B, subject bench.Subject, count int, open func() bench.Limiter) {
	var limiter bench.Limiter
	opened := false
	b.Run(fmt.Sprintf("limiter=%s/keys=%s", subject.Name, bench.FormatCount(count)), func(b *testing.B) {
		skipIfLacking(b, subject)
		if !opened {
			limiter, opened = open(), true
			runtime.GC()
		}
		b.ResetTimer()
		b.ReportMetric(float64(medianGC(max(b.N, gcSamples))), "gc-ns")
		b.ReportMetric(0, "ns/op")
		if limiter != nil {
			if err := checkLen(limiter, count); err != nil { // and keeps it alive
				b.Fatal(err)
			}
		}
	})
	if limiter != nil {
		limiter.Close()
	}
	limiter = nil
	runtime.GC()
}

// medianGC collects n times and returns the median time of one.
func medianGC(n int) time.Duration {
	times := make([]time.Duration, n)
	for i := range times {
		start := time.Now()
		runtime.GC()
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[n/2]
}
