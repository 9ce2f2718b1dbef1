package compare

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
)

// crowd is how many goroutines wait at once in the rows of BenchmarkWaiter.
const crowd = 10_000

// BenchmarkWaiter: what a goroutine costs that is blocked in Wait, on one key and on a key of its own.
// The limiter has no permits, and has known its keys before. Reported is, for each of 10,000 that block
// at once, the growth of
//
//	heap-B/waiter    bytes in live objects of the collected heap
//	stack-B/waiter   bytes in stacks, after those collections
//	allocs/waiter    objects allocated, one for the start of the goroutine
//
// and giveup-ns/waiter, the time on the clock from the end of their context to the return of the last
// one. What the process keeps of a goroutine besides its stack was there before, and is in no row.
// One op is one crowd: -benchtime=1x is enough.
func BenchmarkWaiter(b *testing.B) {
	for _, keys := range []int{1, crowd} {
		for _, w := range AllWaiting() {
			b.Run(fmt.Sprintf("limiter=%s/keys=%s", w.Name, bench.FormatCount(keys)), func(b *testing.B) {
				var sum waiterCost
				for range b.N {
					measureCrowd(b, w, keys, &sum)
				}
				sum.report(b)
			})
		}
	}
}

// pacedLoad gives a permit a millisecond, one at a time.
var pacedLoad = bench.Load{Name: "paced", Tokens: 1_000, Per: time.Second, Burst: 1, Charge: 1}

// pacedCalls is how many times one op of BenchmarkWaiterPaced waits.
const pacedCalls = 300

// BenchmarkWaiterPaced: what a Wait that blocks and then passes leaves to the collector: the bytes and
// objects that it allocates, when one goroutine waits again and again for up to 1 ms.
func BenchmarkWaiterPaced(b *testing.B) {
	for _, w := range AllWaiting() {
		limiter, wait := w.Open(pacedLoad)
		if limiter == nil {
			continue
		}
		b.Run("limiter="+w.Name, func(b *testing.B) {
			key := bench.NewKeys(1, bench.KeySize, 0).At(0)
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			objects, bytes := allocated()
			for range b.N * pacedCalls {
				limiter.Allow(key) // what has been earned meanwhile, so that the next call has to wait
				if err := wait(ctx, key); err != nil {
					b.Fatal(err)
				}
			}
			objectsAfter, bytesAfter := allocated()
			calls := float64(b.N * pacedCalls)
			b.ReportMetric(float64(objectsAfter-objects)/calls, "allocs/wait")
			b.ReportMetric(float64(bytesAfter-bytes)/calls, "B/wait")
			b.ReportMetric(float64(b.Elapsed())/calls, "ns/wait")
			b.ReportMetric(0, "ns/op")
		})
		limiter.Close()
	}
}

// allocated returns how many objects, and bytes in them, the process has allocated so far.
func allocated() (objects, bytes uint64) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Mallocs, stats.TotalAlloc
}

// waiterCost is what crowds cost in all.
type waiterCost struct {
	waiters, heap, stack, allocs int64
	giveUp                       time.Duration
}

func (c *waiterCost) report(b *testing.B) {
	b.Helper()
	each := func(total int64) float64 { return float64(total) / float64(c.waiters) }
	b.ReportMetric(each(c.heap), "heap-B/waiter")
	b.ReportMetric(each(c.stack), "stack-B/waiter")
	b.ReportMetric(each(c.allocs), "allocs/waiter")
	b.ReportMetric(each(c.giveUp.Nanoseconds()), "giveup-ns/waiter")
	b.ReportMetric(0, "ns/op")
}

// measureCrowd adds the cost of one crowd in front of a new limiter.
func measureCrowd(b *testing.B, w Waiting, count int, sum *waiterCost) {
	keys := bench.NewKeys(count, bench.KeySize, 0)
	names := make([]string, count)
	for i := range names {
		names[i] = strings.Clone(keys.At(uint64(i)))
	}
	gather(b, waitForTimer, names).disperse(b) // from now on the process keeps as many goroutines
	limiter, wait := w.Open(bench.DenyLoad)
	if limiter != nil {
		defer limiter.Close()
		limiter.Fill(keys, 0, uint64(count))
	}

	before, mallocs := bench.LiveHeap(), bench.Mallocs()
	waiting := gather(b, wait, names)
	mallocs = bench.Mallocs() - mallocs
	after := bench.LiveHeap()
	runtime.KeepAlive(names)
	sum.giveUp += waiting.disperse(b)

	sum.waiters += crowd
	sum.allocs += int64(mallocs)
	sum.heap += after.Alloc - before.Alloc
	sum.stack += after.Stack - before.Stack
}

// waitingCrowd are goroutines of which each is blocked.
type waitingCrowd struct {
	end    context.CancelFunc
	done   sync.WaitGroup
	gaveUp atomic.Int64
}

// gather starts a crowd, each on its own of the keys or all on the only one, and returns when all are
// blocked.
func gather(b *testing.B, wait WaitFunc, keys []string) *waitingCrowd {
	b.Helper()
	c := new(waitingCrowd)
	ctx, end := context.WithCancel(b.Context())
	c.end = end
	sample := []metrics.Sample{{Name: "/sched/goroutines/waiting:goroutines"}}
	others := waitingGoroutines(sample)
	for i := range crowd {
		key := keys[i%len(keys)]
		c.done.Go(func() {
			if errors.Is(wait(ctx, key), context.Canceled) {
				c.gaveUp.Add(1)
			}
		})
	}
	for waitingGoroutines(sample) < others+crowd {
		runtime.Gosched()
	}
	return c
}

// disperse ends the crowd's context, and returns how long it took until all were gone. All must still
// have been there.
func (c *waitingCrowd) disperse(b *testing.B) time.Duration {
	b.Helper()
	start := time.Now()
	c.end()
	c.done.Wait()
	took := time.Since(start)
	if gaveUp := c.gaveUp.Load(); gaveUp != crowd {
		b.Fatalf("%d of %d calls ended with their context: all should have been waiting", gaveUp, crowd)
	}
	return took
}

// waitingGoroutines reads into sample how many goroutines wait for something. One that waits for a
// lock is counted as well, but then its holder is not.
func waitingGoroutines(sample []metrics.Sample) int {
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}
