package bench

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v3"
)

// CellLimit is the limit of a word behind a pointer, the simplest lock-free state
// of a key: the virtual time at which the key has earned back all it used (GCRA),
// in nanoseconds since the start.
type CellLimit struct {
	start    time.Time
	interval int64 // nanoseconds a token
	capacity int64 // nanoseconds a full burst
	charge   int64 // permits a first decision takes
}

// NewCellLimit returns the limit of the load. The load's interval must be whole
// nanoseconds; burst * interval must fit an int64.
func NewCellLimit(load Load) CellLimit {
	interval := int64(load.Per) / load.Tokens
	return CellLimit{
		start: time.Now(), interval: interval, capacity: load.Burst * interval,
		charge: load.Charge,
	}
}

// Charge returns the permits that a first decision takes.
func (c *CellLimit) Charge() int64 { return c.charge }

// Take takes n permits of the key whose word is cell, all or none.
func (c *CellLimit) Take(cell *atomic.Int64, n int64) bool {
	for {
		due := cell.Load()
		now := int64(time.Since(c.start))
		next := max(due, now) + n*c.interval
		if next-now > c.capacity {
			return false
		}
		if cell.CompareAndSwap(due, next) {
			return true
		}
	}
}

// Cells is the simplest lock-free keyed limiter: a concurrent map from the key
// to a pointer, and behind the pointer one word that compare-and-swap moves
// ([CellLimit]). Nothing is ever forgotten.
type Cells struct {
	cells *xsync.MapOf[string, *atomic.Int64]
	limit CellLimit
}

// CellsSubject is the xsync map of pointer cells.
func CellsSubject() Subject {
	return Subject{Name: "xsync-cell", Clock: "exact",
		New: func(_ int, load Load) Limiter { return NewCells(load) }}
}

// NewCells returns a limiter without keys, for a load as [NewCellLimit] asks for.
func NewCells(load Load) *Cells {
	return &Cells{cells: xsync.NewMapOf[string, *atomic.Int64](), limit: NewCellLimit(load)}
}

// Allow takes one permit of key.
func (c *Cells) Allow(key string) bool { return c.AllowN(key, 1) }

// AllowN takes n permits of key, all or none.
func (c *Cells) AllowN(key string, n int64) bool {
	cell, found := c.cells.Load(key)
	if !found {
		cell, _ = c.cells.LoadOrCompute(strings.Clone(key), newCell)
	}
	return c.limit.Take(cell, n)
}

func newCell() *atomic.Int64 { return new(atomic.Int64) }

// Fill makes the first decision for the keys from..to-1.
func (c *Cells) Fill(k *Keys, from, to uint64) {
	for i := from; i < to; i++ {
		c.AllowN(k.At(i), c.limit.charge)
	}
}

// Run decides n times about random keys.
func (c *Cells) Run(k *Keys, n int) (admitted int) {
	for range n {
		if c.Allow(k.Next()) {
			admitted++
		}
	}
	return admitted
}

// Len returns the number of keys.
func (c *Cells) Len() int { return c.cells.Size() }

// Close does nothing.
func (c *Cells) Close() {}
