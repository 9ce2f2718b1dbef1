package bench_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/engine"
)

// awaitKeys is how many keys one op inserts: few enough leaves that a take meets one
// that is being rebuilt some hundred times an op.
const awaitKeys = 100_000

// BenchmarkAwait: what a take waits for when it meets a key whose leaf is being
// rebuilt, the one thing that an existing key ever waits for. One goroutine inserts
// 100,000 keys into an empty limiter, again and again; another takes from those
// there are. The rows machine=busy have four goroutines a processor that only
// compute, on as many threads, so that the system takes the processor from a
// rebuilder in the middle. It reports
//
//	waits/M-takes  takes that had to wait, of a million
//	wait-p50-ns ... quantiles of the takes that had to wait, whole
//	take-p50-ns ... quantiles of all takes, with a look at the limiter's counters
//
// It means something with two processors only.
func BenchmarkAwait(b *testing.B) {
	for _, machine := range []string{"idle", "busy"} {
		b.Run(fmt.Sprintf("limiter=penstock/keys=%s/machine=%s", bench.FormatCount(awaitKeys), machine), func(b *testing.B) {
			if machine == "busy" {
				defer loadMachine()()
			}
			var waits, takes bench.Histogram
			for range b.N {
				awaitRun(b, &waits, &takes)
			}
			b.ReportMetric(1e6*float64(waits.Total())/float64(takes.Total()), "waits/M-takes")
			for _, q := range []struct {
				name string
				at   float64
			}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}} {
				b.ReportMetric(float64(waits.Quantile(q.at)), "wait-"+q.name+"-ns")
				b.ReportMetric(float64(takes.Quantile(q.at)), "take-"+q.name+"-ns")
			}
			b.ReportMetric(float64(waits.Max()), "wait-max-ns")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// awaitRun fills a limiter on one goroutine and takes from it on this one.
func awaitRun(b *testing.B, waits, takes *bench.Histogram) {
	limiter := engine.Must[string](bench.AllowLoad.Limit())
	defer limiter.Close()
	var present atomic.Uint64
	inserted := func(keys *bench.Keys, from, to uint64) {
		for i := from; i < to; i++ {
			limiter.AllowN(keys.At(i), bench.AllowLoad.Charge)
		}
		present.Store(to)
	}
	inserted(bench.NewKeys(1, bench.KeySize, 0), 0, 1)
	go func() {
		keys := bench.NewKeys(1, bench.KeySize, 0)
		for from := uint64(1); from < awaitKeys; from += 64 {
			inserted(keys, from, min(from+64, awaitKeys))
		}
	}()
	keys := bench.NewKeys(1, bench.KeySize, uint64(b.N)+takes.Total())
	start := time.Now()
	for last := met(limiter); present.Load() < awaitKeys; {
		keys.SetCount(present.Load())
		key := keys.Next()
		before := time.Since(start)
		allowed := limiter.Allow(key)
		took := uint64(time.Since(start) - before)
		if !allowed {
			b.Fatal("a take was denied, all had to be admitted")
		}
		takes.Record(took)
		if now := met(limiter); now != last {
			waits.Record(took)
			last = now
		}
	}
}

// met is how many takes have met a frozen word.
func met(l *engine.Limiter[string]) uint64 {
	counters := l.Stats().Table
	return counters.Awaits + counters.Follows
}

// loadMachine starts goroutines that only compute, and threads for them; stop ends
// them.
func loadMachine() (stop func()) {
	const each = 4
	processors := runtime.GOMAXPROCS(0)
	var ended atomic.Bool
	var done sync.WaitGroup
	for range each * processors {
		done.Go(func() {
			for x := 1.0; !ended.Load(); x = 1 / x {
				continue
			}
		})
	}
	runtime.GOMAXPROCS(processors * (each + 1))
	return func() {
		ended.Store(true)
		done.Wait()
		runtime.GOMAXPROCS(processors)
	}
}
