package interleave

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// plain is a bound that no schedule reaches: every schedule is run, without reduction.
const plain = 1 << 20

// counting is a program in which goroutines add 1 to a counter, by steps of their own.
func counting(bound, goroutines int, add func(*Uint64)) *Program {
	return &Program{
		Name: "counting", Bound: bound, Provokes: []string{"ends"},
		Setup: func(r *Run) {
			var n Uint64
			for range goroutines {
				r.Go(func() { add(&n) })
			}
			r.Check(func() error {
				r.Count("ends", 1)
				if n.Load() != uint64(goroutines) {
					return errors.New("an update was lost")
				}
				return nil
			})
		},
	}
}

func loadAndStore(n *Uint64) { n.Store(n.Load() + 1) }

func swapUntilDone(n *Uint64) {
	for {
		if old := n.Load(); n.CompareAndSwap(old, old+1) {
			return
		}
	}
}

// TestEveryScheduleIsRun: as many as the steps can be shuffled.
func TestEveryScheduleIsRun(t *testing.T) {
	steps := func(n int) func(*Uint64) {
		return func(u *Uint64) {
			for range n - 1 {
				u.Load()
			}
			u.Add(1)
		}
	}
	for _, c := range []struct {
		goroutines, steps int
		want              uint64
	}{
		{1, 5, 1}, {2, 1, 2}, {2, 2, 6}, {2, 3, 20}, {2, 5, 252}, {3, 2, 90}, {3, 3, 1680}, {4, 2, 2520},
	} {
		report := Explore(counting(plain, c.goroutines, steps(c.steps)))
		require.NoError(t, report.Err)
		require.Equal(t, c.want, report.Schedules, "%d goroutines of %d steps", c.goroutines, c.steps)
		require.Equal(t, c.goroutines*c.steps, report.Deepest)
	}
}

// TestPreemptionsAreBounded: two goroutines of two steps have one schedule with no preemption for each
// order, and so on.
func TestPreemptionsAreBounded(t *testing.T) {
	for bound, want := range []uint64{2, 4, 6, 6} { // AABB BBAA; ABBA BAAB; ABAB BABA
		report := Explore(counting(bound, 2, func(n *Uint64) { n.Load(); n.Add(1) }))
		require.NoError(t, report.Err)
		require.Equal(t, want, report.Schedules, "at most %d preemptions", bound)
	}
}

// TestALostUpdateIsFound, and told; the schedule that is named fails again.
func TestALostUpdateIsFound(t *testing.T) {
	for _, bound := range []int{Exhaustive, plain, 1} {
		report := Explore(counting(bound, 2, loadAndStore))
		var failure *ScheduleError
		require.ErrorAs(t, report.Err, &failure)
		require.ErrorContains(t, failure, "an update was lost")
		require.ErrorContains(t, failure, "PENSTOCK_SCHEDULE="+failure.Schedule+" go test -tags interleave -run ")
		require.Len(t, failure.Steps, 4)
		require.Contains(t, failure.Steps[0], "interleave.loadAndStore (explore_test.go:")
		require.NotContains(t, failure.Error(), "when run again")

		t.Setenv("PENSTOCK_SCHEDULE", failure.Schedule)
		again := Explore(counting(bound, 2, loadAndStore))
		require.ErrorContains(t, again.Err, "an update was lost")
		require.NoError(t, errors.Unwrap(Explore(counting(bound, 2, swapUntilDone)).Err), "the code was mended")
		t.Setenv("PENSTOCK_SCHEDULE", "")
	}
	require.Error(t, Explore(counting(1, 3, loadAndStore)).Err)
	require.NoError(t, Explore(counting(0, 3, loadAndStore)).Err, "without a preemption nothing is lost")
}

// TestASwapLosesNothing, and that it failed at times is counted.
func TestASwapLosesNothing(t *testing.T) {
	for _, bound := range []int{Exhaustive, plain, 2} {
		p := counting(bound, 3, swapUntilDone)
		p.Provokes = append(p.Provokes, FailedSwaps)
		report := Explore(p)
		require.NoError(t, report.Err)
		require.Positive(t, report.Provoked[FailedSwaps])
	}
}

