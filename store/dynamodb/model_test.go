package dynamodb_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// modelSteps is how many random calls are made for each limit: 100,000 under PENSTOCK_STRESS.
func modelSteps(server *dynamodbtest.Server) int {
	const short, shortSlow, long = 1500, 300, 100_000
	switch {
	case os.Getenv("PENSTOCK_STRESS") != "":
		return long
	case server.Floats && !testing.Short():
		return short
	}
	return shortSlow
}

// modelLimits: with rates that floats compute exactly, and with others, which an emulator with exact numbers
// has to be there for.
var modelLimits = []engine.Limit{
	engine.TokenBucket(engine.Rate{Tokens: 10, Per: time.Second}, 20),
	engine.TokenBucket(engine.Rate{Tokens: 999_983, Per: time.Hour}, 100_000),
	engine.TokenBucket(engine.Rate{Tokens: 0, Per: time.Hour}, 100),
	engine.GCRA(engine.Rate{Tokens: 3, Per: time.Second}, 7),
	engine.LeakyBucket(engine.Rate{Tokens: 1, Per: 7 * 24 * time.Hour}, 5),
	engine.LeakyBucket(engine.Rate{Tokens: 60_000_011, Per: time.Second}, 1_000_000),
	engine.LeakyQueue(engine.Rate{Tokens: 50, Per: time.Minute}, 9),
	engine.FixedWindow(20, time.Second),
	engine.SlidingWindow(20, time.Second),
	engine.SlidingWindow(1000, time.Minute),
}

// TestModel: random ops, of two processes whose clocks are apart, at random times, come out as by the
// model: state before, time, and what was taken.
func TestModel(t *testing.T) {
	for name, start := range emulators {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			for seed, limit := range modelLimits {
				t.Run(limit.String(), func(t *testing.T) {
					m := newModel(t, server, limit, uint64(seed))
					steps := modelSteps(server)
					for step := range steps {
						m.step(t, step)
					}
					t.Logf("%d steps: %d took all, %d a part, %d nothing", steps, m.took[0], m.took[1], m.took[2])
				})
			}
		})
	}
}

// model is what is kept beside the table.
type model struct {
	law    *store.Law
	stores [2]*dynamodb.Store
	clocks [2]*enginetest.Clock
	rnd    *rand.Rand
	now    int64
	states map[string]modelState
	took   [3]int
}

type modelState struct {
	state store.State
	at    int64
}

func newModel(t *testing.T, server *dynamodbtest.Server, limit engine.Limit, seed uint64) *model {
	t.Helper()
	m := &model{rnd: rand.New(rand.NewPCG(seed, 3)), states: map[string]modelState{}}
	client := dynamodbtest.Client(t, server.URL)
	table := dynamodbtest.Table(t, client)
	for i := range m.stores {
		m.clocks[i] = enginetest.NewClock()
		m.stores[i] = server.OpenTable(t, client, table, fakeTime(m.clocks[i])...)
	}
	var err error
	m.law, err = store.NewLaw(limit, m.stores[0].Info())
	require.NoError(t, err)
	if err := m.stores[0].Accepts(m.law); errors.Is(err, store.ErrNotSupported) {
		t.Skip(err)
	}
	m.now = modelBegins
	return m
}

// The time in which the model runs: floats are exact until then, see WithFloatNumbers.
var (
	modelBegins = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC).UnixMicro()
	modelEnds   = time.Date(2049, 12, 31, 0, 0, 0, 0, time.UTC).UnixMicro()
)

// beginAnew goes back to the beginning, with new keys, when the time is over.
func (m *model) beginAnew(t *testing.T) {
	t.Helper()
	if m.now < modelEnds {
		return
	}
	m.now = modelBegins
	for key := range m.states {
		require.NoError(t, m.stores[0].Put(t.Context(), key, 0, store.Forever))
	}
	clear(m.states)
}

// step makes one op and compares.
func (m *model) step(t *testing.T, step int) {
	t.Helper()
	m.now += m.stride()
	m.beginAnew(t)
	process, key := m.rnd.IntN(2), fmt.Sprintf("key-%d", m.rnd.IntN(4))
	now := m.now - int64(process)*250_000 // the second clock is behind by a quarter of a second
	m.clocks[process].Set(time.Duration(now) * time.Microsecond)
	if m.rnd.IntN(200) == 0 {
		require.NoError(t, m.stores[process].Put(t.Context(), key, 0, store.Forever))
		delete(m.states, key)
	}
	op := m.op(key)
	results := make([]store.Result, 1)
	m.stores[process].Apply(t.Context(), []store.Op{op}, results)
	got := results[0]
	require.NoError(t, got.Err)
	word := uint64(0)
	if kept, ok := m.states[key]; ok {
		word = m.law.Word(kept.state, kept.at)
	}
	before := m.law.State(word, now)
	after, taken := m.law.Apply(before, now, op.Min, op.Max)
	require.Equal(t, now, got.Now)
	require.Equal(t, taken, got.Taken, "step %d: %+v on %+v", step, op, before)
	require.Equal(t, m.law.Word(before, now), m.law.Word(got.Before, now), "step %d: state %+v, want %+v", step, got.Before, before)
	if taken > 0 {
		m.states[key] = modelState{after, now}
	}
	switch {
	case op.Max == 0:
	case taken == op.Max:
		m.took[0]++
	case taken > 0:
		m.took[1]++
	default:
		m.took[2]++
	}
}

// op makes a random one: for one number of permits, for up to a number, or for none.
func (m *model) op(key string) store.Op {
	op := store.Op{Key: key, Law: m.law}
	capacity := m.law.Numbers().Limit
	switch m.rnd.IntN(8) {
	case 0:
		return op
	case 1, 2, 3:
		op.Min = 1 + m.rnd.Int64N(min(capacity, 12))
		op.Max = op.Min + m.rnd.Int64N(capacity-op.Min+1)
	case 4:
		op.Min = 1 + m.rnd.Int64N(capacity)
		op.Max = op.Min
	default:
		op.Min = 1 + m.rnd.Int64N(min(capacity, 4))
		op.Max = op.Min
	}
	return op
}

// stride returns by how many ticks time goes on: mostly by about what a permit takes, now and then by far more.
func (m *model) stride() int64 {
	n := m.law.Numbers()
	typical := n.Window / 8
	if n.Kind == store.KindBucket {
		typical = n.Unit / max(1, n.Rate) * max(1, n.Limit/16)
	}
	typical = max(2, typical)
	switch r := m.rnd.IntN(100); {
	case r < 30:
		return 0
	case r < 33:
		return m.rnd.Int64N(30 * typical)
	}
	return m.rnd.Int64N(typical)
}
