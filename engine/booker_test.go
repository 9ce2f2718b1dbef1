package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/sharded"
)

// steady is a clock that is moved by hand.
type steady struct{ at time.Duration }

func (c *steady) Now() time.Duration { return c.at }

// TestNothingIsChargedByHalf: if another call is faster under the second limit, the first one gets back
// what was charged there, though the time of the charge has passed by then.
func TestNothingIsChargedByHalf(t *testing.T) {
	clock := &steady{}
	m := Must[string](TokenBucket(Every(time.Hour), 10), WithAlso(LeakyQueue(Every(time.Millisecond), 10)), WithClock(clock))
	defer m.Close()
	require.True(t, m.Allow("a"))
	clock.at = time.Second
	m.Peek("a")
	w := &booker[string]{limiter: m, main: m.ruleOf("a"), key: "a", n: 1, patience: patience{time.Hour, time.Hour}, booking: booking{also: make([]claim, 1)}, offers: make([]sharded.Offer, 1)}
	for i := range 2 {
		place, _ := m.ruleAt(w.main, i)
		w.booking.claim(i).key = m.hasher.Key("a").WithIndex(place.index)
	}
	w.now = m.time.settled()
	at, out := w.agree()
	require.Equal(t, tryDone, out)
	d, _ := m.takeOne(&m.also[0].place, m.also[0].rule, "a", 1, readClock)
	require.True(t, d.Allowed)
	clock.at++
	m.Peek("b")
	require.Equal(t, tryAgain, w.charge(at))
	require.EqualValues(t, 9, m.Peek("a").Remaining)
}
