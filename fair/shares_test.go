package fair

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/stretchr/testify/require"
)

// jain is Jain's index of fairness: 1 if all are equal, 1/len if one has all.
func jain(x []float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += v * v
	}
	return sum * sum / (float64(len(x)) * squares)
}

// counts is how much each tenant was granted before each grant: a window is a difference of two.
func counts(all []served, tenant string) []int64 {
	sums := make([]int64, 1, len(all)+1)
	for _, one := range all {
		last := sums[len(sums)-1]
		if one.tenant == tenant {
			last += one.n
		}
		sums = append(sums, last)
	}
	return sums
}

// worstWindow returns how far any window of length grants is from a tenant's share of it, in permits.
func worstWindow(all []served, tenant string, share float64, length int) (worst float64) {
	own, total := counts(all, tenant), make([]int64, 1, len(all)+1)
	for _, one := range all {
		total = append(total, total[len(total)-1]+one.n)
	}
	for i := 0; i+length < len(own); i++ {
		got, of := own[i+length]-own[i], total[i+length]-total[i]
		worst = max(worst, math.Abs(float64(got)-share*float64(of)))
	}
	return worst
}

var oneTwoFive = map[string]int64{"one": 1, "two": 2, "five": 5}

// TestEveryWindowIsShared: weights 1, 2 and 5, each of the three flooding at a hundred times its
// share in turn. In every window of 100 grants each has its share within one request.
func TestEveryWindowIsShared(t *testing.T) {
	for flooder := range oneTwoFive {
		s := newSim(t, engine.TokenBucket(engine.PerSecond(1000), 1), oneTwoFive)
		for len(s.served) < 3000 {
			for tenant, w := range oneTwoFive {
				if tenant == flooder { // in 8 grants it is due w, and asks for 100 w
					s.wait(tenant, 1, int(100*w)/8)
				} else {
					s.keep(tenant, 2)
				}
			}
			require.True(t, s.next(time.Hour))
		}
		all := s.served[1:] // but the burst, which nobody had to share
		var normalized []float64
		for tenant, w := range oneTwoFive {
			share := float64(w) / 8
			worst := worstWindow(all, tenant, share, 100)
			t.Logf("flooder %s, %s: at worst %.3f requests off its share of 100 grants", flooder, tenant, worst)
			require.LessOrEqual(t, worst, 1.0)
			normalized = append(normalized, float64(permits(all, tenant))/float64(w))
		}
		t.Logf("flooder %s: Jain's index %.9f", flooder, jain(normalized))
		require.Greater(t, jain(normalized), 0.999999)
		require.NoError(t, s.limiter.Close())
	}
}

// TestTheoremOfFairness: in every window of any length in which two tenants always wait, what they
// got by weight differs by at most one request of each: the first theorem of the paper, with
// requests of any size.
func TestTheoremOfFairness(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 6))
		weights, largest := map[string]int64{}, map[string]int64{}
		for i := range 5 {
			weights[fmt.Sprint(i)], largest[fmt.Sprint(i)] = 1+rnd.Int64N(9), 1+rnd.Int64N(8)
		}
		s := newSim(t, engine.TokenBucket(engine.PerSecond(1000), 8), weights)
		s.wait("0", 8, 1)
		for len(s.served) < 600 {
			for tenant, n := range largest {
				for len(s.queues[tenant]) < 2 {
					s.wait(tenant, 1+rnd.Int64N(n), 1)
				}
			}
			require.True(t, s.next(time.Hour))
		}
		all := s.served[1:]
		for a := range weights {
			for b := range weights {
				bound := float64(largest[a])/float64(weights[a]) + float64(largest[b])/float64(weights[b])
				requireClose(t, counts(all, a), counts(all, b), float64(weights[a]), float64(weights[b]), bound)
			}
		}
	}
}

// requireClose checks every window: the difference of what two got by weight is that of a walk, so
// the worst window is from its lowest to its highest point.
func requireClose(t *testing.T, a, b []int64, weightA, weightB, bound float64) {
	t.Helper()
	low, high := math.Inf(1), math.Inf(-1)
	for i := range a {
		walk := float64(a[i])/weightA - float64(b[i])/weightB
		low, high = min(low, walk), max(high, walk)
	}
	require.LessOrEqual(t, high-low, bound+1e-9)
}

