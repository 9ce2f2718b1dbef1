package evict_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/evict"
	"github.com/stretchr/testify/require"
)

// fakeTable has a number of leaves; sweeping one takes cost and frees perLeaf keys.
type fakeTable struct {
	leaves, at int
	keys       atomic.Int64
	perLeaf    int64
	cost       time.Duration
	horizon    int64
	steps      atomic.Int64
	sweeps     atomic.Int64
	refreshed  atomic.Int64
}

func (f *fakeTable) SweepStep() bool {
	f.steps.Add(1)
	if f.cost > 0 {
		time.Sleep(f.cost)
	}
	if f.keys.Load() > 0 {
		f.keys.Add(-f.perLeaf)
	}
	if f.at++; f.at < f.leaves {
		return false
	}
	f.at = 0
	f.sweeps.Add(1)
	return true
}

func (f *fakeTable) Refresh()       { f.refreshed.Add(1) }
func (f *fakeTable) Horizon() int64 { return f.horizon }
func (f *fakeTable) Len() int       { return int(f.keys.Load()) }

const forever = int64(1) << 62

func TestStartsLazilyAndRestsWhenEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &fakeTable{leaves: 4, perLeaf: 1, horizon: forever}
		s := evict.New(table, time.Second)
		defer s.Close()
		time.Sleep(time.Hour)
		require.Zero(t, table.steps.Load(), "nothing to do before the first key")

		table.keys.Store(4)
		s.Kick()
		s.Kick()
		time.Sleep(time.Hour)
		synctest.Wait()
		require.EqualValues(t, 1, table.sweeps.Load(), "the first sweep empties the table; then it rests")

		table.keys.Store(8)
		s.Kick()
		time.Sleep(time.Hour)
		synctest.Wait()
		require.EqualValues(t, 3, table.sweeps.Load(), "a key wakes it up again")
	})
}

func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &fakeTable{leaves: 1, horizon: forever}
		table.keys.Store(1)
		s := evict.New(table, time.Minute)
		defer s.Close()
		s.Kick()
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		require.EqualValues(t, 10, table.sweeps.Load())
	})
}

func TestHorizonShortensTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &fakeTable{leaves: 1, horizon: int64(8 * time.Second)}
		table.keys.Store(1)
		s := evict.New(table, time.Minute)
		defer s.Close()
		s.Kick()
		time.Sleep(time.Minute + time.Millisecond)
		synctest.Wait()
		require.EqualValues(t, 60, table.sweeps.Load())
	})
}

// TestBudget: a long sweep is cut into slices and takes at most a tenth of the time.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &fakeTable{leaves: 1000, cost: 100 * time.Microsecond, horizon: forever}
		table.keys.Store(1)
		s := evict.New(table, time.Millisecond)
		defer s.Close()
		s.Kick()
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		worked := time.Duration(table.steps.Load()) * table.cost
		require.InDelta(t, 50*time.Millisecond, worked, float64(5*time.Millisecond))
	})
}

// TestHurry: a table that has run out of room is swept soon, but not without rest.
func TestHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &fakeTable{leaves: 1, horizon: forever}
		table.keys.Store(1)
		s := evict.New(table, time.Hour)
		defer s.Close()
		for range 1000 {
			s.Hurry()
			s.Hurry()
			time.Sleep(10 * time.Microsecond)
		}
		synctest.Wait()
		require.GreaterOrEqual(t, table.sweeps.Load(), int64(4))
		require.LessOrEqual(t, table.sweeps.Load(), int64(6), "a tenth of the time at most")
		require.Equal(t, table.sweeps.Load(), table.refreshed.Load())
	})
}

// TestRefreshMayClose: the user's clock is read under no lock of the sweeper.
func TestRefreshMayClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &closingTable{}
		s := evict.New(table, time.Second)
		table.close = s.Close
		s.Kick()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Zero(t, table.steps.Load())
	})
}

type closingTable struct {
	fakeTable
	close func()
}

func (c *closingTable) Refresh() { c.close() }
func (c *closingTable) Len() int { return 1 }

func (c *closingTable) Horizon() int64 { return forever }

func TestCloseStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &fakeTable{leaves: 1, horizon: forever}
		table.keys.Store(1)
		s := evict.New(table, time.Second)
		s.Kick()
		time.Sleep(3500 * time.Millisecond)
		s.Close()
		s.Close()
		s.Kick()
		time.Sleep(time.Hour)
		require.EqualValues(t, 3, table.sweeps.Load())
	})
}

func TestKickAfterCloseDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &fakeTable{leaves: 1, horizon: forever}
		table.keys.Store(1)
		s := evict.New(table, time.Second)
		s.Close()
		s.Kick()
		time.Sleep(time.Hour)
		require.Zero(t, table.steps.Load())
	})
}

// TestDroppedTableIsCollected: the sweeper holds its table weakly and stops when it is gone.
func TestDroppedTableIsCollected(t *testing.T) {
	gone := make(chan struct{})
	sweepers := make([]*evict.Sweeper[fakeTable, *fakeTable], 0, 1)
	func() {
		table := &fakeTable{leaves: 1, horizon: forever}
		table.keys.Store(1)
		runtime.AddCleanup(table, func(c chan struct{}) { close(c) }, gone)
		s := evict.New(table, time.Microsecond)
		s.Kick()
		sweepers = append(sweepers, s)
	}()
	for {
		runtime.GC()
		select {
		case <-gone:
			sweepers[0].Kick() // harmless
			return
		default:
			runtime.Gosched()
		}
	}
}
