package interleave

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/puzpuzpuz/xsync/v3"
	"github.com/stretchr/testify/require"
)

// TestSizes: words keep their size, so that the layout of what holds them is the one that ships.
func TestSizes(t *testing.T) {
	require.Equal(t, unsafe.Sizeof(atomic.Uint64{}), unsafe.Sizeof(Uint64{}))
	require.Equal(t, unsafe.Sizeof(atomic.Int64{}), unsafe.Sizeof(Int64{}))
	require.Equal(t, unsafe.Sizeof(atomic.Uint32{}), unsafe.Sizeof(Uint32{}))
	require.Equal(t, unsafe.Sizeof(atomic.Bool{}), unsafe.Sizeof(Bool{}))
	require.Equal(t, unsafe.Sizeof(atomic.Pointer[int]{}), unsafe.Sizeof(Pointer[int]{}))
}

// TestOutsideOfAnExploration everything is as it is in sync and sync/atomic.
func TestOutsideOfAnExploration(t *testing.T) {
	var m Mutex
	var n Int64
	var wg sync.WaitGroup
	plain := 0
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				m.Lock()
				plain++
				m.Unlock()
				n.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 8000, plain)
	require.EqualValues(t, 8000, n.Load())

	called := make(chan struct{})
	timer := AfterFunc(time.Hour, func() { close(called) })
	require.True(t, timer.Reset(0))
	<-called
	require.False(t, timer.Stop())
	require.Positive(t, Since(time.Now().Add(-time.Second)))
}

// TestWordsDoWhatTheyStandFor, each operation.
func TestWordsDoWhatTheyStandFor(t *testing.T) {
	var u Uint64
	u.Store(3)
	require.EqualValues(t, 5, u.Add(2))
	require.EqualValues(t, 5, u.Swap(7))
	require.False(t, u.CompareAndSwap(5, 9))
	require.True(t, u.CompareAndSwap(7, 9))
	require.EqualValues(t, 9, u.Load())

	var i Int64
	i.Store(-3)
	require.True(t, i.CompareAndSwap(-3, -4))
	require.False(t, i.CompareAndSwap(-3, 0))
	require.EqualValues(t, -5, i.Add(-1))

	var s Uint32
	s.Store(3)
	require.True(t, s.CompareAndSwap(3, 4))
	require.False(t, s.CompareAndSwap(3, 5))
	require.EqualValues(t, 4, s.Load())

	var b Bool
	require.True(t, b.CompareAndSwap(false, true))
	require.False(t, b.CompareAndSwap(false, true))
	b.Store(false)
	require.False(t, b.Load())

	var p Pointer[int]
	one, two := new(int), new(int)
	p.Store(one)
	require.False(t, p.CompareAndSwap(two, one))
	require.True(t, p.CompareAndSwap(one, two))
	require.Same(t, two, p.Load())
}

// TestMapEqualsTheRealOne on random calls.
func TestMapEqualsTheRealOne(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	got, want := NewMapOf[int, int](), xsync.NewMapOf[int, int]()
	for range 20_000 {
		k, v := rnd.IntN(20), rnd.Int()
		switch rnd.IntN(6) {
		case 0:
			got.Store(k, v)
			want.Store(k, v)
		case 1:
			got.Delete(k)
			want.Delete(k)
		case 2:
			compute := func() (int, bool) { return v, v%2 == 0 }
			a, loaded := got.LoadOrTryCompute(k, compute)
			b, wasLoaded := want.LoadOrTryCompute(k, compute)
			require.Equal(t, b, a)
			require.Equal(t, wasLoaded, loaded)
		case 3:
			compute := func(old int, loaded bool) (int, bool) { return old + v, loaded && v%2 == 0 }
			a, ok := got.Compute(k, compute)
			b, wasOK := want.Compute(k, compute)
			require.Equal(t, wasOK, ok)
			if ok {
				require.Equal(t, b, a)
			}
		}
		a, ok := got.Load(k)
		b, found := want.Load(k)
		require.Equal(t, b, a)
		require.Equal(t, found, ok)
		require.Equal(t, want.Size(), got.Size())
	}
	all := map[int]int{}
	got.Range(func(k, v int) bool { all[k] = v; return true })
	require.Len(t, all, want.Size())
	want.Range(func(k, v int) bool { require.Equal(t, v, all[k]); return true })
	visits := 0
	got.Range(func(int, int) bool { visits++; return false })
	require.Equal(t, 1, visits)
}

