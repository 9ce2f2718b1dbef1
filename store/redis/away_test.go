//go:build unix

package redis

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/faultproxy"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// TestRestartedEmpty: a server that forgets its scripts, and one that was killed and comes back empty.
func TestRestartedEmpty(t *testing.T) {
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		server := servertest.StartRedis(t)
		l := limiter(t, connect(t, nil, server.Addr), only(1000), patient())
		take(t, l, 999)
		server.Must(t, "SCRIPT", "FLUSH")
		take(t, l, 998)
		server.Kill()
		server.Restart(t)
		connected(t, l)
		server.Must(t, "SCRIPT", "FLUSH")
		hundredTakes(t, l)
		require.EqualValues(t, 900, left(t, l, "key"))
	})
}

func TestUnknownScripts(t *testing.T) { unknownScripts(t, alone(t)) }

// unknownScripts: servers that forget their scripts, and then their keys too, as empty ones in their
// place would.
func unknownScripts(t *testing.T, p *place) {
	t.Helper()
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		p.flush(t)
		l := limiter(t, connect(t, nil, p.addrs...), only(1000), patient())
		take(t, l, 999)
		for _, s := range p.masters() {
			s.Must(t, "SCRIPT", "FLUSH")
		}
		take(t, l, 998)
		p.flush(t)
		hundredTakes(t, l)
		require.EqualValues(t, 900, left(t, l, "key"))
	})
}

// take takes a permit, of which want are to remain.
func take(t *testing.T, l *store.Shared, want int64) {
	t.Helper()
	d, err := l.Take(t.Context(), "key", 1)
	require.NoError(t, err)
	require.Equal(t, want, d.Remaining)
}

// hundredTakes lets a hundred callers take a permit each at once.
func hundredTakes(t *testing.T, l *store.Shared) {
	t.Helper()
	var done sync.WaitGroup
	for range 100 {
		done.Go(func() {
			if d, err := l.Take(t.Context(), "key", 1); err != nil || !d.Allowed {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
	done.Wait()
}

func TestStoreAway(t *testing.T) { storeAway(t, alone(t)) }

// storeAway: a store that is refused, slow or full of errors is no limit that is exceeded. Every policy
// gives its own answer, within the deadline, and the store decides again when it is back.
func storeAway(t *testing.T, p *place) {
	t.Helper()
	faults := map[string]faultproxy.Fault{
		"refused": {Refuse: true}, "slow": {DropReplies: true}, "lost": {LoseReply: true},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			byEach(t, func(t *testing.T, connect library) {
				t.Helper()
				p.flush(t)
				dial, spoil := p.faulty(t)
				log, option := logged()
				backend, err := store.NewBackend(connect(t, dial, p.addrs...), option, quick(), store.WithDeadline(200*time.Millisecond))
				require.NoError(t, err)
				by := map[store.Policy]*store.Shared{}
				for policy, name := range map[store.Policy]string{store.LocalShare: "local", store.Closed: "closed", store.Open: "open"} {
					by[policy], err = backend.Limiter(name, only(4), store.WithPolicy(policy), store.WithProcesses(2))
					require.NoError(t, err)
					t.Cleanup(func() { require.NoError(t, by[policy].Close()) })
					left(t, by[policy], "key") // its key is that of one node for all of them
				}
				failed := func(l *store.Shared) uint64 { return l.Stats().Unavailable + l.Stats().Unknown }
				before := map[*store.Shared]uint64{}
				for _, l := range by {
					before[l] = failed(l)
				}
				lines := len(log.of(""))
				spoil.set(fault, true)
				for i := range 6 {
					answers(t, by, i)
				}
				require.Len(t, log.of("opened"), lines/2+1)
				for _, l := range by {
					require.EqualValues(t, 6, failed(l)-before[l])
				}
				spoil.set(faultproxy.Fault{}, true)
				require.LessOrEqual(t, left(t, by[store.Closed], "key"), int64(4))
				require.Len(t, log.of("closed"), lines/2+1)
				alternates(t, log.of(""))
			})
		})
	}
}

// answers makes the i-th call by each policy while the store is away.
func answers(t *testing.T, by map[store.Policy]*store.Shared, i int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	d, err := by[store.Open].Take(ctx, "key", 1)
	require.NoError(t, err)
	require.True(t, d.Allowed)
	require.Error(t, d.Cause)
	require.Zero(t, d.Limit+d.Remaining, "quota fields that nobody knows")

	d, err = by[store.Closed].Take(ctx, "key", 1)
	require.Error(t, err)
	require.False(t, d.Allowed)
	require.Zero(t, d.Limit+d.Remaining)
	require.Equal(t, store.SourceClosed, d.Source)

	d, err = by[store.LocalShare].Take(ctx, "key", 1)
	require.NoError(t, err)
	require.Equal(t, store.SourceLocal, d.Source)
	require.Equal(t, i < 2, d.Allowed, "half of 4 permits for each of 2 processes")
	require.NoError(t, ctx.Err(), "calls waited for the store")
}
