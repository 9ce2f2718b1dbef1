package fair

import (
	"context"
	"fmt"
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

func (p *pair) take(tenant int, n int64) {
	require.Equal(p.t, p.model.take(tenant, n), p.limiter.Take(tenant, n).Allowed)
	p.collect()
}

func (p *pair) setWeight(tenant int, w int64) {
	require.NoError(p.t, p.limiter.SetWeight(tenant, w))
	p.model.setWeight(tenant, w)
	p.collect()
}

// cancel cancels the i-th of the calls that wait.
func (p *pair) cancel(i int) {
	id := slices.Sorted(maps.Keys(p.waiting))[i]
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
	byID := func(a, b grant) int { return a.id - b.id } // those of one instant were collected in no order
	slices.SortFunc(p.granted, byID)
	slices.SortFunc(p.model.granted, byID)
	if !slices.Equal(p.granted, p.model.granted) {
		require.Equal(p.t, p.model.granted, p.granted)
	}
	p.granted, p.model.granted = p.granted[:0], p.model.granted[:0]
	p.model.clean()
	p.limiter.Stats()
	order := &p.limiter.order
	require.Len(p.t, order.tenants, len(p.model.tenants))
	require.Zero(p.t, p.model.virtual.Cmp(order.now.units()), "virtual time")
	for key, s := range p.model.tenants {
		one := order.tenants[key]
		if one == nil || s.start.Cmp(one.start.units()) != 0 || len(s.queue) != one.waiters || (s.claim > 0) != (one.standing == claiming) {
			p.t.Fatalf("tenant %d is %+v, want %+v", key, one, s)
		}
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
	const operations, each = 110_000, 300
	seeds := uint64(operations/each + 1)
	if testing.Short() {
		seeds /= 10
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { randomCalls(t, rand.New(rand.NewPCG(seed, 5)), each) })
	}
}

// randomCalls makes so many calls on a pair, of a mix that is drawn too.
func randomCalls(t *testing.T, rnd *rand.Rand, calls int) {
	t.Helper()
	burst := 1 + rnd.Int64N(8)
	p := newPair(t, burst, time.Duration(rnd.IntN(2000)))
	tenants := 1 + rnd.IntN(12)
	waits, takes := rnd.IntN(8), rnd.IntN(8)
	for range calls {
		tenant, n := rnd.IntN(tenants), 1+rnd.Int64N(burst)
		switch op := rnd.IntN(4 + waits + takes); {
		case op == 0 && len(p.waiting) > 0:
			p.cancel(rnd.IntN(len(p.waiting)))
		case op == 1 && rnd.IntN(2) == 0:
			p.setWeight(tenant, 1+rnd.Int64N(5))
		case op == 1:
			p.setWeight(tenant, int64(anyWeight(rnd)))
		case op < 4:
			p.moveTo(p.clock.Now() + time.Duration(rnd.IntN(1500)))
		case op < 4+waits:
			p.wait(tenant, n)
		default:
			p.take(tenant, n)
		}
		p.compare()
	}
}

// FuzzEqualsReference does the same with calls from the fuzzer.
func FuzzEqualsReference(f *testing.F) {
	f.Add([]byte("\x00\x07the quick brown fox jumps over the lazy dog, and again and again"))
	f.Add([]byte{3, 200, 0, 9, 4, 1, 9, 5, 2, 90, 3, 4, 2, 77, 1, 0, 0, 5, 4, 3, 3, 250, 250, 250, 2, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func() int {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return int(b)
		}
		burst := 1 + int64(next()%8)
		p := newPair(t, burst, time.Duration(10*next()))
		for range min(len(data), 300) {
			op, tenant, n := next(), next()%8, 1+int64(next())%burst
			switch op % 5 {
			case 0:
				p.wait(tenant, n)
			case 1:
				p.take(tenant, n)
			case 2:
				p.moveTo(p.clock.Now() + time.Duration(8*next()))
			case 3:
				p.setWeight(tenant, 1+int64(next())<<(next()%24))
			case 4:
				if len(p.waiting) > 0 {
					p.cancel(next() % len(p.waiting))
				}
			}
			p.compare()
		}
	})
}
