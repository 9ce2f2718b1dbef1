package fair

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/engine/enginetest"
	"github.com/stretchr/testify/require"
)

const (
	referenceTokens = 3
	referencePer    = 1000
)

// pair is a limiter and the reference, which must do the same.
type pair struct {
	t       *testing.T
	clock   *enginetest.Clock
	limiter *Limiter[int]
	model   *reference
	waiting map[int]*waiter[int] // by the number of the call
	calls   int
	granted []grant
}

func newPair(t *testing.T, burst int64, hold time.Duration) *pair {
	t.Helper()
	clock := enginetest.NewClock()
	limit := engine.TokenBucket(engine.Rate{Tokens: referenceTokens, Per: referencePer}, burst)
	return &pair{
		t: t, clock: clock, limiter: Must[int](limit, WithClock(clock), WithHold(hold)),
		model: newReference(referenceTokens, referencePer, burst, hold), waiting: map[int]*waiter[int]{},
	}
}

func (p *pair) wait(tenant int, n int64) {
	p.calls++
	w, err := p.limiter.join(context.Background(), tenant, n)
	require.NoError(p.t, err)
	if w == nil {
		p.granted = append(p.granted, grant{p.calls, int64(p.clock.Now())})
	} else {
		p.waiting[p.calls] = w
	}
	p.model.wait(tenant, p.calls, n)
	p.collect()
}

// collect notes what was granted since the last call, which is of one instant and so in no order.
func (p *pair) collect() {
	for id, w := range p.waiting {
		select {
		case <-w.ready:
			require.NoError(p.t, w.err)
			p.granted = append(p.granted, grant{id, int64(p.clock.Now())})
			delete(p.waiting, id)
		default:
		}
	}
}

func (p *pair) cancel(id int) {
	require.ErrorIs(p.t, p.limiter.leave(p.waiting[id], context.Canceled), context.Canceled)
	delete(p.waiting, id)
	p.model.cancel(id)
	p.collect()
}

// moveTo moves the clock to every instant at which something is due, and then to the end.
func (p *pair) moveTo(to time.Duration) {
	for next, ok := p.clock.Next(); ok && next <= to; next, ok = p.clock.Next() {
		p.clock.Set(next)
		p.collect()
	}
	p.clock.Set(to)
	p.collect()
	p.model.moveTo(int64(to))
}

// compare compares all that can be seen, and the tags.
func (p *pair) compare() {
	require.ElementsMatch(p.t, p.model.granted, p.granted)
	p.granted, p.model.granted = p.granted[:0], p.model.granted[:0]
	p.model.clean()
	p.limiter.Stats()
	order := &p.limiter.order
	require.Len(p.t, order.tenants, len(p.model.tenants))
	require.Equal(p.t, p.model.virtual.String(), order.now.units().String())
	for key, s := range p.model.tenants {
		one := order.tenants[key]
		require.NotNil(p.t, one, "tenant %d", key)
		require.Equal(p.t, s.start.String(), one.start.units().String(), "tenant %d", key)
		require.Equal(p.t, len(s.queue), one.waiters)
		require.Equal(p.t, s.claim > 0, one.standing == claiming)
	}
	require.Equal(p.t, len(p.waiting), p.limiter.Len())
	if len(p.waiting) > 0 {
		require.Equal(p.t, 1, p.clock.Waiting(), "one timer while somebody waits")
	} else {
		require.Zero(p.t, p.clock.Waiting(), "no timer while nobody waits")
	}
}

// TestEqualsReference: random calls, cancelled ones, changes of weight and moves of the clock, with
// waiting and asking tenants mixed, come out as those of the reference: who, when, and every tag.
func TestEqualsReference(t *testing.T) {
	const operations = 110_000
	done := 0
	for seed := uint64(0); done < operations; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 5))
		burst := 1 + rnd.Int64N(8)
		p := newPair(t, burst, time.Duration(rnd.IntN(2000)))
		t.Log("seed", seed) // seen when it fails
		tenants := 1 + rnd.IntN(12)
		waits, takes := rnd.IntN(8), rnd.IntN(8)
		for range 300 {
			done++
			tenant, n := rnd.IntN(tenants), 1+rnd.Int64N(burst)
			switch op := rnd.IntN(4 + waits + takes); {
			case op == 0 && len(p.waiting) > 0:
				p.cancel(anyOf(rnd, p.waiting))
			case op == 1:
				w := int64(anyWeight(rnd))
				if rnd.IntN(2) == 0 {
					w = 1 + rnd.Int64N(5)
				}
				require.NoError(t, p.limiter.SetWeight(tenant, w))
				p.model.setWeight(tenant, w)
				p.collect()
			case op < 4:
				p.moveTo(p.clock.Now() + time.Duration(rnd.IntN(1500)))
			case op < 4+waits:
				p.wait(tenant, n)
			default:
				require.Equal(t, p.model.take(tenant, n), p.limiter.Take(tenant, n).Allowed)
				p.collect()
			}
			p.compare()
		}
	}
}

// anyOf draws a key of a map, the same one for the same random numbers.
func anyOf(rnd *rand.Rand, m map[int]*waiter[int]) int {
	ids := slices.Sorted(maps.Keys(m))
	return ids[rnd.IntN(len(ids))]
}
