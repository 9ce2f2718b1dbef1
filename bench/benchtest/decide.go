package benchtest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/bench"
)

// Decide measures one decision on existing keys: a row for each count and
// subject, named limiter=…/keys=…/clock=…, on as many goroutines as -cpu says.
func Decide(b *testing.B, load bench.Load, counts []int, subjects []bench.Subject) {
	for _, count := range counts {
		for _, subject := range subjects {
			DecideRow(b, rowName(subject, count), Row{Subject: subject, Load: load, Count: count, Size: bench.KeySize})
		}
	}
}

// Row is one row of decisions on existing keys.
type Row struct {
	Subject bench.Subject
	Load    bench.Load
	Count   int // keys, all of them filled before the clock runs
	Size    int // bytes a key
	// Workers is the number of goroutines; 0 is one for each processor.
	Workers int
	// Loop makes the calls when the row is not about the limiter's own Run;
	// it must return how many were admitted.
	Loop func(l bench.Limiter) Loop

	limiter bench.Limiter
	zipf    *bench.Zipf // nil: every key is as likely
}

// DecideRow measures row under name. The row's limiter lives from the row's
// first call to its last.
func DecideRow(b *testing.B, name string, row Row) {
	b.Run(name, func(b *testing.B) {
		skipIfLacking(b, row.Subject)
		row.open()
		row.measure(b)
	})
	row.end(b)
}

// end closes the row's limiter and fails b if it has lost or gained a key. To count keys takes some
// limiters seconds, so it is done once a row.
func (r *Row) end(b *testing.B) {
	defer r.close()
	if err := r.checkKeys(); err != nil {
		b.Fatal(err)
	}
}

// checkKeys reports a row whose limiter has lost or gained a key.
func (r *Row) checkKeys() error {
	if r.limiter == nil || r.Subject.Bound {
		return nil
	}
	return checkLen(r.limiter, r.Count)
}

// open makes and fills the limiter, once for all runs of the row.
func (r *Row) open() {
	if r.limiter != nil {
		return
	}
	r.limiter = r.Subject.New(r.Count, r.Load)
	r.fill()
	runtime.GC() // the fill's garbage is not the row's
}

// fill makes the first decision for every key, on two goroutines: it is what a comparison
// spends most of its time with.
func (r *Row) fill() {
	var done sync.WaitGroup
	half, all := uint64(r.Count)/2, uint64(r.Count)
	for _, part := range [][2]uint64{{0, half}, {half, all}} {
		done.Go(func() { r.limiter.Fill(bench.NewKeys(r.Count, r.Size, 0), part[0], part[1]) })
	}
	done.Wait()
}

func (r *Row) close() {
	if r.limiter == nil {
		return
	}
	r.limiter.Close()
	r.limiter = nil
	runtime.GC()
}

// workers is how many goroutines make the calls.
func (r *Row) workers() int {
	if r.Workers > 0 {
		return r.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (r *Row) measure(b *testing.B) {
	keys := generators(r.workers(), r.Count, r.Size)
	if r.zipf != nil {
		for _, k := range keys {
			k.Follow(r.zipf)
		}
	}
	loop := Loop(r.limiter.Run)
	if r.Loop != nil {
		loop = r.Loop(r.limiter)
	}
	b.ReportAllocs()
	b.ResetTimer()
	tallies := drive(b.N, keys, loop)
	b.StopTimer()
	if err := r.check(b.N, keys, tallies); err != nil {
		b.Fatal(err)
	}
}

// check reports what would make the row's number worth nothing: a call that was
// not made, a wrong answer, or keys never met.
func (r *Row) check(calls int, keys []*bench.Keys, tallies []tally) error {
	total, draws := sum(tallies)
	if total.calls != calls {
		return fmt.Errorf("benchtest: %d calls were made of %d", total.calls, calls)
	}
	if err := r.checkMet(calls, keys, draws); err != nil {
		return err
	}
	if r.Subject.Bound {
		return nil
	}
	if r.Load.Admit && total.admitted != calls {
		return fmt.Errorf("benchtest: %d of %d calls were denied, all had to be admitted", calls-total.admitted, calls)
	}
	if !r.Load.Admit && total.admitted != 0 {
		return fmt.Errorf("benchtest: %d of %d calls were admitted, all had to be denied", total.admitted, calls)
	}
	return nil
}

// checkLen reports a limiter that does not hold exactly count keys.
func checkLen(l bench.Limiter, count int) error {
	if held := l.Len(); held >= 0 && held != count {
		return fmt.Errorf("benchtest: the limiter holds %d keys, want %d", held, count)
	}
	return nil
}
