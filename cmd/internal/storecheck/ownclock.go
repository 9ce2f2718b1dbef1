package storecheck

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/cases"
	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

const (
	ownCalls  = 300 // for each algorithm
	ownBurst  = 5   // permits
	ownWindow = 20  // calls in a window, about
	ownShare  = 10  // one call in so many is to pass, and to be refused, at least
	ownTries  = 6   // at paces of the limit that are four times apart
)

// algorithms are those that are checked on the store's own clock, one for each
// kind of state and name.
var algorithms = []string{limits.TokenBucket, limits.GCRA, limits.LeakyBucket, limits.LeakyQueue, limits.FixedWindow, limits.SlidingWindow}

// ownClock makes calls as fast as they come at the store's own clock, by its own
// way to decide, and compares each with the rational-number model at the time at
// which the store says that it has decided.
func (r *run) ownClock(ctx context.Context, c *Check) error {
	applier, ok := r.target.Storage().(store.Applier)
	if !ok {
		c.NotRun = append(c.NotRun, NotRun{"own clock", "the store does not say when it has decided"})
		return nil
	}
	pace, err := r.roundTrip(ctx)
	if err != nil {
		return err
	}
	failures, idle := make([][]string, len(algorithms)), make([]bool, len(algorithms))
	var done sync.WaitGroup
	for i, algorithm := range algorithms {
		done.Go(func() { failures[i], idle[i] = r.followAtPace(ctx, applier, algorithm, pace) })
	}
	done.Wait()
	for i, f := range failures {
		if idle[i] {
			c.NotRun = append(c.NotRun, NotRun{
				"own clock, " + algorithms[i], "calls came too unevenly for some to pass and some to be refused",
			})
			continue
		}
		c.judged(f...)
	}
	c.Note = fmt.Sprintf("%d calls of each algorithm at the store's own clock, at the time that it names; a round trip takes about %v",
		ownCalls, pace)
	return nil
}

// roundTrip returns about how long a call takes, in whole ticks.
func (r *run) roundTrip(ctx context.Context) (time.Duration, error) {
	const tries = 9
	took := make([]time.Duration, tries)
	for i := range took {
		began := time.Now()
		if _, err := r.target.Storage().Get(ctx, r.scratch.Prefix+":{pace}"); err != nil {
			return 0, err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return max(took[tries/2].Truncate(r.tick), r.tick), nil
}

// ownSpec is a limit under which about half of the calls pass.
func ownSpec(algorithm string, pace time.Duration) limits.Spec {
	if limits.HasBurst(algorithm) {
		return limits.Spec{Algorithm: algorithm, Tokens: 1, Per: 3 * pace, Burst: ownBurst}
	}
	return limits.Spec{Algorithm: algorithm, Tokens: ownWindow / 2, Per: ownWindow * pace}
}

// followAtPace makes the calls under limits of one algorithm, slower or faster ones until some calls pass and
// some are refused: calls take longer beside others than alone. idle reports that it found none.
func (r *run) followAtPace(
	ctx context.Context, applier store.Applier, algorithm string, pace time.Duration,
) (failures []string, idle bool) {
	for range ownTries {
		passed, failures := r.follow(ctx, applier, ownSpec(algorithm, pace))
		switch {
		case len(failures) > 0 || ctx.Err() != nil:
			return failures, false
		case passed < ownCalls/ownShare:
			pace = max(r.tick, (pace / 4).Truncate(r.tick))
		case passed > ownCalls-ownCalls/ownShare:
			pace *= 4
		default:
			return nil, false
		}
	}
	return nil, true
}

// follow makes the calls under one limit and returns how many passed, and the first that differs.
func (r *run) follow(ctx context.Context, applier store.Applier, spec limits.Spec) (passed int, failures []string) {
	fail := func(at string, err error) []string {
		return []string{fmt.Sprintf("FAIL own clock (%s)%s: %v", spec, at, err)}
	}
	limit, err := limits.Build(spec)
	if err != nil {
		return 0, fail("", err)
	}
	law, err := supported(applier, limit)
	if err != nil {
		return 0, fail("", err)
	}
	rnd, model := rand.New(rand.NewPCG(r.options.Seed, uint64(len(spec.Algorithm)))), cases.ModelOf(spec)
	key := fmt.Sprintf("%s:{own clock}:%s:%s", r.scratch.Prefix, spec.Algorithm, spec.Per)
	r.scratch.Keep(key)
	for i := range ownCalls {
		if ctx.Err() != nil {
			return passed, nil
		}
		n := 1 + rnd.Int64N(3)
		op := store.Op{Key: key, Law: law, Min: n, Max: n}
		var result [1]store.Result
		within, cancel := context.WithTimeout(ctx, deadline)
		applier.Apply(within, []store.Op{op}, result[:])
		cancel()
		if err := r.compare(model, law, n, result[0]); err != nil {
			return passed, fail(fmt.Sprintf(" call %d", i+1), err)
		}
		if result[0].Taken > 0 {
			passed++
		}
	}
	return passed, nil
}

// compare compares a decision of the store with the model's.
func (r *run) compare(model cases.Model, law *store.Law, n int64, got store.Result) error {
	if got.Err != nil {
		return got.Err
	}
	now := time.Duration(got.Now) * r.tick
	allowed, retry := model.Take(int64(now), n)
	d := law.Decide(law.Word(got.Before, got.Now), got.Now, n, got.Taken)
	wait := time.Duration(retry)
	if allowed {
		wait = 0
	}
	if d.Allowed != allowed || (got.Taken > 0) != allowed || d.RetryAfter < wait || d.RetryAfter-wait >= r.tick {
		return fmt.Errorf("%d permits at %d ns: got %s; want %s in ticks of %v", n, now, said(d), said(engine.Decision{
			Allowed: allowed, RetryAfter: wait,
		}), r.tick)
	}
	return nil
}

func said(d engine.Decision) string {
	if d.Allowed {
		return "allowed"
	}
	return fmt.Sprintf("denied, retry-after %v", d.RetryAfter)
}
