//go:build unix

package redis

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
)

// doubles packs numbers as the scripts do.
func doubles(numbers ...float64) string {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n))
	}
	return string(b)
}

// strangers are values of the length of ours that hold no numbers of ours.
func strangers(window float64) map[string][]string {
	nan, inf := math.NaN(), math.Inf(1)
	var fixed, sliding, fraction []string
	for _, bad := range []float64{nan, inf, -inf, -1000, 1.5, 1e300, -1e300, 5e-324} {
		for i := range 2 {
			fixed = append(fixed, doubles(window+float64(i), bad))
			sliding = append(sliding, doubles(window+float64(i), 0, bad), doubles(window+float64(i), bad, 0))
		}
		sliding = append(sliding, doubles(window-1, 0, bad))
		fraction = append(fraction, doubles(bad)+"\x01\x00\x00\x00")
	}
	fraction = append(fraction, doubles(4e15)+"\xff\xff\xff\xff")
	number := []string{"inf", "-inf", "nan", "-nan", "1e300", "99999999999999999999", "0x7fffffffffffffff", "4e15.5", "4000000000000000.5", "-4e15"}
	return map[string][]string{
		"fixed": append(fixed, doubles(inf, 3), doubles(nan, 3), doubles(window+0.5, 3)), "sliding": append(sliding, doubles(inf, 3, 3), doubles(nan, 3, 3)),
		"number": number, "fraction": fraction,
		"no refill": append(number, "-1000", "-1", "1.5", "6", "1000", "0x10"),
	}
}

// TestForeignValues: what is not made of numbers of ours counts as nothing, though it is as long: neither does it
// refuse anybody, nor does it admit more than the limit, by calls for one permit and for what there is.
func TestForeignValues(t *testing.T) {
	const capacity, year = 1_000_000, 365 * 24 * time.Hour
	p := alone(t)
	s, node := byRueidis(t, nil, p.addrs...), p.masters()[0]
	limits := map[string]engine.Limit{
		"fixed": engine.FixedWindow(capacity, year), "sliding": engine.SlidingWindow(capacity, year),
		"number":    engine.TokenBucket(engine.Rate{Tokens: 1, Per: aDay}, 50),
		"fraction":  engine.TokenBucket(engine.Rate{Tokens: 7, Per: aDay + time.Microsecond}, 50),
		"no refill": only(5),
	}
	lengths := map[string]int{"fixed": 16, "sliding": 24, "number": 16, "fraction": 12, "no refill": 4}
	rnd := rand.New(rand.NewPCG(8, 1))
	window := math.Floor(float64(serverTime(t, node)) / float64(year))
	for name, values := range strangers(window) {
		t.Run(name, func(t *testing.T) {
			l := limiter(t, s, limits[name], patient())
			all := limits[name].Capacity()
			text := func() byte { return byte('a' + rnd.IntN(26)) } // read as a number it is huge
			for range 100 {
				values = append(values, strings.Map(func(rune) rune { return rune(text()) }, strings.Repeat("x", lengths[name])))
			}
			for _, value := range values {
				node.Must(t, "SET", l.Key("key"), value)
				d, err := l.Take(t.Context(), "key", 1)
				require.NoError(t, err)
				require.True(t, d.Allowed, "%q refuses", value)
				require.Equal(t, all-1, d.Remaining, "%q", value)
				_, taken, err := l.TakeUpTo(t.Context(), "key", 1, all)
				require.NoError(t, err)
				require.Equal(t, all-1, taken, "%q", value)
				d, err = l.Take(t.Context(), "key", 1)
				require.NoError(t, err)
				require.False(t, d.Allowed, "%q admits more", value)

				node.Must(t, "SET", l.Key("key"), value) // the first to meet it wants a part
				_, taken, err = l.TakeUpTo(t.Context(), "key", 1, all)
				require.NoError(t, err)
				require.Equal(t, all, taken, "%q", value)
			}
			require.Zero(t, l.Stats().Mismatches)
		})
	}
}

// TestAnyValue: whatever bytes stand under a key, no more than the limit passes, and each call gets an answer.
func TestAnyValue(t *testing.T) {
	const year = 365 * 24 * time.Hour
	p := alone(t)
	s, node := byRueidis(t, nil, p.addrs...), p.masters()[0]
	rnd := rand.New(rand.NewPCG(8, 2))
	for i, limit := range []engine.Limit{
		engine.FixedWindow(5, year), engine.SlidingWindow(5, year), only(5),
		engine.TokenBucket(engine.Rate{Tokens: 1, Per: year}, 5), engine.TokenBucket(engine.Rate{Tokens: 7, Per: year + time.Microsecond}, 5),
	} {
		l := limiter(t, s, limit, patient())
		for range 300 {
			value := make([]byte, []int{16, 24, 1 + rnd.IntN(3), 16, 12}[i])
			for j := range value {
				if value[j] = byte(rnd.Uint32()); i == 2 || i == 3 {
					value[j] = "0123456789.-+ex"[rnd.IntN(15)]
				}
			}
			key := fmt.Sprint("key", rnd.IntN(2))
			node.Must(t, "SET", l.Key(key), string(value))
			passed := int64(0)
			for range 3 {
				_, taken, err := l.TakeUpTo(t.Context(), key, 1, 3)
				require.NoError(t, err)
				passed += taken
			}
			require.LessOrEqual(t, passed, int64(5), "%v: %q", limit, value)
		}
		require.Zero(t, l.Stats().Mismatches)
	}
}