// TestIdleSharesAreUsedAtOnce: whoever asks or falls silent, the limit grants all it can, each permit
// in its nanosecond.
func TestIdleSharesAreUsedAtOnce(t *testing.T) {
	const every, burst = 7 * time.Millisecond, 3
	rnd := rand.New(rand.NewPCG(1, 7))
	s := newSim(t, engine.TokenBucket(engine.Every(every), burst), oneTwoFive)
	s.wait("one", 1, burst)
	for i := 1; i <= 3000; i++ {
		if total := s.limiter.Len(); total < 3 {
			s.wait([]string{"one", "two", "five"}[rnd.IntN(3)], 1, 1+rnd.IntN(20)) // the others are idle
		}
		require.True(t, s.next(time.Hour))
		last := s.served[len(s.served)-1]
		require.Len(t, s.served, burst+i, "one at a time")
		require.Equal(t, time.Duration(i)*every, last.at)
	}
}

// TestIdleTenantSavesNothing: after a long silence a tenant has its share from then on, not what it
// left to others; one that was served alone for long owes nothing for it.
func TestIdleTenantSavesNothing(t *testing.T) {
	s := newSim(t, engine.TokenBucket(engine.PerSecond(1000), 1), map[string]int64{"busy": 1, "idle": 1})
	s.wait("idle", 1, 1)
	for range 5000 {
		s.keep("busy", 10)
		require.True(t, s.next(time.Hour))
	}
	before := len(s.served)
	for range 1000 {
		s.keep("busy", 10)
		s.keep("idle", 10)
		require.True(t, s.next(time.Hour))
		got := permits(s.served[before:], "idle") - permits(s.served[before:], "busy")
		require.LessOrEqual(t, got, int64(2))
		require.GreaterOrEqual(t, got, int64(-2))
	}
}

// TestNewWeightsHoldAtOnce: a change while all wait decides the next windows, for those in debt too.
func TestNewWeightsHoldAtOnce(t *testing.T) {
	s := newSim(t, engine.TokenBucket(engine.PerSecond(1000), 1), map[string]int64{"a": 1, "b": 1})
	round := func(a, b int64) {
		require.NoError(t, s.limiter.SetWeight("a", a))
		require.NoError(t, s.limiter.SetWeight("b", b))
		from := len(s.served)
		for range 1100 {
			s.keep("a", 3)
			s.keep("b", 3)
			require.True(t, s.next(time.Hour))
		}
		worst := worstWindow(s.served[from:], "a", float64(a)/float64(a+b), int(a+b))
		require.LessOrEqual(t, worst, 2.0, "weights %d and %d", a, b)
	}
	round(1, 1)
	round(1, 10)
	round(10, 1)
	round(1, 1000)
	round(1000, 1)
	round(1, 1)
	s.limiter.RemoveWeight("a")
	require.EqualValues(t, 1, s.limiter.Weight("a"))
	require.Equal(t, 1, s.limiter.Stats().Weights)
}

// TestRebase: the virtual clock is moved back from its end without a change of order.
func TestRebase(t *testing.T) {
	order := func(origin uint64) (who []string) {
		s := newSim(t, engine.TokenBucket(engine.PerSecond(1000), 1), oneTwoFive)
		s.wait("one", 1, 1)
		s.limiter.order.now = tag{origin, 0}
		for len(s.served) < 2000 {
			for _, tenant := range []string{"one", "two", "five"} {
				s.keep(tenant, 2)
			}
			s.limiter.Take("asks", 1)
			require.True(t, s.next(time.Hour))
		}
		for _, one := range s.served {
			who = append(who, one.tenant)
		}
		if origin > 0 {
			require.Less(t, s.limiter.order.now.whole, uint64(1000), "it was rebased")
		}
		return who
	}
	require.Equal(t, order(0), order(maxCost-100))
}