// TestADeadlockIsFound: two locks in two orders, and who waits for which, and where.
func TestADeadlockIsFound(t *testing.T) {
	for _, bound := range []int{Exhaustive, plain, 1} {
		report := Explore(&Program{Name: "two locks", Bound: bound, Provokes: []string{Waits}, Setup: func(r *Run) {
			var a, b Mutex
			both := func(first, second *Mutex) func() {
				return func() {
					first.Lock()
					defer first.Unlock()
					second.Lock()
					defer second.Unlock()
				}
			}
			r.Go(both(&a, &b))
			r.Go(both(&b, &a))
		}})
		require.ErrorContains(t, report.Err, "deadlock")
		require.ErrorContains(t, report.Err, "[A B]")
		var failure *ScheduleError
		require.ErrorAs(t, report.Err, &failure)
		require.Len(t, failure.Steps, 4)
		for g, waits := range failure.Steps[2:] {
			taken := strings.Fields(failure.Steps[1-g]) // of the other one
			require.Regexp(t, `^ +`+name(g)+`  waits for +`+taken[3]+` .*TestADeadlockIsFound.*explore_test.go:`, waits)
		}
		require.NotContains(t, failure.Error(), "when run again")
	}
}

// TestALockKeepsOthersOut, whoever comes first, and the waits are counted.
func TestALockKeepsOthersOut(t *testing.T) {
	for _, bound := range []int{Exhaustive, plain} {
		var n int
		report := Explore(&Program{Name: "lock", Bound: bound, Provokes: []string{Waits}, Setup: func(r *Run) {
			var m Mutex
			var u Uint64
			n = 0
			for range 3 {
				r.Go(func() {
					m.Lock()
					defer m.Unlock()
					u.Store(u.Load() + 1)
					n++
				})
			}
			r.Check(func() error {
				if u.Load() != 3 || n != 3 {
					return errors.New("not alone under the lock")
				}
				return nil
			})
		}})
		require.NoError(t, report.Err)
		require.Positive(t, report.Provoked[Waits])
		if bound == Exhaustive {
			require.EqualValues(t, 6, report.Schedules, "the orders of three goroutines")
		}
	}
}

// TestWhatFails: each is told as what it is.
func TestWhatFails(t *testing.T) {
	setup := func(body func()) func(r *Run) {
		return func(r *Run) { r.Go(body); r.Go(func() {}) }
	}
	var u Uint64
	var m Mutex
	turn := 0
	for name, c := range map[string]struct {
		want    string
		program Program
	}{
		"endless": {"endless: 2000 steps", Program{Setup: setup(func() {
			for {
				u.Load()
			}
		})}},
		"endless with locks": {"endless: 2000 steps", Program{Setup: setup(func() {
			own := new(Mutex)
			for u.Load(); ; own.Unlock() { // asked at odd numbers of steps only
				own.Lock()
			}
		})}},
		"panic":     {"goroutine A panicked: oh", Program{Setup: setup(func() { u.Load(); panic("oh") })}},
		"at once":   {"goroutine A panicked: oh", Program{Setup: setup(func() { panic("oh") })}},
		"own lock":  {"deadlock", Program{Setup: setup(func() { new(Uint64).Load(); m := new(Mutex); m.Lock(); m.Lock() })}},
		"unlocked":  {"not held", Program{Setup: setup(func() { u.Load(); m.Unlock() })}},
		"check":     {"no", Program{Setup: func(r *Run) { r.Go(func() {}); r.Check(func() error { return errors.New("no") }) }}},
		"idle":      {"never met: failed swaps", Program{Setup: setup(func() { u.Load() }), Provokes: []string{FailedSwaps}}},
		"pointless": {"does not say what it provokes", Program{Setup: setup(func() {})}},
		"nobody":    {"use 1 to 4", Program{Setup: func(*Run) {}}},
		"crowd": {"use 1 to 4", Program{Setup: func(r *Run) {
			for range 5 {
				r.Go(func() {})
			}
		}}},
		"nested": {"another one is explored", Program{Setup: func(r *Run) {
			r.Go(func() {})
			r.Check(func() error { return Explore(&Program{Name: "inner"}).Err })
		}}},
		"random": {"is not the same in each execution", Program{Bound: plain, Setup: func(r *Run) {
			turn++
			m := new(Mutex)
			for g := range 2 {
				r.Go(func() {
					if turn%2 == 0 && g == 0 {
						m.Lock()
					}
					u.Load()
					u.Load()
				})
			}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.program.Name = name
			report := Explore(&c.program)
			require.ErrorContains(t, report.Err, c.want)
			require.Nil(t, active.Load())
		})
	}
}

// TestASetupThatDoesNotReturn leaves the next exploration alone: one that panics, and one that ends its
// goroutine, as a failed require does.
func TestASetupThatDoesNotReturn(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("oh") }, "exit": runtime.Goexit} {
		var ended sync.WaitGroup
		ended.Go(func() {
			defer func() { _ = recover() }()
			Explore(&Program{Name: name, Setup: func(*Run) { leave() }})
		})
		ended.Wait()
		require.NoError(t, Explore(counting(plain, 2, swapUntilDone)).Err, name)
	}
}
