package hybrid_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/hybrid"
	"github.com/penstock-go/penstock/store/storetest"
)

// steady never opens a breaker, so that the store is asked each time.
var steady = store.WithBreaker(store.Breaker{Failures: 1 << 30, MinCalls: 1 << 30})

// patient waits as long as a busy machine needs, for tests in real time.
var patient = store.WithDeadline(time.Minute)

// perSecond is a limit of which the default slack is 100 ms and 100 permits.
func perSecond() engine.Limit { return engine.TokenBucket(engine.PerSecond(1000), 1000) }

// rig is a storage that several processes share.
type rig struct {
	*testing.T
	memory *store.Memory
	faulty *storetest.Faulty
}

func newRig(t *testing.T) *rig {
	t.Helper()
	memory := store.NewMemory(time.Microsecond, nil)
	return &rig{t, memory, storetest.NewFaulty(memory)}
}

// shared returns a process's view of the store.
func (r *rig) shared(l engine.Limit, opts ...store.LimitOption) *store.Shared {
	r.Helper()
	backend, err := store.NewBackend(r.faulty, steady)
	require.NoError(r, err)
	shared, err := backend.Limiter("test", l, opts...)
	require.NoError(r, err)
	r.Cleanup(func() { require.NoError(r, shared.Close()) })
	return shared
}

// process returns the limiter of one process, which refuses while the store is away.
func (r *rig) process(l engine.Limit, opts ...hybrid.Option) *hybrid.Limiter {
	r.Helper()
	h, err := hybrid.New(r.shared(l, store.WithPolicy(store.Closed)), opts...)
	require.NoError(r, err)
	r.Cleanup(func() { require.NoError(r, h.Close()) })
	return h
}

// take takes one permit of "key".
func (r *rig) take(l store.Limiter) store.Decision {
	r.Helper()
	d, err := l.Take(r.Context(), "key", 1)
	require.NoError(r, err)
	return d
}

// peek looks at "key".
func (r *rig) peek(l store.Limiter) store.Decision {
	r.Helper()
	d, err := l.Peek(r.Context(), "key")
	require.NoError(r, err)
	return d
}

// warm makes "key" hot: 40 calls, one each 2 ms, all admitted.
func (r *rig) warm(l store.Limiter) {
	r.Helper()
	for range 40 {
		require.True(r, r.take(l).Allowed)
		time.Sleep(2 * time.Millisecond)
	}
}

// balanced checks, in a bubble, that what was charged for leases is accounted for, once nothing is on
// its way any more.
func balanced(t *testing.T, l *hybrid.Limiter) hybrid.Stats {
	t.Helper()
	synctest.Wait()
	return accounted(t, l)
}

// accounted is balanced for a limiter that is at rest.
func accounted(t *testing.T, l *hybrid.Limiter) hybrid.Stats {
	t.Helper()
	s := l.Stats()
	require.Equal(t, s.Leased, s.Spent+s.Held+s.Wasted, "%+v", s)
	return s
}
