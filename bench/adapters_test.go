package bench_test

import (
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/benchtest"
)

func TestAdapters(t *testing.T) { benchtest.Check(t, own()) }

// TestRunAllocatesNothing: an allocation in the loop around the decision would
// be charged to the limiter.
func TestRunAllocatesNothing(t *testing.T) {
	for _, subject := range own() {
		for _, load := range []bench.Load{bench.AllowLoad, bench.DenyLoad} {
			limiter := subject.New(100, load)
			keys := bench.NewKeys(100, bench.KeySize, 1)
			limiter.Fill(keys, 0, 100)
			if allocs := testing.AllocsPerRun(10, func() { limiter.Run(keys, 1_000) }); allocs != 0 {
				t.Errorf("%s, clock %s, load %s: %v allocations in 1,000 calls", subject.Name, subject.Clock, load.Name, allocs)
			}
			limiter.Close()
		}
	}
}

// TestFloorPaysItsSwap: on one goroutine no compare-and-swap may fail, so each
// call of the floor has written a line.
func TestFloorPaysItsSwap(t *testing.T) {
	floor := bench.NewFloor(1)
	if won := floor.SwapHot(1_000); won != 1_000 {
		t.Errorf("%d of 1,000 swaps won on one goroutine", won)
	}
}
