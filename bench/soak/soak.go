package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

// config is what a run is.
type config struct {
	duration time.Duration // how long
	calls    int           // at most, of each worker
	workers  int           // that call without a pause
	waiters  int           // that wait
	keys     int           // of each lane
	progress time.Duration // between two samples
	seed     uint64
	take     take // how permits are taken
}

// soak runs the load until it is over, or the context ends.
func soak(ctx context.Context, cfg config, progress io.Writer) *report {
	ctx, cancel := context.WithTimeout(ctx, cfg.duration)
	defer cancel()
	c, t := newClock(), new(turn)
	lanes := newLanes(c, cfg.keys, cfg.take)
	s := &sampler{began: time.Now(), last: time.Now(), lanes: lanes}
	var working, helping sync.WaitGroup
	for i := range cfg.workers + cfg.waiters {
		s.workers = append(s.workers, newWorker(lanes, c, cfg.keys, t, cfg.seed, uint64(i)))
	}
	for i, w := range s.workers {
		if i < cfg.workers {
			working.Go(func() { w.run(ctx, cfg.calls) })
			continue
		}
		helping.Go(func() { w.wait(ctx, lanes[len(lanes)-1]) })
	}
	var did disturbances
	helping.Go(func() { did = churn(ctx, lanes, c, t, cfg.seed) })
	done := make(chan struct{})
	go func() { working.Wait(); close(done) }()
	s.watch(done, cfg.progress, progress)
	cancel()
	helping.Wait()
	return newReport(cfg, s, did, s.end(c))
}

// watch takes samples until the work is done.
func (s *sampler) watch(done <-chan struct{}, every time.Duration, progress io.Writer) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-done:
			short := time.Since(s.last) < every/4
			s.look().writeTo(progress)
			if n := len(s.samples) - 1; short && n > 0 {
				s.samples = s.samples[:n] // too short for a row; its calls count in the whole
			}
			return
		case <-tick.C:
			s.look().writeTo(progress)
		}
	}
}

// end looks at what is left: an hour later every key must have been forgotten.
func (s *sampler) end(c *clock) (violations []string) {
	violations = s.beyond
	c.step(time.Hour)
	for _, l := range s.lanes {
		violations = append(violations, l.violations()...)
		if l.allowed.Load() == 0 {
			violations = append(violations, l.name+": nothing was admitted, so nothing was tested")
		}
		l.limiter.Sweep()
		if keys := l.limiter.Len(); keys != 0 {
			violations = append(violations, fmt.Sprintf("%s: %d keys are held after an hour without calls", l.name, keys))
		}
		_ = l.limiter.Close() // it returns nil always
	}
	return violations
}

// machine is where and with what a run was made.
func machine() string {
	return fmt.Sprintf("%s, %s/%s, GOMAXPROCS=%d of %d processors",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.NumCPU())
}
