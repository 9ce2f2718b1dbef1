//go:build unix

package redis

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// TestMasterKilled kills a master of a cluster under load. Its keys follow their policy until its replica
// has taken over; those of the other masters notice nothing; and no call is charged twice.
func TestMasterKilled(t *testing.T) {
	cluster := servertest.StartRedisCluster(t, 1, "--cluster-node-timeout", "1000")
	p := placeOf(cluster)
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		s := connect(t, nil, p.addrs...)
		log, option := logged()
		l := limiter(t, s, only(plenty), option, quick(), store.WithDeadline(2*time.Second))
		// Keys by shard. They are new: a failover may forget that others were removed.
		spread, name := map[string][]string{}, func(i int) string { return fmt.Sprintf("%s-%d", t.Name(), i) }
		for i := 0; len(spread) < 3 || len(spread[s.Node(l.Key(name(0)))]) < 4; i++ {
			key := name(i)
			shard := s.Node(l.Key(key))
			require.NotEmpty(t, shard)
			spread[shard] = append(spread[shard], key)
		}
		doomed := s.Node(l.Key(name(0)))
		victim := p.node(t, l.Key(name(0)))

		runs := map[string]*load{} // by key
		for shard, keys := range spread {
			for _, key := range keys {
				runs[key] = startLoad(1, func(run *load, _ int) bool { run.take(t.Context(), l, key); return true })
			}
			t.Logf("%s: %d keys", shard, len(keys))
		}
		passing := func(keys []string, more int64) func() bool {
			from := map[string]int64{}
			for _, key := range keys {
				from[key] = runs[key].allowed.Load()
			}
			return func() bool {
				for _, key := range keys {
					if runs[key].allowed.Load() < from[key]+more {
						return false
					}
				}
				return true
			}
		}
		eventually(t, "calls pass", passing(spread[doomed], 100))
		killed := time.Now()
		victim.Kill()
		eventually(t, "calls fail", func() bool { return runs[name(0)].failed() > 10 })
		eventually(t, "calls pass again", passing(spread[doomed], 20))
		t.Logf("back after %v", time.Since(killed).Round(100*time.Millisecond))
		for _, run := range runs {
			run.end()
		}
		for shard, keys := range spread {
			for _, key := range keys {
				run := runs[key]
				require.NoError(t, run.odd)
				charged := plenty - left(t, l, key)
				require.LessOrEqual(t, charged, run.allowed.Load()+run.unknown.Load(), "%s: a call was charged twice", key)
				if shard == doomed {
					t.Logf("%s: %d passed, %d of unknown outcome, %d charged after the loss of what was not replicated yet",
						key, run.allowed.Load(), run.unknown.Load(), charged)
					continue
				}
				run.balanced(t, plenty-charged)
				require.Zero(t, run.failed(), "%s is not on the master that was killed", key)
			}
		}
		require.Len(t, log.of(doomed), len(log.of("")), "only the breaker of %s changes", doomed)
		alternates(t, log.of(doomed))
		require.NotEmpty(t, log.of("opened"))
		victim.Restart(t)
		cluster.WaitReady(t)
	})
}

// clusterScriptFlush: every node of a cluster learns the scripts by itself, in batches for all of them.
func clusterScriptFlush(t *testing.T, p *place) {
	t.Helper()
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		p.flush(t)
		before := map[*servertest.Redis]int64{}
		for _, s := range p.masters() {
			before[s] = s.Calls(t, "eval")
		}
		const permits = 40
		l := limiter(t, connect(t, nil, p.addrs...), only(permits), patient())
		var requests []store.Request
		for i := range 60 {
			requests = append(requests, store.Request{Key: fmt.Sprint("key-", i), N: 1})
		}
		var done sync.WaitGroup
		run := &load{}
		for i := range permits {
			if i%4 == 0 {
				for _, s := range p.masters() {
					s.Must(t, "SCRIPT", "FLUSH")
				}
			}
			done.Go(func() {
				for _, o := range l.TakeBatch(t.Context(), requests) {
					run.count(o.Decision, o.Err, 0)
				}
			})
		}
		done.Wait()
		run.report(t)
		require.EqualValues(t, permits*len(requests), run.allowed.Load())
		for _, r := range requests {
			require.Zero(t, left(t, l, r.Key))
		}
		for s, n := range before {
			require.Greater(t, s.Calls(t, "eval"), n, "a node never met an unknown script")
		}
	})
}

