package compare

import (
	"strings"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/penstock-go/penstock/bench"
)

// XSyncV4 is the simplest lock-free design on the map of xsync/v4: a pointer to a
// word for each key. That on xsync/v3 is bench.Cells; both take by bench.CellLimit.
type XSyncV4 struct {
	limit bench.CellLimit
	cells *xsync.Map[string, *atomic.Int64]
}

// XSyncV4Subject is a map of xsync/v4 with pointer cells.
func XSyncV4Subject() bench.Subject {
	return bench.Subject{Name: "xsync4-cell", Clock: "exact",
		New: func(_ int, load bench.Load) bench.Limiter {
			return &XSyncV4{limit: bench.NewCellLimit(load), cells: xsync.NewMap[string, *atomic.Int64]()}
		}}
}

func newCell() (cell *atomic.Int64, cancel bool) { return new(atomic.Int64), false }

// Allow takes one permit of key.
func (x *XSyncV4) Allow(key string) bool { return x.allowN(key, 1) }

func (x *XSyncV4) allowN(key string, n int64) bool {
	cell, found := x.cells.Load(key)
	if !found {
		cell, _ = x.cells.LoadOrCompute(strings.Clone(key), newCell)
	}
	return x.limit.Take(cell, n)
}

// Fill makes the first decision for the keys from..to-1.
func (x *XSyncV4) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		x.allowN(k.At(i), x.limit.Charge())
	}
}

// Run decides n times about random keys.
func (x *XSyncV4) Run(k *bench.Keys, n int) (admitted int) {
	for range n {
		if x.Allow(k.Next()) {
			admitted++
		}
	}
	return admitted
}

// Len returns the number of keys.
func (x *XSyncV4) Len() int { return x.cells.Size() }

// Close does nothing.
func (x *XSyncV4) Close() {}
