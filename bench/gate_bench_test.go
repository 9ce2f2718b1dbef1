package bench_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/engine"
)

// gateBatch is how many decisions come before as many of the floor: some tens of
// microseconds, so that both see the same machine, and few batches are interrupted.
const gateBatch = 1024

// BenchmarkGate: the rows of the gate (bench/gate). A batch of the call and one of
// the floor take turns on one goroutine; x-floor is the median over the batches of
// the ratio of their times, ns/op the median of the call's. The call coarse is Allow with the
// coarse clock, its floor reads none.
func BenchmarkGate(b *testing.B) {
	run := func(p *bench.Penstock) func(*bench.Keys, int) int { return p.Run }
	calls := []struct {
		name string
		load bench.Load
		opts []engine.Option
		loop func(p *bench.Penstock) func(k *bench.Keys, n int) int
	}{
		{"allow", bench.AllowLoad, nil, run},
		{"deny", bench.DenyLoad, nil, run},
		{"take", bench.AllowLoad, nil, func(p *bench.Penstock) func(*bench.Keys, int) int { return takeLoop(p.Engine()) }},
		{"coarse", bench.AllowLoad, []engine.Option{engine.WithCoarseClock(bench.CoarseTick)}, run},
	}
	for _, count := range counts(b) {
		for _, call := range calls {
			var p *bench.Penstock
			var floor *bench.Floor
			b.Run(fmt.Sprintf("call=%s/limiter=penstock/keys=%s", call.name, bench.FormatCount(count)), func(b *testing.B) {
				if p == nil {
					p, floor = bench.NewPenstock(call.load, call.opts...), bench.NewFloor(count)
					if call.opts != nil {
						floor = bench.NewFloorNoClock(count)
					}
					p.Fill(bench.NewKeys(count, bench.KeySize, 0), 0, uint64(count))
					floor.Fill(nil, 0, uint64(count))
				}
				gateRow(b, count, call.load.Admit, call.loop(p), floor.Run)
				if held := p.Len(); held != count {
					b.Fatalf("the limiter holds %d keys, want %d", held, count)
				}
			})
			if p != nil {
				p.Close()
			}
		}
	}
}

func gateRow(b *testing.B, count int, admit bool, run, floor func(k *bench.Keys, n int) int) {
	keys, floorKeys := bench.NewKeys(count, bench.KeySize, 1), bench.NewKeys(count, bench.KeySize, 2)
	var times, ratios []float64
	for left := b.N; left > 0; left -= gateBatch {
		n := min(left, gateBatch)
		start := time.Now()
		admitted := run(keys, n)
		middle := time.Now()
		floor(floorKeys, n)
		end := time.Now()
		if want := map[bool]int{true: n, false: 0}[admit]; admitted != want {
			b.Fatalf("%d of %d calls were admitted, want %d", admitted, n, want)
		}
		times = append(times, float64(middle.Sub(start))/float64(n))
		ratios = append(ratios, float64(middle.Sub(start))/float64(end.Sub(middle)))
	}
	slices.Sort(times)
	slices.Sort(ratios)
	b.ReportMetric(times[len(times)/2], "ns/op")
	b.ReportMetric(ratios[len(ratios)/2], "x-floor")
}
