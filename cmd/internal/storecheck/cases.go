package storecheck

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/cases"
	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// players is how many cases run at once.
const players = 8

// mostMismatches bounds what is said about one case.
const mostMismatches = 3

// chosen is a clock that says what it was set to.
type chosen struct{ nanos atomic.Int64 }

// Now returns the time since 1970-01-01 UTC.
func (c *chosen) Now() time.Duration { return time.Duration(c.nanos.Load()) }

// player runs cases on a storage at times of its own.
type player struct {
	clock   chosen
	storage store.Storage
	backend *store.Backend
	made    *atomic.Int64 // limiters so far, of the run
}

// players makes those that run cases.
func (r *run) players(ctx context.Context) ([]*player, error) {
	all := make([]*player, players)
	for i := range all {
		p := &player{made: &r.made}
		storage, err := r.target.AtClock(ctx, &p.clock)
		if err != nil {
			return nil, err
		}
		p.storage = r.scratch.Over(storage)
		if p.backend, err = r.backend(storage); err != nil {
			return nil, err
		}
		all[i] = p
	}
	return all, nil
}

// onStore is a limiter on a store, as cases call it.
type onStore struct {
	ctx    context.Context //nolint:containedctx // of the run: cases know none
	clock  *chosen
	shared *store.Shared
	err    error
}

// TakeAt sets the clock and takes.
func (l *onStore) TakeAt(now time.Duration, key string, n int64) engine.Decision {
	l.clock.nanos.Store(int64(now))
	var d store.Decision
	d, l.err = l.shared.Take(l.ctx, key, n)
	return d.Decision
}

// Err returns the error of the last call.
func (l *onStore) Err() error { return l.err }

// Close reports decisions of the store that are not those of its law.
func (l *onStore) Close() error {
	if n := l.shared.Stats().Mismatches; n != 0 {
		return fmt.Errorf("%d decisions of the store differ from its law", n)
	}
	return l.shared.Close()
}

// build makes limiters whose names, and so whose keys, are their own in the whole run.
func (p *player) build(ctx context.Context) cases.Build {
	return func(spec limits.Spec) (cases.Limiter, error) {
		limit, err := limits.Build(spec)
		if err != nil {
			return nil, err
		}
		shared, err := limiter(p.backend, fmt.Sprint("case-", p.made.Add(1)), limit)
		if err != nil {
			return nil, err
		}
		return &onStore{ctx: ctx, clock: &p.clock, shared: shared}, nil
	}
}

// recorded runs cases at their own times.
func (r *run) recorded(ctx context.Context, c *Check) error {
	c.Note = fmt.Sprintf("at the times of the cases, in ticks of %v; alone, and among copies in %d orders", r.tick, r.options.Orders)
	return r.play(ctx, c, r.options.Cases)
}

// random runs cases of random calls, on limits that the store enforces exactly.
func (r *run) random(ctx context.Context, c *Check) error {
	storage := r.target.Storage()
	source := cases.NewRandomTicks(r.options.Seed, r.tick, func(l engine.Limit) bool {
		law, err := supported(storage, l)
		return l.Algorithm() == engine.AlgorithmSlidingLog || err == nil && exact(l, law)
	})
	var all []cases.Case
	calls := 0
	for calls < r.options.Random {
		next := source.Next(min(r.options.Random-calls, cases.CallsPerCase))
		if next.Algorithm == limits.SlidingLog { // of which cases says why
			continue
		}
		calls += len(next.Calls)
		all = append(all, next)
	}
	c.Note = fmt.Sprintf("%d calls on %d random limits against rational-number models, seed %d", calls, len(all), r.options.Seed)
	return r.play(ctx, c, all)
}

// exact reports whether a law is the limit as it was written.
func exact(l engine.Limit, law *store.Law) bool {
	n := law.Numbers()
	if n.Kind != store.KindBucket || n.Rate == 0 {
		return l.Exact()
	}
	rate := l.Effective()
	period := int64(rate.Per / n.Tick)
	// tokens/period = Rate/Unit, and Rate and Unit have no common divisor
	return l.Exact() && rate.Per%n.Tick == 0 && rate.Tokens%n.Rate == 0 && period%n.Unit == 0 && rate.Tokens/n.Rate == period/n.Unit
}

// play judges cases, several at once, and tells of them in their order.
func (r *run) play(ctx context.Context, c *Check, all []cases.Case) error {
	if len(all) == 0 {
		return nil
	}
	team, err := r.players(ctx)
	if err != nil {
		return err
	}
	failures, skipped := make([][]string, len(all)), make([]*NotRun, len(all))
	var next atomic.Int64
	var done sync.WaitGroup
	for _, p := range team {
		done.Go(func() {
			for i := int(next.Add(1) - 1); i < len(all) && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				failures[i], skipped[i] = r.judge(ctx, p, all[i])
			}
		})
	}
	done.Wait()
	for i := range all {
		if skipped[i] != nil {
			c.NotRun = append(c.NotRun, *skipped[i])
			continue
		}
		c.judged(failures[i]...)
	}
	return nil
}

// judge judges a case with those of its algorithms that the store has.
func (r *run) judge(ctx context.Context, p *player, c cases.Case) (failures []string, skipped *NotRun) {
	var can []string
	var reason error
	for _, algorithm := range c.Algorithms() {
		limit, err := limits.Build(c.Spec(algorithm))
		if err == nil {
			_, err = supported(p.storage, limit)
		} else {
			err = nil // judged like any other answer
		}
		if err != nil && reason == nil {
			reason = err
		}
		if err == nil {
			can = append(can, algorithm)
		}
	}
	if len(can) == 0 {
		return nil, &NotRun{What: c.ID, Why: why(reason, p.storage.Info())}
	}
	c.Algorithm, c.AlsoAlgorithms = can[0], can[1:]
	origin := time.Duration(time.Now().UnixNano()).Truncate(24 * time.Hour)
	wrong := cases.JudgeIn(c, cases.Setting{Build: p.build(ctx), Orders: r.options.Orders, Tick: r.tick, Origin: origin})
	for _, m := range wrong[:min(len(wrong), mostMismatches)] {
		failures = append(failures, m.String())
	}
	if more := len(wrong) - mostMismatches; more > 0 {
		failures = append(failures, fmt.Sprintf("FAIL %s: and %d more", c.ID, more))
	}
	return failures, nil
}

// Together joins what could not run for one reason.
func Together(all []NotRun) []NotRun {
	var out []NotRun
	for _, n := range all {
		i := slices.IndexFunc(out, func(o NotRun) bool { return o.Why == n.Why })
		if i < 0 {
			out = append(out, n)
			continue
		}
		out[i].What = out[i].What + ", " + n.What
	}
	return out
}