// slotNames compares names of shards with what the cluster itself says of keys.
func slotNames(t *testing.T, p *place) {
	t.Helper()
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		s := connect(t, nil, p.addrs...)
		byNode := map[string]string{}
		for i := range 60 {
			key := fmt.Sprintf("penstock:{%x}:limit:%d", i*i*7919, i)
			if i%3 == 0 {
				key = fmt.Sprintf("no tag {} %d", i)
			}
			slot := p.masters()[0].Integer(t, "CLUSTER", "KEYSLOT", key)
			require.EqualValues(t, slot, slotOf(key), key)
			name, master := s.Node(key), p.node(t, key).Addr
			require.NotEmpty(t, name)
			if byNode[master] == "" {
				byNode[master] = name
			}
			require.Equal(t, byNode[master], name)
		}
		require.Len(t, byNode, 3)
	})
}

// A client that was made for one server is told that the server is one of a cluster.
func clientOfOneServer(t *testing.T, p *place) {
	t.Helper()
	l := limiter(t, byGoRedis(t, nil, p.masters()[0].Addr), only(plenty), steady())
	refused := 0
	for i := range 60 {
		if _, err := l.Take(t.Context(), fmt.Sprint("key", i), 1); err != nil {
			require.ErrorIs(t, err, store.ErrUnavailable)
			require.NotErrorIs(t, err, store.ErrUnknownOutcome)
			require.ErrorContains(t, err, "the server is one of a cluster, and this client does not follow: use one for clusters")
			refused++
		}
	}
	require.Greater(t, refused, 20)
	require.Less(t, refused, 60)
}

func TestShardMap(t *testing.T) {
	m := newShardMap([]slotRange{
		{10923, 16383, "c"}, {0, 99, "a"}, {100, 5460, "b"}, {5461, 10922, "a"},
	})
	for slot, want := range map[uint16]string{
		0: "slots 0-99", 99: "slots 0-99", 100: "slots 100-5460", 5460: "slots 100-5460", 5461: "slots 0-99", 16383: "slots 10923-16383",
	} {
		require.Equal(t, want, m.name(slot))
	}
	require.Empty(t, shardMap{}.name(7))
	require.Empty(t, newShardMap([]slotRange{{0, 5, "a"}}).name(6))
}

// slotMoves moves a slot from one master to another: while it moves (ASK) and afterwards (MOVED)
// every call is charged once, one by one and in batches.
func slotMoves(t *testing.T, p *place) {
	t.Helper()
	byEach(t, func(t *testing.T, connect library) {
		t.Helper()
		p.flush(t)
		s := connect(t, nil, p.addrs...)
		l := limiter(t, s, only(plenty), patient())
		left(t, l, "moving")
		key := l.Key("moving")
		slot, from := fmt.Sprint(slotOf(key)), p.node(t, key)
		var to *servertest.Redis
		for _, m := range p.masters() {
			if m != from {
				to = m
			}
		}
		asked := to.Calls(t, "asking")
		run := &load{}
		calls := func() {
			run.take(t.Context(), l, "moving")
			for _, o := range l.TakeBatch(t.Context(), []store.Request{{Key: "moving", N: 1}, {Key: "moving", N: 1}}) {
				run.count(o.Decision, o.Err, 0)
			}
		}
		to.Must(t, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.Must(t, "CLUSTER", "MYID"))
		from.Must(t, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.Must(t, "CLUSTER", "MYID"))
		calls() // the key is not there: ASK
		require.Greater(t, to.Calls(t, "asking"), asked)
		for _, s := range []*servertest.Redis{to, from} {
			s.Must(t, "CLUSTER", "SETSLOT", slot, "NODE", to.Must(t, "CLUSTER", "MYID"))
		}
		calls()
		run.report(t)
		require.EqualValues(t, 6, run.allowed.Load())
		require.EqualValues(t, plenty-6, left(t, l, "moving"))
	})
}