// TestTimersAreRunByTheProgram, in every order with those who set and stop them.
func TestTimersAreRunByTheProgram(t *testing.T) {
	report := Explore(&Program{
		Name: "timer", Bound: Exhaustive, Provokes: []string{"ran", "stopped", "still due"},
		Setup: func(r *Run) {
			ran := false
			var stopped Bool
			timer := AfterFunc(0, func() { ran = true })
			r.Go(func() {
				for _, call := range r.Due() {
					call()
				}
			})
			r.Go(func() {
				if timer.Stop() {
					stopped.Store(true)
				}
			})
			r.Go(func() {
				if stopped.Load() {
					timer.Reset(time.Hour)
				}
			})
			r.Check(func() error {
				switch due := len(r.Due()); {
				case due > 0:
					r.Count("still due", 1)
				case ran:
					r.Count("ran", 1)
				default:
					r.Count("stopped", 1)
				}
				require.Equal(t, 1, r.Timers())
				return nil
			})
		},
	})
	require.NoError(t, report.Err)
}

// TestClocks are those of the goroutines.
func TestClocks(t *testing.T) {
	report := Explore(&Program{
		Name: "clocks", Bound: Exhaustive, Provokes: []string{"ends"},
		Setup: func(r *Run) {
			require.Zero(t, Since(time.Now()), "time stands still unless the program says otherwise")
			r.Clock(func(g int) int64 { return int64(g + 10) })
			read := [2]time.Duration{}
			for g := range read {
				r.Go(func() { read[g] = Since(time.Time{}) })
			}
			r.Check(func() error {
				require.Equal(t, [2]time.Duration{10, 11}, read)
				require.EqualValues(t, 10+Outside, Since(time.Time{}))
				r.Count("ends", 1)
				return nil
			})
		},
	})
	require.NoError(t, report.Err)
}

// TestSchedulesAsText there and back, and what is none.
func TestSchedulesAsText(t *testing.T) {
	path := []int8{0, 0, 1, 2, 2, 2, 0}
	require.Equal(t, "A2B1C3A1", schedule(path))
	back, err := parseSchedule(" A2B1C3A1\n")
	require.NoError(t, err)
	require.Equal(t, path, back)
	for _, bad := range []string{"A", "2", "E1", "A1x", "a1", "A99999"} {
		_, err := parseSchedule(bad)
		require.ErrorIs(t, err, ErrProgram, bad)
	}
	t.Setenv("PENSTOCK_SCHEDULE", "B1A1A1A1A1")
	require.ErrorContains(t, Explore(counting(plain, 1, loadAndStore)).Err, "cannot go on")
}

// TestReportIsWritten as a row for each program.
func TestReportIsWritten(t *testing.T) {
	name := t.TempDir() + "/table"
	t.Setenv("PENSTOCK_INTERLEAVE", name)
	report := Explore(counting(1, 2, swapUntilDone))
	require.NoError(t, report.Err)
	require.Regexp(t, `^counting\t2\t\d+\t0\t\d+\t1\t[^\t]+\t0\t\d+ ends$`, report.String())
	require.FileExists(t, name)
	t.Setenv("PENSTOCK_INTERLEAVE", t.TempDir()+"/no/such/folder")
	require.ErrorContains(t, Explore(counting(1, 2, swapUntilDone)).Err, "could not be written")
}
