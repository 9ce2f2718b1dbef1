package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"
)

// turn says which keys are the busy ones: those from first on. It changes, so that keys fall idle, are
// forgotten, and come back.
type turn struct{ first atomic.Uint64 }

const (
	churnEvery = 20 * time.Millisecond
	turnKeys   = 97 // busy keys that change in a turn
)

// disturbances counts what churn did.
type disturbances struct {
	Turns         int           `json:"turns"`
	LimitChanges  int           `json:"limit_changes"`
	Sweeps        int           `json:"forced_sweeps"`
	Collections   int           `json:"forced_collections"`
	StepsAhead    int           `json:"clock_steps_ahead"`
	StepsBack     int           `json:"clock_steps_back"`
	LongestAhead  time.Duration `json:"longest_step_ahead_ns"`
	LongestBehind time.Duration `json:"longest_step_back_ns"`
}

// churn disturbs the lanes until the context ends.
func churn(ctx context.Context, lanes []*lane, c *clock, t *turn, seed uint64) (did disturbances) {
	rnd := rand.New(rand.NewPCG(seed, 1<<63))
	tick := time.NewTicker(churnEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return did
		case <-tick.C:
			did.disturb(lanes, c, t, rnd)
		}
	}
}

// disturb does one thing.
func (d *disturbances) disturb(lanes []*lane, c *clock, t *turn, rnd *rand.Rand) {
	l := lanes[rnd.IntN(len(lanes))]
	switch op := rnd.IntN(100); {
	case op < 30:
		d.change(lanes, rnd)
	case op < 55:
		d.Sweeps++
		l.limiter.Sweep()
	case op < 60:
		d.Collections++
		runtime.GC()
	case op < 70:
		d.step(c, rnd)
	case op < 80:
		d.Turns++
		t.first.Add(turnKeys)
	}
}

// change gives a lane another of its limits.
func (d *disturbances) change(lanes []*lane, rnd *rand.Rand) {
	for _, l := range lanes {
		if len(l.cycle) == 0 {
			continue
		}
		d.LimitChanges++
		if err := l.limiter.SetLimit(l.cycle[rnd.IntN(len(l.cycle))]); err != nil {
			panic(err) // they are few, and all are valid
		}
	}
}

// step moves the clock by up to 10 ms, now and then by up to 5 s, one way or the other.
func (d *disturbances) step(c *clock, rnd *rand.Rand) {
	by := time.Duration(rnd.Int64N(int64(10 * time.Millisecond)))
	if rnd.IntN(10) == 0 {
		by *= 500
	}
	if rnd.IntN(2) == 0 {
		d.StepsAhead++
		d.LongestAhead = max(d.LongestAhead, by)
		c.step(by)
		return
	}
	by /= 10 // time stands still for the limiters until it is made up
	d.StepsBack++
	d.LongestBehind = max(d.LongestBehind, by)
	c.step(-by)
}
