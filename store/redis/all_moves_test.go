//go:build unix

package redis

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// allWhileASlotMoves: several limits whose keys are on two nodes while their slot is moved cannot be asked: nothing is
// charged, and nobody is told that a limit was exceeded. Before and after they decide.
func allWhileASlotMoves(t *testing.T, p *place) {
	t.Helper()
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		p.flush(t)
		limits := map[string]engine.Limit{"few": only(25), "many": engine.FixedWindow(40, 365*aDay)}
		all, limiters := several(t, connect(t, nil, p.addrs...), limits, "few", "many")
		take := func(want int64) {
			d, err := all.Take(t.Context(), "moving", 1)
			require.NoError(t, err)
			require.True(t, d.Allowed)
			require.Equal(t, want, d.Remaining)
		}
		take(24)
		key := limiters[0].Key("moving")
		slot, from := strconv.Itoa(int(slotOf(key))), p.node(t, key)
		var to *servertest.Redis
		for _, m := range p.masters() {
			if m != from {
				to = m
			}
		}
		to.Must(t, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.Must(t, "CLUSTER", "MYID"))
		from.Must(t, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.Must(t, "CLUSTER", "MYID"))
		take(23) // both are there yet
		host, port, err := net.SplitHostPort(to.Addr)
		require.NoError(t, err)
		from.Must(t, "MIGRATE", host, port, key, "0", strconv.Itoa(int(10*time.Second/time.Millisecond)))
		d, err := all.Take(t.Context(), "moving", 1)
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.NotErrorIs(t, err, store.ErrUnknownOutcome)
		require.Equal(t, store.SourceClosed, d.Source)
		from.Must(t, "MIGRATE", host, port, limiters[1].Key("moving"), "0", "10000")
		take(22) // both have gone: ASK
		for _, s := range []*servertest.Redis{to, from} {
			s.Must(t, "CLUSTER", "SETSLOT", slot, "NODE", to.Must(t, "CLUSTER", "MYID"))
		}
		take(21)
	})
}

// TestAllTooLate: a caller whose time was up when it called is not let in by a policy, as by each limit alone.
func TestAllTooLate(t *testing.T) {
	server := servertest.StartRedis(t)
	s := byRueidis(t, nil, server.Addr)
	backend, err := store.NewBackend(s)
	require.NoError(t, err)
	for _, policy := range []store.Policy{store.Open, store.LocalShare, store.Closed} {
		l, err := backend.Limiter("limit", only(5), store.WithPolicy(policy))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		all, err := NewAll(l)
		require.NoError(t, err)
		late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		t.Cleanup(cancel)
		_, err = l.Take(late, "key", 1)
		require.ErrorIs(t, err, store.ErrUnavailable)
		d, err := all.Take(late, "key", 1)
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.False(t, d.Allowed)
	}
}
