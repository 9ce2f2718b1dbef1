package linear

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/penstock-go/penstock/engine"
)

const (
	clients = 4 // goroutines that call at once
	calls   = 8 // of each
	// crowd is how many other keys there are: a leaf is full with a few more, so that those who come
	// during the history rebuild or split it.
	crowd = 105
	// floods is how many keys come during the history, between sweeps.
	floods = 8
)

// history is what the goroutines did and saw.
type history struct {
	operations []porcupine.Operation
	contention contention
}

// contention is what a history met: without any it proves nothing.
type contention struct {
	overlaps int    // calls that began before one of another goroutine had ended
	retries  uint64 // compare-and-swaps that failed
}

// record lets the goroutines call at once, on a limiter of their own.
func record(s subject, seed uint64, wrap func(*engine.Limiter[int], *hand, call) (answer, int64)) (history, error) {
	c := &clock{origin: time.Now()}
	l, err := engine.New[int](s.limit, engine.WithClock(c), engine.WithStats())
	if err != nil {
		return history{}, err
	}
	defer l.Close()
	prepare(l)
	c.clear()
	l.Peek(watched) // the limiter's time is this reading or a later one
	var all [clients][]porcupine.Operation
	var running sync.WaitGroup
	var ready atomic.Int32
	for i := range clients {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		running.Go(func() {
			ready.Add(1)
			for ready.Load() <= clients { // all begin at once, and the flood with them
				runtime.Gosched()
			}
			var h hand
			for range calls {
				in := s.next(rnd, i, &h)
				began := int64(time.Since(c.origin))
				out, delay := wrap(l, &h, in)
				ended := int64(time.Since(c.origin))
				all[i] = append(all[i], porcupine.Operation{
					ClientId: i, Input: in, Call: began, Output: pending{out, delay}, Return: ended,
				})
			}
		})
	}
	ready.Add(1)
	flood(l)
	running.Wait()
	times, complete := c.told()
	if !complete {
		return history{}, fmt.Errorf("linear: more than %d readings of the clock in one history", mostReadings)
	}
	for _, ops := range all {
		markKept(ops)
	}
	operations := slices.Concat(all[:]...)
	resolve(operations, times)
	return history{operations, contention{overlaps(operations), l.Stats().Retries}}, nil
}

// pending is an answer whose times are not known yet.
type pending struct {
	answer
	delay int64
}

// prepare fills the table around the watched key until it is about to grow.
func prepare(l *engine.Limiter[int]) {
	for key := range crowd {
		l.Allow(1 + key)
	}
	r := l.Reserve(1, 1) // the ledger of reservations is made at the first
	r.Cancel()
}

// flood makes the table grow and forget.
func flood(l *engine.Limiter[int]) {
	for key := range floods {
		l.Allow(-1 - key)
	}
	l.Sweep()
	for key := range floods {
		l.Allow(-1 - floods - key)
	}
	l.Sweep()
}

// markKept tells each charge and reservation of one goroutine whether it is given back later.
func markKept(ops []porcupine.Operation) {
	var later [kinds]bool
	for i := len(ops) - 1; i >= 0; i-- {
		in := ops[i].Input.(call) //nolint:errcheck // there is nothing else in it
		switch in.kind {
		case charge:
			in.kept, later[refund] = later[refund], false
		case reserve:
			in.kept, later[cancel] = later[cancel], false
		case refund, cancel:
			later[in.kind] = true
		}
		ops[i].Input = in
	}
}

// resolve tells each call at which readings of the clock it may have been decided.
func resolve(operations []porcupine.Operation, times []int64) {
	within := func(from, to int64) []int64 {
		i, _ := slices.BinarySearch(times, from)
		j, _ := slices.BinarySearch(times, to+1)
		return times[i:j]
	}
	for i := range operations {
		op := &operations[i]
		in, out := op.Input.(call), op.Output.(pending) //nolint:errcheck // there is nothing else in them
		from := op.Call
		if in.kind == refund || in.kind == reset { // these read no clock: the limiter's time may be an earlier reading
			from = settledBefore(operations, op.Call, times)
		}
		in.times = within(from, op.Return)
		for _, other := range operations {
			raced := other.Input.(call).kind == reset && other.Call <= op.Return && op.Call <= other.Return //nolint:errcheck // as above
			in.raced = in.raced || raced
		}
		if out.delay > 0 {
			for _, at := range in.times {
				out.acts = append(out.acts, at+out.delay)
			}
		}
		op.Input, op.Output = in, out.answer
	}
}

// settledBefore returns a time that the limiter's was not before at now: the beginning of the latest
// call that had read the clock and ended by then (a cancellation of what was refused does not read it).
// Before the first it is the first reading there is.
func settledBefore(operations []porcupine.Operation, now int64, times []int64) int64 {
	settled := times[0]
	for _, op := range operations {
		k := op.Input.(call).kind //nolint:errcheck // there is nothing else in it
		if op.Return < now && k != refund && k != reset && k != cancel {
			settled = max(settled, op.Call)
		}
	}
	return settled
}

// overlaps counts the calls that began before an earlier one of another goroutine had ended.
func overlaps(operations []porcupine.Operation) (count int) {
	for _, op := range operations {
		if slices.ContainsFunc(operations, func(other porcupine.Operation) bool {
			return other.ClientId != op.ClientId && other.Call < op.Call && op.Call < other.Return
		}) {
			count++
		}
	}
	return count
}

// String lists the calls in the order in which they began.
func (h history) String() string {
	var b strings.Builder
	slices.SortFunc(h.operations, func(x, y porcupine.Operation) int { return cmp.Compare(x.Call, y.Call) })
	for _, op := range h.operations {
		in := op.Input.(call) //nolint:errcheck // there is nothing else in it
		fmt.Fprintf(&b, "%d: %d-%d %s %d: %+v of %v\n", op.ClientId, op.Call, op.Return, kindNames[in.kind], in.n, op.Output, in.times)
	}
	return b.String()
}
