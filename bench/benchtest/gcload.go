package benchtest

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
)

const (
	// gcLoadCycles is how many collections one op sees.
	gcLoadCycles = 4
	// gcLoadGarbage is what stands for the rest of a request: bytes allocated for
	// each decision, in one object, and dropped at once.
	gcLoadGarbage = 1 << 10
)

// GCLoad measures what the collector costs a program that decides and makes garbage
// while count keys are live: each goroutine takes from random keys and allocates 1 KiB
// for each decision, until four collections have run. It reports
//
//	gc-cpu-%    processor time of the collector, of all that was not idle
//	ns/decision time on the clock for one decision and its garbage
//	decisions   how many there were in one op
//
// The row limiter=floor has an array of as many lines without pointers. One op is
// enough: -benchtime=1x.
func GCLoad(b *testing.B, count int, subjects []bench.Subject) {
	for _, subject := range subjects {
		row := Row{Subject: subject, Load: bench.AllowLoad, Count: count, Size: bench.KeySize}
		b.Run(fmt.Sprintf("limiter=%s/keys=%s", subject.Name, bench.FormatCount(count)), func(b *testing.B) {
			skipIfLacking(b, subject)
			row.open()
			row.gcLoad(b)
		})
		row.end(b)
	}
}

// cpu is processor time since the start of the process, as of the end of the
// latest collection.
type cpu struct{ collector, busy float64 }

func readCPU() cpu {
	m := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
	}
	metrics.Read(m)
	return cpu{collector: m[0].Value.Float64(), busy: m[1].Value.Float64() - m[2].Value.Float64()}
}

func collections() uint64 {
	m := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(m)
	return m[0].Value.Uint64()
}

func (r *Row) gcLoad(b *testing.B) {
	var total tally
	runtime.GC() // brings the processor times up to date
	before, start := readCPU(), time.Now()
	for range b.N {
		keys := generators(r.workers(), r.Count, r.Size)
		tallies := decideUntilCollected(keys, r.limiter.Run)
		calls, _ := sum(tallies)
		if err := r.check(calls.calls, keys, tallies); err != nil {
			b.Fatal(err)
		}
		total.calls += calls.calls
	}
	elapsed, after := time.Since(start), readCPU()
	b.ReportMetric(100*(after.collector-before.collector)/(after.busy-before.busy), "gc-cpu-%")
	b.ReportMetric(float64(elapsed)/float64(total.calls), "ns/decision")
	b.ReportMetric(float64(total.calls)/float64(b.N), "decisions")
	b.ReportMetric(0, "ns/op")
}

// decideUntilCollected runs loop on each of keys, with garbage, until enough
// collections have ended.
func decideUntilCollected(keys []*bench.Keys, loop Loop) []tally {
	var (
		done    sync.WaitGroup
		stop    atomic.Bool
		end     = collections() + gcLoadCycles
		tallies = make([]tally, len(keys))
	)
	for i, k := range keys {
		done.Go(func() {
			var own tally
			rest := make([][]byte, 1)
			for !stop.Load() {
				own.admitted += loop(k, batch)
				own.calls += batch
				for range batch {
					rest[0] = make([]byte, gcLoadGarbage)
				}
				if collections() >= end {
					stop.Store(true)
				}
			}
			tallies[i] = own
		})
	}
	done.Wait()
	return tallies
}
