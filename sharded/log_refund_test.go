package sharded

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLogRefund(t *testing.T) {
	limit := LogLimit{Limit: 5, WindowNanos: 10}
	g := NewLogs[string]()
	first := g.Take("key", limit, 2, logAt(100))
	require.Equal(t, LogDecision{true, false, 3, 0, 10, 100, 1}, first)
	second := g.Take("key", limit, 3, logAt(97))
	require.Equal(t, LogDecision{true, false, 0, 0, 10, 100, 1}, second, "the effective time is that of the first")
	third := g.Peek("key", limit, 0, 100)
	assert.Zero(t, third.Generation, "a peek charges nothing")

	assert.False(t, g.Refund("other", 1, 100, 1, 100))
	assert.False(t, g.Refund("key", 0, 100, 1, 100), "the generation of a denied take")
	assert.False(t, g.Refund("key", 2, 100, 1, 100))
	assert.False(t, g.Refund("key", 1, 99, 1, 100))
	assert.False(t, g.Refund("key", 1, 101, 1, 100))
	assert.False(t, g.Refund("key", 1, 100, 0, 100))
	assert.False(t, g.Refund("key", 1, 100, -1, 100))
	assert.False(t, g.Refund("key", 1, 100, 6, 100), "more than the entry holds")
	assert.False(t, g.Refund("key", 1, 100, 1, 110), "it does not count any more")
	assert.Equal(t, deniedAs(0, 10, 10), g.Take("key", limit, 1, logAt(100)), "none of them changed anything")

	assert.True(t, g.Refund("key", 1, 100, 3, 109))
	assert.Equal(t, deniedAs(3, 10, 10), g.Peek("key", limit, 4, 100))
	assert.True(t, g.Refund("key", 1, 100, 2, 0), "an older time than the key has seen")
	assert.Equal(t, allowedAs(5, 0), g.Peek("key", limit, 5, 100))
	assert.False(t, g.Refund("key", 1, 100, 1, 100), "nothing is left of it")
	assert.True(t, g.Has("key"), "the time that it saw is kept")
	assert.Equal(t, 1, g.Sweep(100, nil))
}

// TestLogRefundLeavesOthers: younger entries keep their times, whether entries
// hold one permit or several.
func TestLogRefundLeavesOthers(t *testing.T) {
	for _, n := range []int64{1, 2} {
		limit := LogLimit{Limit: 4 * n, WindowNanos: 100}
		g := NewLogs[string]()
		for at := range int64(4) {
			g.Take("key", limit, n, logAt(at*10))
		}
		g.Take("key", limit, n, logAt(100)) // the ring has turned
		require.True(t, g.Refund("key", 1, 20, n, 100))
		assert.Equal(t, deniedAs(n, 10, 100), g.Peek("key", limit, n+1, 100))
		assert.Equal(t, deniedAs(n, 30, 100), g.Peek("key", limit, 2*n+1, 100))
		assert.Equal(t, deniedAs(n, 100, 100), g.Peek("key", limit, 3*n+1, 100))
		assert.False(t, g.Refund("key", 1, 20, n, 100))
		assert.True(t, g.Refund("key", 1, 30, n, 100))
		assert.Equal(t, allowedAs(0, 100), withoutCharge(g.Take("key", limit, 2*n, logAt(101))))
	}
}

// TestLogRefundOnlyToTheSameLog: a refund must not eat permits that were charged
// after a reset, a sweep or a move, at the very same time.
func TestLogRefundOnlyToTheSameLog(t *testing.T) {
	limit := LogLimit{Limit: 2, WindowNanos: 10}
	ends := map[string]func(g *Logs[string]){
		"reset": func(g *Logs[string]) { g.Reset("key") },
		"sweep": func(g *Logs[string]) { require.Equal(t, 1, g.Sweep(100, nil)) },
		"move": func(g *Logs[string]) {
			used, _ := g.Evacuate("key", 5)
			g.Settle("key", limit, used, 0, 5)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			g := NewLogs[string]()
			d := g.Take("key", limit, 1, logAt(5))
			end(g)
			g.Take("key", limit, 1, logAt(5))
			assert.False(t, g.Refund("key", d.Generation, d.AtNanos, 1, 5))
			g.Take("key", limit, 1, logAt(5))
			assert.False(t, g.Peek("key", limit, 1, 5).Allowed, "two are charged")
		})
	}
}

// TestLogRefundUnderAnotherLimit: what has expired under the window that the log
// was under is gone, and cannot be given back under a longer one.
func TestLogRefundUnderAnotherLimit(t *testing.T) {
	short, long := LogLimit{Limit: 3, WindowNanos: 10}, LogLimit{Limit: 3, WindowNanos: 100}
	g := NewLogs[string]()
	g.Take("key", short, 1, logAt(0))
	g.Take("key", short, 1, logAt(5))
	g.Take("key", long, 1, logAt(12))
	assert.False(t, g.Refund("key", 1, 0, 1, 12))
	assert.True(t, g.Refund("key", 1, 5, 1, 104), "the window is long now")
	assert.False(t, g.Take("key", short, 3, logAt(21)).Allowed)
	assert.False(t, g.Refund("key", 1, 12, 1, 22))
}

// TestLogRefundKeepsTheBound: of what was not given back, at most the limit falls
// in any window.
func TestLogRefundKeepsTheBound(t *testing.T) {
	limit := LogLimit{Limit: 6, WindowNanos: 40}
	rng := rand.New(rand.NewPCG(21, 22))
	g, now, given, refused := NewLogs[string](), int64(0), 0, 0
	var held []logCharge
	for range 5000 {
		now += rng.Int64N(9)
		n := 1 + rng.Int64N(3)
		if d := g.Take("key", limit, n, logAt(now)); d.Allowed {
			held = append(held, logCharge{generation: d.Generation, at: d.AtNanos, n: n})
		}
		if i := len(held) - 1 - rng.IntN(8); i >= 0 && rng.IntN(3) == 0 {
			c := &held[i]
			n := 1 + rng.Int64N(3)
			switch back := g.Refund("key", c.generation, c.at, min(n, c.n), now); {
			case back:
				c.n -= min(n, c.n)
				given++
			case c.n > 0:
				require.GreaterOrEqual(t, now-c.at, limit.WindowNanos, "refused though it counts")
				refused++
			}
		}
	}
	for i, from := range held {
		sum := int64(0)
		for _, c := range held[i:] {
			if c.at-from.at < limit.WindowNanos {
				sum += c.n
			}
		}
		require.LessOrEqual(t, sum, limit.Limit, "from %d", from.at)
	}
	assert.Greater(t, given, 500)
	assert.Greater(t, refused, 50)
}
