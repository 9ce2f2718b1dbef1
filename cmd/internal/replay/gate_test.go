package replay

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
)

func limitBy(t *testing.T, name, key string, limit engine.Limit) Limit {
	t.Helper()
	spec, err := ParseKey(key, 64)
	require.NoError(t, err)
	return Limit{Name: name, Engine: limit, Key: spec}
}

// A request that one limit refuses is not charged to the others, whatever
// their order, and is denied by each that refuses it.
func TestSeveralLimitsAreAllOrNothing(t *testing.T) {
	from := func(host, path string, second int) string {
		return strings.Replace(logLine(host, second), "GET /", "GET "+path, 1)
	}
	log := from("192.0.2.1", "/a", 0) + // allowed: 1 of 2 for the client, 1 of 1 for /a
		from("192.0.2.1", "/a", 1) + // /a denies: the client keeps its second
		from("192.0.2.1", "/b", 2) + // allowed: 2 of 2 for the client
		from("192.0.2.1", "/c", 3) + // the client denies: /c keeps its one
		from("192.0.2.2", "/c", 4) + // allowed
		from("192.0.2.1", "/c", 5) // both deny
	perIP := limitBy(t, "ip", "client_ip", engine.SlidingLog(2, time.Hour))
	perPath := limitBy(t, "path", "path", engine.FixedWindow(1, time.Hour))
	for _, swapped := range []bool{false, true} {
		list := []Limit{perIP, perPath}
		ip, path := 0, 1
		if swapped {
			list, ip, path = []Limit{perPath, perIP}, 1, 0
		}
		rep := run(t, options(t, log, func(o *Options) { o.Limits = list }))
		assert.Equal(t, 3, rep.Allowed)
		assert.Equal(t, 3, rep.Denied)
		assert.Equal(t, []KeyTally{{"192.0.2.1", 5, 2}}, rep.Limits[ip].Top(9))
		assert.Equal(t, []KeyTally{{"/a", 2, 1}, {"/c", 3, 1}}, rep.Limits[path].Top(9))
		assert.Equal(t, []int{2, 2}, []int{rep.Limits[ip].Denied, rep.Limits[path].Denied})
		assert.Equal(t, []int{2, 3}, []int{rep.Limits[ip].Keys(), rep.Limits[path].Keys()})
		whole := map[bool][]KeyTally{false: {{"192.0.2.1", 5, 3}}, true: {{"/c", 3, 2}, {"/a", 2, 1}}}
		assert.Equal(t, whole[swapped], rep.Top(9), "by the first key, denied by any")
	}
}

// Limits with the same key number it once, others each for itself.
func TestLimitsShareKeyrings(t *testing.T) {
	any1 := engine.PerSecond(1)
	keys := newKeyrings([]Limit{
		limitBy(t, "a", "client_ip", engine.GCRA(any1, 1)), limitBy(t, "b", "path", engine.GCRA(any1, 1)),
		limitBy(t, "c", "client_ip", engine.GCRA(any1, 2)), limitBy(t, "d", "client_ip,path", engine.GCRA(any1, 1)),
	})
	assert.Equal(t, []int{0, 1, 0, 2}, keys.of)
	assert.Len(t, keys.rings, 3)
}

// The bound on held lines counts lines, not keys.
func TestOrderOfSeveralKeys(t *testing.T) {
	o := newOrderer(time.Hour, 2, 3)
	for i := range uint32(3) {
		require.Nil(t, o.next(false), "%d lines are held", i)
		o.add(int64(i), []uint32{i, 10 + i, 20 + i})
	}
	s := o.next(false)
	require.NotNil(t, s)
	assert.Equal(t, []uint32{0, 10, 20}, s.keys)
	assert.Equal(t, 2, o.held)
	assert.Nil(t, o.next(false))
}

// Of two queues each says its own waits, of what all limits let pass.
func TestDelaysOfQueues(t *testing.T) {
	log := strings.Repeat(logLine("192.0.2.1", 0), 5) + logLine("192.0.2.1", 1)
	rep := run(t, options(t, log, func(o *Options) {
		o.Limits = []Limit{
			limitBy(t, "slow", "client_ip", engine.LeakyQueue(engine.PerSecond(1), 3)),
			limitBy(t, "fast", "client_ip", engine.LeakyQueue(engine.PerSecond(4), 9)),
			limitBy(t, "meter", "client_ip", engine.LeakyBucket(engine.PerSecond(1), 5)),
		}
	}))
	assert.Equal(t, 4, rep.Allowed, "three at 0 s, one at 1 s")
	slow, fast := rep.Limits[0], rep.Limits[1]
	assert.Equal(t, 3, slow.Delayed, "all but the first")
	assert.Equal(t, 2*time.Second, slow.Max)
	assert.Equal(t, 5*time.Second/3, slow.Mean(), "1 s, 2 s, 2 s")
	assert.Equal(t, 2, fast.Delayed, "none at 1 s")
	assert.Equal(t, 500*time.Millisecond, fast.Max)
	assert.Equal(t, 375*time.Millisecond, fast.Mean())
	assert.Equal(t, Delays{}, rep.Limits[2].Delays)
}

func TestDelaysDoNotOverflow(t *testing.T) {
	var d Delays
	assert.Zero(t, d.Mean())
	for range 5 {
		d.count(math.MaxInt64)
	}
	d.count(0)
	d.count(math.MaxInt64 - 6)
	assert.Equal(t, 6, d.Delayed)
	assert.Equal(t, time.Duration(math.MaxInt64-1), d.Mean())
}
