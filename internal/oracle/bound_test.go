package oracle_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/oracle"
)

func TestBound(t *testing.T) {
	cases := []struct {
		name        string
		tokens      int64
		per         time.Duration
		burst       int64
		admissions  []oracle.Admission
		errContains string
	}{
		{"nothing", 1, 1, 0, nil, ""},
		{"burst at once", 1, 10, 3, []oracle.Admission{{5, 1}, {5, 2}}, ""},
		{"more than burst at once", 1, 10, 3, []oracle.Admission{{5, 1}, {5, 2}, {5, 1}}, "4 permits admitted from 5 ns to 5 ns in 3 calls"},
		{"one call above burst", 1, 10, 3, []oracle.Admission{{0, 4}}, "at most 3.000000000"},
		{"due to the nanosecond", 1, 10, 1, []oracle.Admission{{0, 1}, {10, 1}, {20, 1}}, ""},
		{"1 ns early", 1, 10, 1, []oracle.Admission{{0, 1}, {10, 1}, {19, 1}}, "permits admitted from"},
		{"names where it begins", 1, 10, 1, []oracle.Admission{{0, 1}, {100, 1}, {105, 1}}, "2 permits admitted from 100 ns to 105 ns in 2 calls"},
		{"fractions add up", 2, 3, 2, []oracle.Admission{{0, 2}, {2, 1}, {3, 1}}, ""},
		{"fractions add up to no more", 2, 3, 2, []oracle.Admission{{0, 2}, {2, 1}, {3, 1}, {4, 1}}, "5 permits admitted from 0 ns to 4 ns in 4 calls: at most 4.666666667"},
		{"rate 0", 0, 1, 2, []oracle.Admission{{0, 1}, {math.MaxInt64, 1}}, ""},
		{"rate 0, too much", 0, 1, 2, []oracle.Admission{{0, 1}, {5, 1}, {math.MaxInt64, 1}}, "3 permits admitted from 0 ns"},
		{"any order", 1, 10, 1, []oracle.Admission{{20, 1}, {0, 1}, {10, 1}}, ""},
		{"the whole of time", 1, math.MaxInt64, 1, []oracle.Admission{{math.MinInt64, 1}, {-1, 1}, {math.MaxInt64 - 1, 1}}, ""},
		{"the whole of time, 1 ns early", 1, math.MaxInt64, 1, []oracle.Admission{{math.MinInt64, 1}, {-2, 1}}, "2 permits admitted from -9223372036854775808 ns to -2 ns"},
		{"negative", 1, 1, 1, []oracle.Admission{{0, -1}}, "negative"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := oracle.Bound(c.tokens, c.per, c.burst, c.admissions)
			if c.errContains == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.errContains)
		})
	}
}

// everyInterval is Bound by its definition: all pairs.
func everyInterval(tokens int64, per time.Duration, burst int64, sorted []oracle.Admission) bool {
	for i := range sorted {
		for k := i; k < len(sorted); k++ {
			var sum int64
			for _, a := range sorted {
				if sorted[i].At <= a.At && a.At <= sorted[k].At {
					sum += a.N
				}
			}
			bound := big.NewRat(tokens*(sorted[k].At-sorted[i].At), int64(per))
			bound.Add(bound, new(big.Rat).SetInt64(burst))
			if new(big.Rat).SetInt64(sum).Cmp(bound) > 0 {
				return false
			}
		}
	}
	return true
}

// TestBoundEqualsTheDefinition compares the pass over the log with all pairs of
// admissions, on logs of which about half are lawful.
func TestBoundEqualsTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	lawful := 0
	const rounds = 3000
	for range rounds {
		tokens, per, burst := 1+rng.Int64N(4), time.Duration(1+rng.Int64N(9)), rng.Int64N(7)
		var log []oracle.Admission
		at := -rng.Int64N(40)
		for range 1 + rng.IntN(6) {
			at += rng.Int64N(8)
			log = append(log, oracle.Admission{At: at, N: rng.Int64N(4)})
		}
		want := everyInterval(tokens, per, burst, log)
		err := oracle.Bound(tokens, per, burst, log)
		require.Equal(t, want, err == nil, "%d per %d, burst %d: %v: %v", tokens, int64(per), burst, log, err)
		if want {
			lawful++
		}
	}
	require.Greater(t, lawful, rounds/5)
	require.Less(t, lawful, rounds*4/5)
}

// TestBucketKeepsTheBound: what the model admits is lawful, and the model
// admits as much as is lawful: one permit more right after a denial is not.
func TestBucketKeepsTheBound(t *testing.T) {
	const tokens, per, burst = 3, 7, 5
	rng := rand.New(rand.NewPCG(7, 8))
	m, now := oracle.NewTokenBucket(tokens, per, burst), int64(-50)
	var log []oracle.Admission
	for range 1000 {
		now += rng.Int64N(5)
		n := 1 + rng.Int64N(burst)
		allowed, _ := m.Take(now, n)
		with := slices.Concat(log, []oracle.Admission{{At: now, N: n}})
		err := oracle.Bound(tokens, per, burst, with)
		require.Equal(t, allowed, err == nil, "%d at %d ns: %v", n, now, err)
		if allowed {
			log = with
		}
	}
}
