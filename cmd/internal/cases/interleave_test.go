package cases

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
)

// In every order each copy makes its calls as the case does: all of them, in
// order, and with the same latest time before each.
func TestInterleavingsShowEachCopyWhatTheCaseSees(t *testing.T) {
	source, stepsBack := NewRandom(9), 0
	for range 100 {
		c := source.Next(20)
		var alone []int64 // latest time before each call
		latest := int64(math.MinInt64)
		for _, call := range c.Calls {
			alone = append(alone, latest)
			if *call.AtNanos < latest {
				stepsBack++
			}
			latest = max(latest, *call.AtNanos)
		}
		for orders := range 7 {
			all := interleavings(c, orders)
			require.Len(t, all, orders)
			for _, order := range all {
				copies := max(2, orders)
				require.Len(t, order.turns, copies*len(c.Calls))
				next, latest := make([]int, copies), int64(math.MinInt64)
				for _, turn := range order.turns {
					require.Equal(t, next[turn.copy], turn.call, order.name)
					next[turn.copy]++
					at := *c.Calls[turn.call].AtNanos
					// Copies that were here before have brought the time of this call, no later one.
					if latest != max(alone[turn.call], at) {
						require.Equal(t, alone[turn.call], latest, order.name)
					}
					latest = max(latest, at)
				}
			}
		}
	}
	assert.Greater(t, stepsBack, 50)
}

func calls(t *testing.T, times ...int64) Case {
	t.Helper()
	var list []string
	for _, at := range times {
		list = append(list, fmt.Sprintf(`{"t_ns": %d, "key": "a", "n": 1, "want_allow": true}`, at))
	}
	return parsed(t, `{"id": "x", "algorithm": "sliding_log", "limit": {"limit": 9, "window_ns": 1}, "calls": [`+strings.Join(list, ",")+`]}`)
}

func TestInterleavings(t *testing.T) {
	// Calls 0 and 1 share a time, 3 steps back.
	got := map[string][]string{}
	for _, order := range interleavings(calls(t, 5, 5, 7, 6), 3) {
		for _, turn := range order.turns {
			got[order.name] = append(got[order.name], fmt.Sprintf("%c%d", 'a'+turn.copy, turn.call))
		}
	}
	assert.Equal(t, map[string][]string{
		"copy after copy": {"a0", "a1", "b0", "b1", "c0", "c1", "a2", "b2", "c2", "a3", "b3", "c3"},
		"copies reversed": {"c0", "c1", "b0", "b1", "a0", "a1", "c2", "b2", "a2", "c3", "b3", "a3"},
		"round robin":     {"a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"},
	}, got)
}

func TestInterleavingsAreAllDifferentAndAlwaysTheSame(t *testing.T) {
	c := calls(t, 1, 1, 1, 2, 2, 3, 1, 1)
	first, again := interleavings(c, 8), interleavings(c, 8)
	assert.Equal(t, first, again)
	for i, order := range first {
		for _, other := range first[:i] {
			assert.NotEqual(t, other.name, order.name)
			assert.False(t, slices.Equal(other.turns, order.turns), "%s and %s", other.name, order.name)
		}
	}
	assert.Equal(t, "shuffled", first[3].name)
	assert.Equal(t, "shuffled (2)", first[4].name)
}

func TestCopiesHaveKeysOfTheirOwn(t *testing.T) {
	c := calls(t, 1, 2, 3, 4)
	for i, key := range []string{"", "~2", "a", "a~~12"} {
		c.Calls[i].Key = &key
	}
	keys := map[string]bool{}
	for i, suffix := range copySuffixes(c, 25) {
		assert.Equal(t, i == 0, suffix == "")
		for _, call := range c.Calls {
			keys[*call.Key+suffix] = true
		}
	}
	assert.Len(t, keys, 25*len(c.Calls))
}

// mixed is a limiter of the engine whose keys are not kept apart.
type mixed struct {
	Limiter
	key func(key string) string
}

func (m mixed) TakeAt(now time.Duration, key string, n int64) engine.Decision {
	return m.Limiter.TakeAt(now, m.key(key), n)
}

// ordersThatFail runs a case with its keys confused and lists what goes red.
func ordersThatFail(t *testing.T, orders int, key func() func(key string) string) (red []string) {
	t.Helper()
	c := calls(t, 0, 0)
	*c.Limit.Limit = 2
	for _, m := range Judge(c, func(spec limits.Spec) (Limiter, error) {
		l, err := Engine(spec)
		return mixed{l, key()}, err
	}, orders) {
		red = append(red, m.Order)
	}
	return red
}

// A limiter that is right for each key alone and wrong for keys together passes
// without interleaving and fails with it; an order can be the only one that
// sees it.
func TestInterleavingSeesKeysThatAreNotApart(t *testing.T) {
	oneKey := func() func(string) string {
		return func(string) string { return "one" }
	}
	assert.Empty(t, ordersThatFail(t, 0, oneKey))
	assert.Equal(t, []string{"copy after copy"}, ordersThatFail(t, 1, oneKey))
	assert.Equal(t, []string{"copy after copy", "copies reversed", "round robin", "shuffled"}, ordersThatFail(t, 4, oneKey))

	// The fault: another key's call right after the first two of the case goes to the case.
	copyFirst := func() func(string) string {
		last, before := "", ""
		return func(key string) string {
			mine := key
			if last == "a" && before == "a" && key != "a" {
				mine = "a"
			}
			before, last = last, key
			return mine
		}
	}
	assert.Equal(t, []string{"copy after copy"}, ordersThatFail(t, 3, copyFirst))
}

func TestMismatchNamesTheOrder(t *testing.T) {
	c := calls(t, 0, 0)
	*c.Limit.Limit = 3
	got := Judge(c, func(spec limits.Spec) (Limiter, error) {
		l, err := Engine(spec)
		return oneKey{l}, err
	}, 3)
	require.Len(t, got, 3)
	assert.Equal(t, `FAIL x (sliding_log) in the order "copy after copy" copy 2 call 2: got denied, retry-after 1ns; want allowed`, got[0].String())
	assert.Equal(t, `FAIL x (sliding_log) in the order "copies reversed" copy 2 call 2: got denied, retry-after 1ns; want allowed`, got[1].String())
	assert.Equal(t, `FAIL x (sliding_log) in the order "round robin" copy 1 call 2: got denied, retry-after 1ns; want allowed`, got[2].String())
}

// What fails alone is not said again for each order.
func TestInterleavingOfAFailure(t *testing.T) {
	wrong := strings.Replace(good, `"want_allow": true}]`, `"want_allow": false}]`, 1)
	assert.Len(t, Judge(parsed(t, wrong), Engine, 4), 2)
}
