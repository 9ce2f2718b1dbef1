package benchtest

import (
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/bench"
)

// batch is how many decisions a goroutine takes off the common heap of work at
// a time: enough to make the shared counter cost nothing (under 0.1 ns a
// decision), little enough that all finish together.
const batch = 1024

// Loop makes n decisions about keys of k and returns how many were admitted.
type Loop func(k *bench.Keys, n int) (admitted int)

// tally is what one goroutine did.
type tally struct{ calls, admitted int }

// drive makes total calls of loop on as many goroutines as there are keys and
// returns what each did. One goroutine is the caller itself.
func drive(total int, keys []*bench.Keys, loop Loop) []tally {
	if len(keys) == 1 {
		return []tally{{total, loop(keys[0], total)}}
	}
	var (
		next    atomic.Int64
		done    sync.WaitGroup
		tallies = make([]tally, len(keys))
	)
	for i, k := range keys {
		done.Go(func() {
			var own tally
			for {
				from := int(next.Add(batch)) - batch
				if from >= total {
					break
				}
				n := min(batch, total-from)
				own.admitted += loop(k, n)
				own.calls += n
			}
			tallies[i] = own
		})
	}
	done.Wait()
	return tallies
}

// generators returns one key generator for each worker, no two with the same
// seed, and never the same seeds twice in a process.
func generators(workers, count, size int) []*bench.Keys {
	keys := make([]*bench.Keys, workers)
	for i := range keys {
		keys[i] = bench.NewKeys(count, size, lastSeed.Add(1))
	}
	return keys
}

var lastSeed atomic.Uint64

// sum adds up what all goroutines did.
func sum(tallies []tally) (total tally, calls []int) {
	for _, t := range tallies {
		total.calls += t.calls
		total.admitted += t.admitted
		calls = append(calls, t.calls)
	}
	return total, calls
}
