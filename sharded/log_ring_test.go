package sharded

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLogRingSize holds the memory that the documentation of Logs states.
func TestLogRingSize(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("sizes are for 64-bit machines")
	}
	assert.EqualValues(t, 112, unsafe.Sizeof(logRing{}))
}

// TestLogMemoryPerKey holds the memory of a key that called once.
func TestLogMemoryPerKey(t *testing.T) {
	const keys = 100_000
	g := newFixedLogs[uint64](100, 1000)
	before := logHeapBytes()
	for key := range uint64(keys) {
		g.Take(key, 1, logAt(0))
	}
	perKey := float64(logHeapBytes()-before) / keys
	t.Logf("%.0f bytes a key", perKey)
	assert.Less(t, perKey, 200.0)
	require.Equal(t, keys, g.Len())
	require.Equal(t, keys, g.Sweep(1000, nil))
	perKey = float64(logHeapBytes()-before) / keys
	t.Logf("%.1f bytes a key after a sweep", perKey)
	assert.Less(t, perKey, 20.0)
	runtime.KeepAlive(g)
}

func logHeapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestLogRingGrowsAsItFills(t *testing.T) {
	const limit = 100
	rule := LogLimit{Limit: limit, WindowNanos: 1000}
	r := newLogRing(rule)
	var rooms []int
	for i := range int64(limit) {
		require.True(t, r.takeLocked(rule, 1, i).Allowed)
		if n := len(rooms); n == 0 || rooms[n-1] != len(r.stamps) {
			rooms = append(rooms, len(r.stamps))
		}
	}
	assert.Equal(t, []int{2, 4, 8, 16, 32, 64, 100}, rooms)
	assert.Nil(t, r.ends, "8 bytes an entry while each holds one permit")
	assert.False(t, r.takeLocked(rule, 1, limit).Allowed)
	for i := range int64(5 * limit) {
		require.True(t, r.takeLocked(rule, 1, 1000+i*10).Allowed)
	}
	assert.Len(t, r.stamps, limit, "a ring that turns needs no more room")
	assert.Len(t, newLogRing(LogLimit{Limit: 1, WindowNanos: 1}).stamps, 1)
}

func TestLogRingManyPermitsOneEntry(t *testing.T) {
	const limit = 1 << 40
	rule := LogLimit{Limit: limit, WindowNanos: 1000}
	r := newLogRing(rule)
	require.True(t, r.takeLocked(rule, 1_000_000, 0).Allowed)
	for range 1000 {
		require.True(t, r.takeLocked(rule, 3, 0).Allowed)
	}
	assert.Equal(t, 1, r.size)
	assert.Len(t, r.stamps, logRingMinEntries)
	assert.EqualValues(t, 1_003_000, r.taken())
}

// TestLogRingDeniedWritesNothing: only the time seen.
func TestLogRingDeniedWritesNothing(t *testing.T) {
	rule := LogLimit{Limit: 3, WindowNanos: 10}
	r := newLogRing(rule)
	r.takeLocked(rule, 1, 0)
	r.takeLocked(rule, 2, 5)
	r.takeLocked(rule, 1, 10)
	head, size, base := r.head, r.size, r.base
	stamps, ends := slices.Clone(r.stamps), slices.Clone(r.ends)
	require.False(t, r.takeLocked(rule, 3, 16).Allowed, "the entry of 10 counts; that of 5 has expired")
	assert.Equal(t, int64(16), r.latestNanos)
	assert.Equal(t, []any{head, size, base}, []any{r.head, r.size, r.base})
	assert.Equal(t, stamps, r.stamps)
	assert.Equal(t, ends, r.ends)
}

// TestLogRingCountsWrap: more permits in the life of a ring than a uint64 holds.
func TestLogRingCountsWrap(t *testing.T) {
	const limit = 1<<63 - 1
	rule := LogLimit{Limit: limit, WindowNanos: 10}
	r := newLogRing(rule)
	for i := range int64(9) {
		require.Equal(t, allowedAs(0, 10), withoutCharge(r.takeLocked(rule, limit, i*10)))
		require.Equal(t, deniedAs(0, 10, 10), r.takeLocked(rule, 1, i*10))
	}
}
