//go:build unix

package storebench

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/cmd/internal/stores"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

var plenty = limits.Spec{Algorithm: limits.TokenBucket, Tokens: 1_000_000, Per: time.Second, Burst: 1_000_000}

// measure measures a store, briefly.
func measure(t *testing.T, text string, spec limits.Spec) *Report {
	t.Helper()
	address, err := stores.Parse(text)
	require.NoError(t, err)
	open := func(ctx context.Context) (stores.Target, error) { return stores.Open(ctx, address) }
	began := []int{}
	rep, err := Run(t.Context(), address, open, Options{
		Limit: spec, Concurrency: []int{1, 3}, For: 4 * leastTurn, Began: func(callers, _ int) { began = append(began, callers) },
	})
	require.NoError(t, err)
	require.NoError(t, rep.Failed())
	assert.Equal(t, []int{1, 3}, began)
	return rep
}

// sound checks that a report has all rows, with sensible figures.
func sound(t *testing.T, rep *Report, names ...string) {
	t.Helper()
	assert.Len(t, rep.Rows, 2*len(names))
	for i, r := range rep.Rows {
		assert.Equal(t, names[i%len(names)], r.Name)
		assert.Equal(t, []int{1, 3}[i/len(names)], r.Callers)
		assert.Positive(t, r.Calls, r.Name)
		assert.Positive(t, r.PerSecond, r.Name)
		assert.Positive(t, r.P50Nanos, r.Name)
		assert.GreaterOrEqual(t, r.P99Nanos, r.P50Nanos, r.Name)
		assert.GreaterOrEqual(t, r.P999Nanos, r.P99Nanos, r.Name)
		assert.Zero(t, r.Unexpected, r.Name)
		assert.Zero(t, r.Errors, r.FirstError)
		if r.Floor != "" {
			assert.Positive(t, r.Times, r.Name)
		}
		assert.Equal(t, r.Name == wayHybrid, r.StoreCalls != nil, r.Name)
	}
	assert.GreaterOrEqual(t, rep.Removed, 3*keyCount)
}

func floorOf(t *testing.T, rep *Report, name string) string {
	t.Helper()
	i := slices.IndexFunc(rep.Rows, func(r Row) bool { return r.Name == name })
	require.GreaterOrEqual(t, i, 0)
	return rep.Rows[i].Floor
}

func TestMemory(t *testing.T) {
	rep := measure(t, "memory://", plenty)
	sound(t, rep, wayAllow, wayDeny, wayHybrid)
	assert.Empty(t, floorOf(t, rep, wayAllow))
}

func TestRedis(t *testing.T) {
	server := servertest.StartRedis(t)
	for _, spec := range []limits.Spec{plenty, {Algorithm: limits.SlidingWindow, Tokens: 1_000_000, Per: time.Second}} {
		rep := measure(t, "redis://"+server.Addr, spec)
		sound(t, rep, wayPing, wayScript, wayAllow, wayDeny, wayHybrid)
		for _, name := range []string{wayAllow, wayDeny, wayHybrid} {
			assert.Equal(t, wayScript, floorOf(t, rep, name))
		}
		for _, r := range rep.Rows {
			require.NotNil(t, r.ServerMicros, r.Name)
			if r.Name != wayHybrid { // may have spent nothing
				assert.Positive(t, *r.ServerMicros, r.Name)
			}
		}
		assert.Zero(t, server.Integer(t, "DBSIZE"))
	}
}

func TestRedisCluster(t *testing.T) {
	nodes := servertest.StartRedisCluster(t, 0).Nodes
	rep := measure(t, "redis-cluster://"+nodes[0].Addr, plenty)
	sound(t, rep, wayPing, wayScript, wayAllow, wayDeny, wayHybrid)
	for _, node := range nodes {
		assert.Zero(t, node.Integer(t, "DBSIZE"))
	}
}

func TestDynamoDB(t *testing.T) {
	if testing.Short() {
		t.Skip("the same callers run on Redis in a fraction of the time")
	}
	server := dynamodbtest.Dynalite(t)
	rep := measure(t, "dynamodb://limits?create=true&endpoint="+url.QueryEscape(server.URL), plenty)
	sound(t, rep, wayUpdate, wayRead, wayAllow, wayDeny, wayHybrid)
	assert.Equal(t, wayUpdate, floorOf(t, rep, wayAllow))
	assert.Equal(t, wayRead, floorOf(t, rep, wayDeny))
}

// A limit that is too small for the run is told, and not passed off as a figure.
func TestUnexpectedAnswers(t *testing.T) {
	rep := measure(t, "memory://", limits.Spec{Algorithm: limits.FixedWindow, Tokens: 1, Per: 300 * 24 * time.Hour})
	i := slices.IndexFunc(rep.Rows, func(r Row) bool { return r.Name == wayAllow && r.Callers == 3 })
	assert.Positive(t, rep.Rows[i].Unexpected)
	var out bytes.Buffer
	require.NoError(t, rep.WriteTable(&out))
	assert.Contains(t, out.String(), "calls were refused, and are in these figures: give a larger --limit")
}

