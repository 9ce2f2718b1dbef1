package engine_test

import (
	"net/netip"
	"os/exec"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/stretchr/testify/require"
)

// TestNoAllocations for existing keys, allowed and denied, whatever the kind of key.
func TestNoAllocations(t *testing.T) {
	for name, limit := range map[string]engine.Limit{
		"allowed": engine.TokenBucket(engine.PerSecond(1), 1_000_000_000),
		"denied":  engine.TokenBucket(engine.PerHour(1), 1),
		"log":     engine.SlidingLog(1, time.Hour),
	} {
		for kind, opts := range map[string][]engine.Option{
			"default": nil, "stats": {engine.WithStats()}, "coarse": {engine.WithCoarseClock(time.Second)},
		} {
			l := engine.Must[string](limit, opts...)
			key := []byte("192.0.2.1:51234")
			l.Allow(string(key))
			for call, f := range map[string]func(){
				"Allow":      func() { l.Allow("192.0.2.1:51234") },
				"AllowN":     func() { l.AllowN("192.0.2.1:51234", 2) },
				"AllowBytes": func() { engine.AllowBytes(l, key) },
				"Take":       func() { l.Take("192.0.2.1:51234", 1) },
				"Peek":       func() { l.Peek("192.0.2.1:51234") },
				"TakeAt":     func() { l.TakeAt(time.Hour, "192.0.2.1:51234", 1) },
				"Reset":      func() { l.Reset("unknown") },
			} {
				require.Zero(t, testing.AllocsPerRun(200, f), "%s %s %s", name, kind, call)
			}
			require.NoError(t, l.Close())
		}
	}
	for name, limit := range everyAlgorithm(300) {
		for kind, opts := range map[string][]engine.Option{
			"alone":    nil,
			"also":     {engine.WithAlso(engine.FixedWindow(1000, time.Hour))},
			"resolver": {engine.WithResolver(engine.ResolverFunc[int](func(int) (engine.Limit, bool) { return limit, true }))},
		} {
			first := limit
			if kind == "resolver" {
				first = engine.Blocked()
			}
			l := engine.Must[int](first, opts...)
			l.Allow(7)
			require.Zero(t, testing.AllocsPerRun(100, func() { l.Allow(7); l.Take(7, 1); l.Peek(7) }), "%s %s", name, kind)
		}
	}
	noAllocs(t, 42)
	noAllocs(t, netip.MustParseAddr("2001:db8::1"))
	noAllocs(t, pair{"a", "b"})
}

func noAllocs[K comparable](t *testing.T, key K) {
	t.Helper()
	l := engine.Must[K](engine.TokenBucket(engine.PerSecond(1), 1_000_000_000))
	l.Allow(key)
	require.Zero(t, testing.AllocsPerRun(200, func() { l.Allow(key); l.Take(key, 1); l.Peek(key) }))
}

// TestNewKeysHardlyAllocate: a leaf for some hundreds of keys is all there is.
func TestNewKeysHardlyAllocate(t *testing.T) {
	if testing.Short() {
		t.Skip("counts what the whole process allocates, the longer the more of others")
	}
	l := engine.Must[int](engine.TokenBucket(engine.PerHour(1), 10))
	const keys = 200_000
	next := 0
	perRun := testing.AllocsPerRun(1, func() {
		for range keys {
			l.Allow(next)
			next++
		}
	})
	require.Less(t, perRun/keys, 0.01)
	require.Equal(t, next, l.Len())
}

// TestInlining: what must not cost a call on the hot path is inlined by the compiler.
func TestInlining(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the core")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", "../atomicstate", "../sharded", ".").CombinedOutput()
	require.NoError(t, err, string(out))
	for _, want := range []string{
		"can inline (*Bucket).Take", "can inline IsLive", "can inline (*leaf).find", "can inline coordinate",
		"can inline (*directory).leafOf", "can inline home", "can inline (*timeline).exact", "can inline (*Table).SweepDue",
		"inlining call to (*leaf).find", "inlining call to atomicstate.IsLive", "inlining call to (*timeline).exact",
		"inlining call to atomicstate.(*Bucket).Take",
	} {
		require.Contains(t, string(out), want, "the compiler no longer says %q: see what grew", want)
	}
}
