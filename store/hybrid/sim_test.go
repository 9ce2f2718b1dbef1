package hybrid_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
)

// The simulation: processes with one limiter each over a store.Memory, in fake time, with faults put in
// from a seed; and a check of the bound over all windows of all admissions. PENSTOCK_SIM_RUNS sets the
// number of runs.

const defaultRuns = 1000

// runs returns how many: a tenth where each takes ten times as long.
func runs(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PENSTOCK_SIM_RUNS")
	if text == "" {
		if testing.Short() || raceEnabled {
			return defaultRuns / 10
		}
		return defaultRuns
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "PENSTOCK_SIM_RUNS must be a number of runs")
	return n
}

// plan is the input of one run.
type plan struct {
	rnd      *rand.Rand
	rate     int64 // permits a second
	burst    int64
	slack    float64
	maxLease int64 // 0: by the slack
	nodes    int
	policy   store.Policy
	deadline time.Duration
	slow     time.Duration // longest way to the store, there or back
	suspends bool          // machines sleep, and their clocks stand still meanwhile
	calm     bool          // no faults
	life     time.Duration
	length   time.Duration
}

func newPlan(seed uint64) *plan {
	rnd := rand.New(rand.NewPCG(seed, 41))
	p := &plan{
		rnd: rnd, nodes: 1 + rnd.IntN(5), burst: 8 + rnd.Int64N(190), slack: 0.1 + 0.9*rnd.Float64(),
		suspends: rnd.IntN(8) == 0, calm: rnd.IntN(4) == 0,
	}
	p.slack = max(p.slack, 2.1/float64(p.burst))
	p.rate = int64(p.slack*float64(p.burst)) + 1 + rnd.Int64N(1<<(4+rnd.IntN(14)))
	p.life = min(time.Second, time.Duration(p.slack*float64(p.burst)/float64(p.rate)*float64(time.Second)))
	if rnd.IntN(2) == 0 {
		p.maxLease = 2 + rnd.Int64N(max(1, int64(p.slack*float64(p.burst))/int64(p.nodes*(1+rnd.IntN(3)))))
	}
	if rnd.IntN(4) == 0 {
		p.policy = store.LocalShare
	} else {
		p.policy = store.Closed
	}
	p.deadline = p.life/2 + time.Duration(rnd.Int64N(int64(4*p.life)))
	p.slow = time.Duration(rnd.Int64N(int64(p.life)/(2+int64(rnd.IntN(30))) + 1))
	if rnd.IntN(3) == 0 {
		p.slow = 0
	}
	p.length = 12 * p.life
	return p
}

func (p *plan) limit() engine.Limit { return engine.TokenBucket(engine.PerSecond(p.rate), p.burst) }

// process is what a node runs.
type process interface {
	Take(ctx context.Context, key string, n int64) (store.Decision, error)
	Close() error
}

// build makes the process of a node.
type build func(t *testing.T, shared *store.Shared, p *plan, clock engine.Clock) process

func buildHybrid(t *testing.T, shared *store.Shared, p *plan, clock engine.Clock) process {
	t.Helper()
	opts := []hybrid.Option{hybrid.WithSlack(p.slack), hybrid.WithClock(clock)}
	if p.maxLease > 0 {
		opts = append(opts, hybrid.WithMaxLease(p.maxLease))
	}
	h, err := hybrid.New(shared, opts...)
	require.NoError(t, err)
	return h
}

// world is a run.
type world struct {
	*testing.T
	plan   *plan
	start  time.Time
	clock  *stepping // the store's
	memory *store.Memory
	shared *store.Shared // without faults, to lose the key's state
	nodes  []*node
	build  build
	all    []process

	mu     sync.Mutex // of what follows, of the plan's rnd, and of nodes and wires
	log    history
	frozen time.Duration // the store answers nobody before
}

// node is a machine with a process.
type node struct {
	world     *world
	wire      *wire
	process   process
	life      int // of the process: one after another
	suspended time.Duration
	asleep    time.Duration // makes no calls before
	refused   int           // calls refused one after the other
}

// Now is the machine's monotonic clock.
func (n *node) Now() time.Duration {
	n.world.mu.Lock()
	defer n.world.mu.Unlock()
	return n.world.now() - n.suspended
}

func (w *world) now() time.Duration { return time.Since(w.start) }

