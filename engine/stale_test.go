package engine

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/sharded"
)

// TestACallThatWasHeldUp after it lost its swap, for so long that the word can not be read at the time of the
// first try any more, decides at the present one: what was charged meanwhile stays charged.
func TestACallThatWasHeldUp(t *testing.T) {
	for _, held := range []time.Duration{0, time.Second, 10 * time.Second, time.Minute, time.Hour} {
		m := Must[string](TokenBucket(PerSecond(67_108_859), 1000)) // words are readable for 34 s
		r, k := m.rule.Load(), m.hasher.Key("a")
		require.True(t, m.TakeAt(0, "a", 1).Allowed) // the table has its first time
		require.True(t, m.TakeAt(held+time.Millisecond, "a", 1000).Allowed)
		slot, before := m.table.Find(k, r.number)
		_, ok := m.tryWordAgain(r, slot, 0, 1)
		require.False(t, ok, held)
		require.Equal(t, before, slot.Load(), held)
	}
}

// TestAStaleTimeRefusesNobody: at the time of a lost swap a call passes if it passes then, and is charged
// then; if it does not, nothing is said.
func TestAStaleTimeRefusesNobody(t *testing.T) {
	m := Must[string](TokenBucket(Every(10), 2))
	r, k := m.rule.Load(), m.hasher.Key("a")
	require.True(t, m.TakeAt(0, "a", 1).Allowed)
	slot, _ := m.table.Find(k, r.number)
	word, ok := m.tryWordAgain(r, slot, 0, 1)
	require.True(t, ok)
	require.Equal(t, word, slot.Load())
	require.Zero(t, m.PeekAt(0, "a").Remaining)

	require.True(t, m.TakeAt(10, "a", 1).Allowed)
	seen, ok := m.tryWordAgain(r, slot, 0, 1) // of the 3 until 10 all are taken
	require.False(t, ok)
	require.Equal(t, seen, slot.Load(), "nothing is written")
	require.True(t, m.TakeAt(20, "a", 1).Allowed)

	require.NoError(t, m.SetLimit(TokenBucket(Every(time.Hour), 9)))
	require.False(t, m.TakeAt(20, "a", 9).Allowed)
	_, ok = m.tryWordAgain(r, slot, 20, 1)
	require.False(t, ok, "the key has another word")
	require.Equal(t, atomicstate.Superseded, slot.Load())
}

// TestUnderContention a call decides as it would without: what passes at the clock's reading passes, nobody
// is refused at a reading from before the word, and a reading too far from the word is not used. It finds
// out by itself when there is no contention any more.
func TestUnderContention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := Must[string](TokenBucket(Every(time.Millisecond), 2))
		defer m.Close()
		calm := 0
		for range 10_000 {
			m.contended.Store(true)
			require.True(t, m.Allow("a"))
			if !m.contended.Load() {
				calm++
			}
			time.Sleep(time.Millisecond - time.Nanosecond)
			m.contended.Store(true)
			require.True(t, m.Allow("a"))
			m.contended.Store(true)
			require.False(t, m.Allow("a"))
			require.False(t, m.Take("a", 1).Allowed)
			time.Sleep(time.Millisecond + time.Nanosecond)
		}
		require.InDelta(t, 10_000/calmShare, calm, 20)
		for _, key := range []string{"new", "b"} {
			m.contended.Store(true)
			require.True(t, m.Allow(key))
		}
		m.contended.Store(true)
		time.Sleep(time.Duration(m.table.Horizon()) / 2) // a sweep is due
		require.True(t, m.Allow("a"))
		require.True(t, m.Allow("a"))
		require.False(t, m.Allow("a"))
	})
}

// TestUnderContentionNobodyIsRefusedBeforeAGivenTime: a call that took the clock for the limiter's own may meet a
// word of a later time, which was given meanwhile. It does not refuse: at that time more has been earned.
func TestUnderContentionNobodyIsRefusedBeforeAGivenTime(t *testing.T) {
	m := Must[string](TokenBucket(Every(time.Hour), 10))
	require.True(t, m.Allow("a"))
	require.True(t, m.TakeAt(9*time.Hour, "a", 5).Allowed)
	r, k := m.rule.Load(), m.hasher.Key("a")
	slot, before := m.table.Find(k, r.number)
	_, _, ok, done := m.tryWordContended(r, k, 5)
	require.False(t, ok)
	require.False(t, done, "the sure way has to decide")
	require.Equal(t, before, slot.Load())
	m.contended.Store(true)
	require.True(t, m.AllowN("a", 5))
	require.False(t, m.Allow("a"))
}

// TestSettledBeforeTheFirstGivenTime: between the two steps in which a limiter goes over to times that are
// given, a call on its own clock makes a new key at a time of that clock.
func TestSettledBeforeTheFirstGivenTime(t *testing.T) {
	m := Must[string](TokenBucket(PerSecond(1), 1))
	m.time.kind.Store(clockGiven)
	require.GreaterOrEqual(t, m.time.settled(), int64(0))
	insert := func() (sharded.Outcome, int64) {
		outcome, _, at := m.table.Insert(m.hasher.Key("a"), m.rule.Load().number, math.MinInt64, 1, nil)
		return outcome, at
	}
	outcome, at := insert()
	require.Equal(t, sharded.Leapt, outcome, "the table has no time yet")
	require.GreaterOrEqual(t, at, int64(0))
	m.table.CatchUp(at)
	outcome, at = insert()
	require.Equal(t, sharded.Charged, outcome)
	require.GreaterOrEqual(t, at, int64(0))
}
