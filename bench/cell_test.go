package bench_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
)

// TestCellsAdmitTheBurst: the baseline must be a limiter, or beating it says
// nothing. The rate is one an hour, so no token comes back during the test.
func TestCellsAdmitTheBurst(t *testing.T) {
	cells := bench.NewCells(bench.Load{Tokens: 1, Per: time.Hour, Burst: 1_000})
	var admitted atomic.Int64
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for range 1_000 {
				if cells.Allow("key") {
					admitted.Add(1)
				}
			}
		})
	}
	done.Wait()
	if admitted.Load() != 1_000 {
		t.Errorf("4,000 calls on a burst of 1,000: %d admitted", admitted.Load())
	}
	if cells.AllowN("other", 1_001) || !cells.AllowN("other", 1_000) {
		t.Error("AllowN must take all or nothing")
	}
}
