package interleave

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Random programs over a few objects, run with and without reduction. What one execution is to its
// goroutines: for each object, its writes in order and the loads between two of them.

const randomObjects = 3

// move is a step of a random program.
type move struct {
	op  op
	obj int
}

// randomProgram returns the moves of two or three goroutines. Locks are taken in order, so that
// none is a deadlock.
func randomProgram(rnd *rand.Rand) [][]move {
	program := make([][]move, 2+rnd.IntN(2))
	for g := range program {
		for range 1 + rnd.IntN(7-len(program)) {
			program[g] = append(program[g], move{[]op{opLoad, opLoad, opStore, opCompareAndSwap, opLock}[rnd.IntN(5)], rnd.IntN(randomObjects)})
		}
	}
	return program
}

// classes runs a program and counts how often each class of executions was met.
func classes(t *testing.T, moves [][]move, bound int) (met map[string]int, report Report) {
	t.Helper()
	met = map[string]int{}
	report = Explore(&Program{Name: "random", Bound: bound, Provokes: []string{"ends"}, Setup: func(r *Run) {
		var words [randomObjects]Uint64
		var locks [randomObjects]Mutex
		var log [2 * randomObjects][]string
		for g, mine := range moves {
			r.Go(func() { act(mine, name(g), &words, &locks, &log) })
		}
		r.Check(func() error {
			r.Count("ends", 1)
			met[class(log)]++
			return nil
		})
	}})
	require.NoError(t, report.Err)
	return met, report
}

// act does the moves of one goroutine. After a lock the next move is made under it; what a load saw
// decides what a store writes and whether a swap succeeds.
func act(moves []move, who string, words *[randomObjects]Uint64, locks *[randomObjects]Mutex, log *[2 * randomObjects][]string) {
	seen := uint64(0)
	var held *Mutex
	for i, m := range moves {
		w := &words[m.obj]
		entry := fmt.Sprint(who, i)
		switch m.op {
		case opLoad:
			seen = w.Load()
			entry = "?" + entry
		case opStore:
			w.Store(seen + uint64(len(who)+i))
		case opCompareAndSwap:
			w.CompareAndSwap(seen, seen+1)
		case opLock:
			if held != nil {
				held.Unlock()
			}
			held = &locks[m.obj]
			held.Lock()
			log[randomObjects+m.obj] = append(log[randomObjects+m.obj], entry)
			continue
		}
		log[m.obj] = append(log[m.obj], entry)
	}
	if held != nil {
		held.Unlock()
	}
}

// class is what an execution is to its goroutines.
func class(log [2 * randomObjects][]string) string {
	var b strings.Builder
	for _, entries := range log {
		for i := 0; i < len(entries); {
			j := i
			for j < len(entries) && entries[j][0] == '?' {
				j++
			}
			slices.Sort(entries[i:j])
			i = j + 1
		}
		fmt.Fprintln(&b, entries)
	}
	return b.String()
}

// TestReductionMissesNothing, and runs nothing twice.
func TestReductionMissesNothing(t *testing.T) {
	programs := 300
	if testing.Short() {
		programs = 30
	}
	rnd := rand.New(rand.NewPCG(7, 11))
	plainRuns, reducedRuns, prunedRuns := uint64(0), uint64(0), uint64(0)
	for range programs {
		moves := randomProgram(rnd)
		all, report := classes(t, moves, plain)
		plainRuns += report.Schedules
		reduced, report := classes(t, moves, Exhaustive)
		reducedRuns, prunedRuns = reducedRuns+report.Schedules, prunedRuns+report.Pruned
		for what := range all {
			require.Contains(t, reduced, what, "%v", moves)
		}
		require.Len(t, reduced, len(all))
		for what, times := range reduced {
			require.Equal(t, 1, times, "%v of %v", what, moves)
		}
	}
	t.Logf("%d schedules, %d after reduction and %d pruned", plainRuns, reducedRuns, prunedRuns)
	require.Less(t, 4*(reducedRuns+prunedRuns), plainRuns, "the reduction saves next to nothing")
}
