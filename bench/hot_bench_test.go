package bench_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/benchtest"
)

// BenchmarkHot: one key, many goroutines.
func BenchmarkHot(b *testing.B) {
	benchtest.Hot(b, bench.AllowLoad, benchtest.HotGoroutines(), own())
}

// BenchmarkNeighbours: 64 hot keys whose slots stand side by side, so that a cache
// line has slots of two goroutines, and 64 whose slots share no line; each
// goroutine takes from keys of its own. With one processor the two are the same
// work; with two, the difference is false sharing. It is the way of a call from
// the fingerprint on, as the slots of chosen keys are not known from outside.
func BenchmarkNeighbours(b *testing.B) {
	for _, slots := range []string{"neighbouring", "apart"} {
		b.Run(fmt.Sprintf("limiter=penstock/slots=%s/keys=%d", slots, bench.Neighbours), func(b *testing.B) {
			hot := bench.NewHot(bench.AllowLoad, slots == "apart")
			workers := runtime.GOMAXPROCS(0)
			each := max(1, b.N/workers)
			var done sync.WaitGroup
			var admitted atomic.Int64
			b.ResetTimer()
			for worker := range workers {
				done.Go(func() { admitted.Add(int64(hot.Take(worker, workers, each))) })
			}
			done.Wait()
			b.StopTimer()
			if got := int(admitted.Load()); got != workers*each {
				b.Fatalf("%d of %d calls were admitted, all had to be", got, workers*each)
			}
		})
	}
}
