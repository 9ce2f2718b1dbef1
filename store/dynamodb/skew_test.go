package dynamodb

import (
	"math/big"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// dated answers a request that was sent now by a clock that is ahead by lead, and takes the server trip to come.
func dated(s *skew, lead, trip time.Duration) {
	began := time.Now()
	date := began.Add(trip / 2).UTC().Format(http.TimeFormat)
	time.Sleep(trip)
	s.observe(began, since1970(began)+lead, since1970(time.Now())+lead, date)
}

func since1970(t time.Time) time.Duration { return time.Duration(t.UnixNano()) }

// TestSkewIsBounded: the bounds hold the truth after each answer, and come close to it after some.
func TestSkewIsBounded(t *testing.T) {
	for _, lead := range []time.Duration{0, 700 * time.Millisecond, -2 * time.Second, 3 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := &skew{most: DefaultMaxSkew}
			rnd := rand.New(rand.NewPCG(1, 2))
			require.False(t, s.fresh(since1970(time.Now())))
			require.ErrorIs(t, s.refuses(), ErrSkew)
			for range 200 {
				dated(s, lead, time.Duration(rnd.Int64N(int64(20*time.Millisecond))))
				low, high, ok := s.measured()
				require.True(t, ok)
				require.LessOrEqual(t, low, lead)
				require.GreaterOrEqual(t, high, lead)
				time.Sleep(time.Duration(rnd.Int64N(int64(300 * time.Millisecond))))
			}
			low, high, _ := s.measured()
			require.Less(t, high-low, 200*time.Millisecond)
			require.Equal(t, lead > time.Second || lead < -time.Second, s.refuses() != nil)
		})
	}
}

// TestSkewIsMeasuredAgain: a measurement is not relied on when it is old, when the clock was set since, and
// not for long when it is bad; after the clock was set the old bounds do not count.
func TestSkewIsMeasuredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &skew{most: DefaultMaxSkew}
		fresh := func(lead time.Duration) bool { return s.fresh(since1970(time.Now()) + lead) }
		dated(s, 0, time.Millisecond)
		require.True(t, fresh(0))
		require.True(t, fresh(skewStep))
		require.False(t, fresh(2*skewStep), "set forward")
		require.False(t, fresh(-2*skewStep), "set back")
		time.Sleep(skewStale)
		require.False(t, fresh(0), "old")
		dated(s, 5*time.Minute, time.Millisecond)
		require.ErrorIs(t, s.refuses(), ErrSkew)
		require.True(t, fresh(5*time.Minute), "just looked at")
		time.Sleep(skewAgain)
		require.False(t, fresh(5*time.Minute))
		dated(s, 0, time.Millisecond)
		require.NoError(t, s.refuses(), "set right")
		s.observe(time.Now(), since1970(time.Now()), since1970(time.Now())-time.Second, time.Now().UTC().Format(http.TimeFormat))
		require.ErrorContains(t, s.refuses(), "while it was being compared")
		dated(s, 0, time.Millisecond)
		require.NoError(t, s.refuses())
		s.observe(time.Now(), 0, 0, "")
		require.ErrorContains(t, s.refuses(), "no usable Date")
		dated(s, 0, time.Millisecond)
		require.NoError(t, s.refuses())
	})
}

// TestSkewThatGrows: a clock that goes wrong slowly is found as soon as no old bound hides it.
func TestSkewThatGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, found := &skew{most: DefaultMaxSkew}, time.Duration(0)
		for lead := time.Duration(0); lead < 3*time.Second; lead += time.Millisecond { // 10 ms in a second: far more than clocks do
			dated(s, lead, time.Millisecond)
			if low, high, _ := s.measured(); low > lead || high < lead-600*time.Millisecond {
				t.Fatalf("ahead by %v, measured %v to %v", lead, low, high)
			}
			if found == 0 && s.refuses() != nil {
				found = lead
			}
			time.Sleep(100 * time.Millisecond)
		}
		require.Greater(t, found, DefaultMaxSkew)
		require.Less(t, found, 2*time.Second+DefaultMaxSkew)
	})
}

// TestWeights: what a count weighs, and what weighs that much, against rational numbers.
func TestWeights(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		window := 1 + rnd.Int64N(1<<uint(1+rnd.IntN(50)))
		left := 1 + rnd.Int64N(window)
		count := rnd.Int64N(1 << 27)
		exact := new(big.Int).Mul(big.NewInt(count), big.NewInt(left))
		exact.Add(exact, big.NewInt(window-1)).Div(exact, big.NewInt(window))
		require.Equal(t, exact.Int64(), weight(count, left, window))
		most := weighing(count, left, window)
		require.LessOrEqual(t, weight(min(most, 1<<50), left, window), count)
		if most < maxFloat {
			require.Greater(t, weight(most+1, left, window), count)
		}
	}
	require.Equal(t, int64(-1), weighing(-1, 1, 2))
}

// TestParseInteger: numbers as servers write them, and such as nobody should.
func TestParseInteger(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-7": "-7", "12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
		"1.5e3": "1500", "100.000": "100", "1E+20": "100000000000000000000",
	} {
		n, ok := parseInteger(text)
		require.True(t, ok, text)
		require.Equal(t, want, n.String())
	}
	for _, text := range []string{"", "x", "1.5", "1e-3", "1e999999999", "1e100000", "0x10"} {
		_, ok := parseInteger(text)
		require.False(t, ok, text)
	}
}