// simulate makes one run.
func simulate(t *testing.T, seed uint64, build build) (v verdict) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newPlan(seed), build)
		w.run(w.schedule())
		v = w.judge()
	})
	return v
}

func newWorld(t *testing.T, p *plan, build build) *world {
	t.Helper()
	w := &world{T: t, plan: p, start: time.Now(), build: build, clock: &stepping{origin: time.Now()}}
	w.memory = store.NewMemory(time.Microsecond, w.clock)
	w.shared = w.connect(w.memory)
	for range p.nodes {
		n := &node{world: w}
		n.wire = &wire{Memory: w.memory, node: n}
		w.nodes = append(w.nodes, n)
		n.boot()
	}
	return w
}

// run lets everything happen, in order, and waits for its end.
func (w *world) run(deeds []deed) {
	for _, e := range deeds {
		time.Sleep(max(0, e.at-w.now()))
		synctest.Wait()
		e.do()
		synctest.Wait()
	}
	for _, process := range w.all {
		require.NoError(w, process.Close())
	}
	time.Sleep(2 * w.plan.deadline) // calls under way
}

func (w *world) judge() verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.judge(w.plan)
}

func (w *world) connect(s store.Storage) *store.Shared {
	w.Helper()
	backend, err := store.NewBackend(s, steady, store.WithDeadline(w.plan.deadline))
	require.NoError(w, err)
	shared, err := backend.Limiter("sim", w.plan.limit(), store.WithPolicy(w.plan.policy), store.WithProcesses(w.plan.nodes))
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, shared.Close()) })
	return shared
}

// boot starts a process; if there was one, that has crashed.
func (n *node) boot() {
	w := n.world
	process := w.build(w.T, w.connect(n.wire), w.plan, n)
	w.all = append(w.all, process)
	w.mu.Lock()
	defer w.mu.Unlock()
	n.life++
	n.process = process
}

// call makes a call of k permits, in a goroutine of its own.
func (n *node) call(k int64) {
	w := n.world
	w.mu.Lock()
	life, process, asleep := n.life, n.process, w.now() < n.asleep
	w.mu.Unlock()
	if asleep {
		return
	}
	go func() {
		charge := &charge{}
		d, err := process.Take(context.WithValue(w.Context(), chargeKey{}, charge), "key", k)
		w.mu.Lock()
		defer w.mu.Unlock()
		if n.life == life { // else it has crashed: nobody hears the answer
			n.answered(k, d, err, charge)
		}
	}()
	synctest.Wait()
	if h, ok := process.(*hybrid.Limiter); ok {
		if _, most := h.Slack(); h.Stats().Held > most {
			w.Errorf("%d permits are held, %d may be", h.Stats().Held, most)
		}
	}
}

// answered notes what was admitted: a decision of the store at the time of the charge, one from a lease at
// the time of the call. The caller holds world.mu.
func (n *node) answered(k int64, d store.Decision, err error, charge *charge) {
	w := n.world
	n.refused++
	if err != nil || !d.Allowed {
		return
	}
	n.refused = 0
	switch at := w.now(); d.Source {
	case store.SourceStore:
		w.log.add(event{at: charge.at, permits: k})
	case store.SourceLease:
		w.log.leased += k
		w.log.add(event{at: at, permits: k})
	case store.SourceLocal:
		w.log.local = true
		w.log.add(event{at: at, permits: k})
	default:
		w.Errorf("admitted by %v", d.Source)
	}
}

// refusals returns how many calls were refused one after the other.
func (n *node) refusals() int {
	n.world.mu.Lock()
	defer n.world.mu.Unlock()
	return n.refused
}

// TestSimulation: no run admits more than the bound in any window.
func TestSimulation(t *testing.T) {
	var worst verdict
	leased, faults := int64(0), 0
	for seed := range uint64(runs(t)) {
		v := simulate(t, seed, buildHybrid)
		if v.violated() {
			t.Fatalf("seed %d: %+v\n%+v", seed, v, newPlan(seed))
		}
		worst.ratio = max(worst.ratio, v.ratio)
		worst.used = max(worst.used, v.used)
		leased += v.leased
		faults += v.faults
	}
	require.Positive(t, leased)
	require.Positive(t, faults)
	t.Logf("%d runs, %d permits from leases, %d faults: no violation; tightest window %.3f of the bound, %.3f of the slack used",
		runs(t), leased, faults, worst.ratio, worst.used)
}
