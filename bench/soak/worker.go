package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/engine"
)

const (
	skew       = 1.1     // of the Zipf distribution of keys
	newKeys    = 1 << 32 // where the keys of floods begin
	floodKeys  = 256     // of one flood
	floodShare = 512     // one call in so many is a flood, where there are floods
	batch      = 256     // calls between two looks at what is outside
	mostWaits  = 64      // reservations that a worker has open
)

// worker makes calls, one after the other.
type worker struct {
	lanes  []*lane
	clock  *clock
	rnd    *rand.Rand
	zipf   *rand.Zipf
	keys   uint64
	turn   *turn // whose keys are the busy ones
	open   []reserved
	fresh  uint64       // the next key of a flood
	spent  [batch]int64 // nanoseconds of the calls of a batch
	mu     sync.Mutex
	recent *bench.Histogram // of calls since the last sample
}

// reserved is a reservation that has not acted.
type reserved struct {
	lane          *lane
	key           uint64
	permits       int64
	earliest, due int64 // of its time: not before earliest, and by due
	reservation   *engine.Reservation[uint64]
	abandoned     bool // to be given up
}

func newWorker(lanes []*lane, c *clock, keys int, t *turn, seed, number uint64) *worker {
	rnd := rand.New(rand.NewPCG(seed, number))
	return &worker{
		lanes: lanes, clock: c, rnd: rnd, zipf: rand.NewZipf(rnd, skew, 1, uint64(keys-1)), keys: uint64(keys), turn: t,
		fresh: newKeys * (1 + number), recent: new(bench.Histogram),
	}
}

// run makes calls until the context ends or so many were made, and then gives up its reservations.
func (w *worker) run(ctx context.Context, calls int) {
	for made := 0; made < calls && ctx.Err() == nil; made += batch {
		for i := range w.spent {
			w.spent[i] = w.call(w.lanes[w.rnd.IntN(len(w.lanes))])
		}
		w.mu.Lock()
		for _, nanos := range &w.spent {
			w.recent.Record(uint64(nanos))
		}
		w.mu.Unlock()
		w.settle(false)
	}
	w.settle(true)
}

// key draws a key: which are the busy ones changes from turn to turn.
func (w *worker) key() uint64 { return (w.zipf.Uint64() + w.turn.first.Load()) % w.keys }

// call makes one call and returns how long it took.
func (w *worker) call(l *lane) (nanos int64) {
	op := w.rnd.IntN(100)
	switch {
	case l.floods && w.rnd.IntN(floodShare) == 0:
		return w.flood(l)
	case l.waits && op < 20:
		return w.reserve(l)
	case op < 15:
		began := time.Now()
		l.limiter.Peek(w.key())
		return int64(time.Since(began))
	case op < 25:
		return w.permits(l, w.key(), 1+w.rnd.Int64N(5), op < 20)
	}
	return w.permits(l, w.key(), 1, op < 27)
}

// permits takes n permits of a key, and gives them back or uses them.
func (w *worker) permits(l *lane, key uint64, n int64, refund bool) (nanos int64) {
	at := w.clock.before(&l.passed)
	began := time.Now()
	d, receipt := l.take(l.limiter, key, n)
	nanos = int64(time.Since(began))
	earliest := w.clock.after(&l.passed, at)
	l.calls.Add(1)
	if !d.Allowed {
		return nanos
	}
	l.allowed.Add(1)
	if refund {
		receipt.Refund(n) // whether or not it was due any more: these do not act
		return nanos
	}
	l.enter(key, n, earliest)
	return nanos
}

// flood calls for keys that nobody has called for before, and returns how long one took.
func (w *worker) flood(l *lane) (nanos int64) {
	began := time.Now()
	for range floodKeys {
		w.fresh++
		if l.limiter.Allow(w.fresh) {
			l.allowed.Add(1)
		}
	}
	l.calls.Add(floodKeys)
	return int64(time.Since(began)) / floodKeys
}

// reserve reserves a permit for a time to come.
func (w *worker) reserve(l *lane) (nanos int64) {
	if len(w.open) >= mostWaits {
		w.settle(false)
	}
	r := reserved{lane: l, key: w.key(), permits: 1, abandoned: w.rnd.IntN(3) == 0}
	at := w.clock.before(&l.passed)
	began := time.Now()
	r.reservation = l.limiter.Reserve(r.key, r.permits)
	nanos = int64(time.Since(began))
	l.calls.Add(1)
	if !r.reservation.OK() {
		w.clock.after(&l.passed, at)
		return nanos
	}
	l.allowed.Add(1)
	r.earliest = w.clock.after(&l.passed, at)
	at = w.clock.before(&l.passed)
	delay := int64(r.reservation.Delay())
	if asked := w.clock.after(&l.passed, at); delay > 0 {
		r.earliest = asked + delay
		r.due = w.clock.latest.Load() + delay
	}
	w.open = append(w.open, r)
	return nanos
}

// settle lets the reservations act whose time has come, and gives up those that are to be abandoned, or
// all in the end.
func (w *worker) settle(all bool) {
	kept := w.open[:0]
	for _, r := range w.open {
		switch {
		case (r.abandoned || all) && r.reservation.Cancel():
			continue // it does not act
		case !all && int64(w.clock.Now()) < r.due:
			kept = append(kept, r)
			continue
		}
		r.lane.enter(r.key, r.permits, r.earliest)
	}
	w.open = kept
}

// wait calls Wait over and over, until the context ends.
func (w *worker) wait(ctx context.Context, l *lane) {
	for ctx.Err() == nil {
		key := w.key()
		patience, cancel := context.WithTimeout(ctx, time.Duration(1+w.rnd.Int64N(int64(longestWait))))
		at := w.clock.before(&l.passed)
		err := l.limiter.Wait(patience, key, 1)
		earliest := w.clock.after(&l.passed, at)
		cancel()
		l.calls.Add(1)
		if err == nil {
			l.allowed.Add(1)
			l.enter(key, 1, earliest)
		}
	}
}

// collect adds the times of calls since the last collect to sum.
func (w *worker) collect(sum *bench.Histogram) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum.Add(w.recent)
	w.recent.Reset()
}
