package benchtest

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
)

// tailBase is how many keys are there before the tail rows start.
const tailBase = 100_000

// TailKeys says which keys the measured takes draw from.
type TailKeys string

// TailGrowth says where the other goroutine inserts.
type TailGrowth string

const (
	// TailBase is the 100,000 keys from before the growth.
	TailBase TailKeys = "base"
	// TailAll is every key inserted so far.
	TailAll TailKeys = "all"

	// TailSame is the row: the takes meet the growth's splits and moves.
	TailSame TailGrowth = "same"
	// TailOther is its control: the same insertions into a second limiter, so
	// the same load on memory, collector and processors without a common table.
	TailOther TailGrowth = "other"
)

// Tail measures how long single takes on existing keys last on one goroutine
// while another inserts count new keys. One op is one such growth; it reports
// the quantiles of all its takes, in nanoseconds with one clock pair included:
// p50-ns to p99.99-ns, max-ns, the number of takes, and pair-p50-ns, the median
// of an empty clock pair, which is to be taken off in thought. A floor's rows are those
// with the insertions elsewhere, into penstock: what the machine does to the least of
// takes meanwhile. It means something
// with two processors (GOMAXPROCS=2 in the environment) only: with one, the two
// goroutines take turns and the tail is the scheduler's.
func Tail(b *testing.B, count int, subjects []bench.Subject) {
	for _, keys := range []TailKeys{TailBase, TailAll} {
		for _, growth := range []TailGrowth{TailSame, TailOther} {
			for _, subject := range subjects {
				if subject.Bound && growth == TailSame {
					continue // it does not grow
				}
				name := fmt.Sprintf("limiter=%s/keys=%s/takes=%s/inserts=%s",
					subject.Name, bench.FormatCount(count), keys, growth)
				b.Run(name, func(b *testing.B) {
					skipIfLacking(b, subject)
					tailRow(b, subject, count, keys, growth)
				})
				runtime.GC()
			}
		}
	}
}

func tailRow(b *testing.B, subject bench.Subject, count int, which TailKeys, growth TailGrowth) {
	var latencies bench.Histogram
	for range b.N {
		b.StopTimer()
		run := newTailRun(subject, count, which, growth)
		b.StartTimer()
		err := run.measure(&latencies)
		b.StopTimer()
		run.close()
		if err != nil {
			b.Fatal(err)
		}
	}
	reportTail(b, &latencies)
}

func reportTail(b *testing.B, latencies *bench.Histogram) {
	reportQuantiles(b, latencies)
	b.ReportMetric(float64(latencies.Total())/float64(b.N), "takes/op")
}

// reportQuantiles reports what p50-ns to max-ns and pair-p50-ns are.
func reportQuantiles(b *testing.B, latencies *bench.Histogram) {
	b.ReportMetric(float64(latencies.Quantile(0.50)), "p50-ns")
	b.ReportMetric(float64(latencies.Quantile(0.99)), "p99-ns")
	b.ReportMetric(float64(latencies.Quantile(0.999)), "p99.9-ns")
	b.ReportMetric(float64(latencies.Quantile(0.9999)), "p99.99-ns")
	b.ReportMetric(float64(latencies.Max()), "max-ns")
	b.ReportMetric(float64(emptyPair()), "pair-p50-ns")
}

// emptyPair returns the median time between two reads of the clock with nothing
// in between, in nanoseconds.
func emptyPair() uint64 {
	var pairs bench.Histogram
	start := time.Now()
	for range 100_000 {
		before := time.Since(start)
		pairs.Record(uint64(time.Since(start) - before))
	}
	return pairs.Quantile(0.5)
}

// tailRun is one growth with takes beside it.
type tailRun struct {
	taken   bench.Limiter // the takes go here
	grown   bench.Limiter // the insertions go here; may be the same
	count   int           // keys to insert
	follow  bool          // takes draw from what has been inserted too
	present atomic.Uint64 // keys that takes may draw from
	done    atomic.Bool
}

func newTailRun(subject bench.Subject, count int, which TailKeys, growth TailGrowth) *tailRun {
	r := &tailRun{count: count, follow: which == TailAll}
	r.taken = subject.New(tailBase+count, bench.AllowLoad)
	r.taken.Fill(bench.NewKeys(1, bench.KeySize, 0), 0, tailBase)
	r.grown = r.taken
	if growth == TailOther {
		r.grown = growing(subject).New(count, bench.AllowLoad)
		if r.follow {
			// The control's takes must range over as many keys, all there.
			r.taken.Fill(bench.NewKeys(1, bench.KeySize, 0), tailBase, tailBase+uint64(count))
		}
	}
	r.present.Store(tailBase)
	runtime.GC()
	return r
}

// growing is what the insertions of a control go into.
func growing(subject bench.Subject) bench.Subject {
	if subject.Bound {
		return bench.PenstockSubject()
	}
	return subject
}

func (r *tailRun) close() {
	r.taken.Close()
	if r.grown != r.taken {
		r.grown.Close()
	}
}

// measure takes until all keys are inserted and records every take.
func (r *tailRun) measure(latencies *bench.Histogram) error {
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.insert()
	}()
	denied := r.takeUntilDone(latencies)
	<-finished
	if denied > 0 {
		return fmt.Errorf("benchtest: %d takes were denied, all had to be admitted", denied)
	}
	want := r.count
	if r.grown == r.taken {
		want += tailBase
	}
	return checkLen(r.grown, want)
}

// insert adds the keys after the base, in batches, and tells the takes.
func (r *tailRun) insert() {
	defer r.done.Store(true)
	keys := bench.NewKeys(1, bench.KeySize, 0)
	end := uint64(tailBase + r.count)
	for from := uint64(tailBase); from < end; from += batch {
		to := min(from+batch, end)
		r.grown.Fill(keys, from, to)
		if r.follow {
			r.present.Store(to)
		}
	}
}

func (r *tailRun) takeUntilDone(latencies *bench.Histogram) (denied int) {
	keys := bench.NewKeys(tailBase, bench.KeySize, lastSeed.Add(1))
	start := time.Now()
	for !r.done.Load() {
		keys.SetCount(r.present.Load())
		key := keys.Next()
		before := time.Since(start)
		allowed := r.taken.Allow(key)
		latencies.Record(uint64(time.Since(start) - before))
		if !allowed {
			denied++
		}
	}
	return denied
}
