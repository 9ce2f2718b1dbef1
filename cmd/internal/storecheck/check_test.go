//go:build unix

package storecheck

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/cases"
	"github.com/penstock-go/penstock/cmd/internal/stores"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

// reach opens a store.
func reach(t *testing.T, text string) (stores.Target, *stores.Address) {
	t.Helper()
	address, err := stores.Parse(text)
	require.NoError(t, err)
	target, err := stores.Open(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, target.Close()) })
	return target, address
}

// options are those of all checks, briefly.
func options(t *testing.T) Options {
	t.Helper()
	recorded, err := cases.Recorded()
	require.NoError(t, err)
	return Options{Cases: recorded, Orders: 2, Random: 300, Seed: 5}
}

// names are those of all checks.
func names() (all []string) {
	for _, c := range checks {
		all = append(all, c.name)
	}
	return all
}

// passes makes all checks of a store that is right, and returns what could not run.
func passes(t *testing.T, text string, orders, random int) (rep *Report, notRun []string) {
	t.Helper()
	target, address := reach(t, text)
	o := options(t)
	o.Orders, o.Random = orders, random
	rep, err := Run(t.Context(), address.String(), target, o)
	require.NoError(t, err)
	assert.Empty(t, rep.Unfinished)
	var made []string
	for _, c := range rep.Checks {
		assert.Empty(t, c.Failures, c.Name)
		made = append(made, c.Name)
		for _, n := range Together(c.NotRun) {
			notRun = append(notRun, n.What)
		}
	}
	assert.Equal(t, names(), made)
	assert.Zero(t, rep.Failed)
	assert.Greater(t, rep.Passed, 70)
	assert.Positive(t, rep.Removed)
	return rep, notRun
}

const logs = "R04b, R05, W01, W02a, L05a, L05b" // the recorded cases of the sliding log

func TestMemory(t *testing.T) {
	_, notRun := passes(t, "memory://", 4, 3000)
	assert.Equal(t, []string{logs, "lost answers"}, notRun)
}

func TestRedis(t *testing.T) {
	server := servertest.StartRedis(t)
	server.Must(t, "SET", "somebody's", "value")
	rep, notRun := passes(t, "redis://"+server.Addr, 4, 2000)
	assert.Equal(t, []string{logs}, notRun)
	assert.Regexp(t, `^redis \d+\.\d+\.\d+$`, rep.About)
	assert.Equal(t, "value", server.Must(t, "GET", "somebody's"), "nothing else is removed")
	assert.Equal(t, int64(1), server.Integer(t, "DBSIZE"), "all that it wrote is removed")
}

func TestRedisCluster(t *testing.T) {
	nodes := servertest.StartRedisCluster(t, 0).Nodes
	rep, notRun := passes(t, "redis-cluster://"+nodes[0].Addr+","+nodes[1].Addr, 2, 300)
	assert.Equal(t, []string{logs}, notRun)
	assert.Contains(t, rep.About, ", cluster of 3 masters")
	for _, node := range nodes {
		assert.Zero(t, node.Integer(t, "DBSIZE"))
	}
}

func TestDynamoDB(t *testing.T) {
	if testing.Short() {
		t.Skip("the same checks run on Redis in a fraction of the time")
	}
	for name, start := range map[string]func(testing.TB) *dynamodbtest.Server{"minidyn": dynamodbtest.Minidyn, "dynalite": dynamodbtest.Dynalite} {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			q := url.Values{"endpoint": {server.URL}, "create": {"true"}}
			if server.Floats {
				q.Set("floats", "true")
			}
			_, notRun := passes(t, "dynamodb://limits?"+q.Encode(), 1, 100)
			assert.Contains(t, notRun, logs)
			assert.Contains(t, notRun, "that expired keys are gone")
		})
	}
}

// A run that is stopped removes its keys too.
func TestStopped(t *testing.T) {
	server := servertest.StartRedis(t)
	target, address := reach(t, "redis://"+server.Addr)
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t)
	o.Began = func(name string) {
		if name == "callers" {
			assert.NotZero(t, server.Integer(t, "DBSIZE"), "there is something to remove")
			cancel()
		}
	}
	rep, err := Run(ctx, address.String(), target, o)
	require.NoError(t, err)
	assert.Contains(t, rep.Unfinished, `stopped during "callers"`)
	assert.Zero(t, server.Integer(t, "DBSIZE"))
}

// Keys that cannot be removed are told.
func TestKeysLeftBehind(t *testing.T) {
	target, address := reach(t, "memory://")
	rep, err := Run(t.Context(), address.String(), broken{target, func(s store.Storage) store.Storage { return stubborn{s.(store.Applier)} }}, options(t)) //nolint:errcheck // it is one
	require.ErrorIs(t, err, errStubborn)
	assert.ErrorContains(t, err, "keys that begin with "+rep.Prefix+" could not be removed")
}

type stubborn struct{ store.Applier }

// Put refuses removals.
func (s stubborn) Put(ctx context.Context, key string, word uint64, ttl time.Duration) error {
	if word == 0 {
		return errStubborn
	}
	return s.Applier.Put(ctx, key, word, ttl)
}