func TestStopped(t *testing.T) {
	server := servertest.StartRedis(t)
	address, err := stores.Parse("redis://" + server.Addr)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	_, err = Run(ctx, address, func(ctx context.Context) (stores.Target, error) { return stores.Open(ctx, address) }, Options{
		Limit: plenty, Concurrency: []int{1}, For: time.Hour, Began: func(int, int) {
			assert.NotZero(t, server.Integer(t, "DBSIZE"), "there is something to remove")
			cancel(stop)
		},
	})
	require.ErrorIs(t, err, stop)
	assert.Zero(t, server.Integer(t, "DBSIZE"))
}

// A row of calls that are refused is one of keys that are known to be used up, which on DynamoDB are read and not
// written to: the dearer call by which each process finds out is not measured.
func TestDenyIsOfKeysSeenToBeUsedUp(t *testing.T) {
	var updates, reads atomic.Int64
	emulator := dynamodbtest.MinidynHandler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("X-Amz-Target") {
		case "DynamoDB_20120810.UpdateItem":
			updates.Add(1)
		case "DynamoDB_20120810.GetItem":
			reads.Add(1)
		}
		emulator.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	address, err := stores.Parse("dynamodb://limits?create=true&floats=true&endpoint=" + url.QueryEscape(server.URL))
	require.NoError(t, err)
	open := func(ctx context.Context) (stores.Target, error) { return stores.Open(ctx, address) }

	began := false
	_, err = Run(t.Context(), address, open, Options{Limit: plenty, Concurrency: []int{2}, For: leastTurn, Began: func(int, int) {
		began = true
		assert.GreaterOrEqual(t, updates.Load(), int64(2*keyCount), "each key is used up, and each seen to be")
	}})
	require.NoError(t, err)
	require.True(t, began)

	target, err := open(t.Context())
	require.NoError(t, err)
	defer target.Close()
	scratch := stores.NewScratch("bench")
	require.NoError(t, prepare(t.Context(), target, scratch, plenty))
	other, err := open(t.Context())
	require.NoError(t, err)
	defer other.Close()
	s, err := newSetup(t.Context(), other, scratch, plenty)
	require.NoError(t, err)
	defer s.close()
	require.NoError(t, s.seen(t.Context(), 2))
	updates.Store(0)
	reads.Store(0)
	i := slices.IndexFunc(s.ways, func(w way) bool { return w.name == wayDeny })
	require.NoError(t, useUp(t.Context(), 2, s.ways[i].call))
	assert.EqualValues(t, keyCount, updates.Load()+reads.Load())
	assert.Less(t, updates.Load(), int64(keyCount/2), "the storage remembers some 4096 places, on which keys fall together")
}

func TestFailed(t *testing.T) {
	rep := &Report{Rows: []Row{{Name: "a", Callers: 3, Calls: 100, Errors: 1, PerSecond: 888, FirstError: "x"}}}
	require.NoError(t, rep.Failed())
	rep.Rows = append(rep.Rows, Row{Name: "b", Callers: 3, Calls: 100, Errors: 2, PerSecond: 777, FirstError: "y"})
	require.EqualError(t, rep.Failed(), "b, 3 callers: 2 of 100 calls failed, so there are no figures: y")
	var out bytes.Buffer
	require.NoError(t, rep.WriteTable(&out))
	assert.Contains(t, out.String(), "888")
	assert.Contains(t, out.String(), "a, 3 callers: 1 of 100 calls failed, the first: x\n")
	assert.NotContains(t, out.String(), "777", "the time of a failure is no figure")
	assert.Regexp(t, `(?m)^ +3( +-){7} +b$`, out.String())
}

// The quantiles of a histogram are those of the sorted durations, at most a step too high.
func TestHistogram(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int64{1, 100, 128, 100_000, 1 << 45} {
		var a, b histogram
		all := make([]time.Duration, 0, 2001)
		for i := range cap(all) {
			d := time.Duration(rnd.Int64N(most))
			all = append(all, d)
			[]*histogram{&a, &b}[i%2].add(d)
		}
		a.merge(&b)
		slices.Sort(all)
		assert.Equal(t, int64(len(all)), a.total)
		for _, share := range []float64{0, 0.5, 0.99, 0.999, 1} {
			exact := min(all[int(share*float64(len(all)-1))], 1<<maxBits-1)
			got := a.quantile(share)
			assert.GreaterOrEqual(t, got, exact, most)
			assert.LessOrEqual(t, got, exact+exact>>subBits, most)
		}
	}
	assert.Zero(t, (&histogram{}).quantile(0.5))
}

func TestServerStatistics(t *testing.T) {
	sum := map[string]float64{}
	addStats(sum, "# Commandstats\r\ncmdstat_evalsha:calls=10,usec=55,usec_per_call=5.50,rejected_calls=0\r\ncmdstat_ping:calls=1,usec=3\r\n")
	addStats(sum, "cmdstat_evalsha:calls=1,usec=5,usec_per_call=5.00\r\n")
	assert.Equal(t, map[string]float64{"evalsha": 60, "ping": 3}, sum)
	var u usage
	u.add(nil, sum)
	assert.False(t, u.known)
	u.add(map[string]float64{"evalsha": 20}, sum)
	u.add(map[string]float64{"evalsha": 60}, map[string]float64{"evalsha": 61})
	assert.InDelta(t, 41, u.micros("evalsha"), 0)
}

func TestMedianRatio(t *testing.T) {
	assert.InDelta(t, 2, medianRatio([]float64{2, 6, 100}, []float64{1, 3, 1}), 1e-9)
}
