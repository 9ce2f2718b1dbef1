//go:build unix

package redis

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/faultproxy"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/redis/internal/redistest"
)

// kinds are limits of all kinds, and how long a key of them lives after one call on a new key: at least
// this, and at most lateness more.
func kinds() map[string]struct {
	limit engine.Limit
	least func(now time.Duration) time.Duration
} {
	until := func(windows int64, window time.Duration) func(time.Duration) time.Duration {
		return func(now time.Duration) time.Duration { return time.Duration(windows)*window - now%window }
	}
	always := func(d time.Duration) func(time.Duration) time.Duration {
		return func(time.Duration) time.Duration { return d }
	}
	return map[string]struct {
		limit engine.Limit
		least func(time.Duration) time.Duration
	}{
		"fixed window":   {engine.FixedWindow(10, time.Minute), until(1, time.Minute)},
		"sliding window": {engine.SlidingWindow(10, time.Minute), until(2, time.Minute)},
		"token bucket":   {engine.TokenBucket(engine.PerSecond(10), 10), always(100 * time.Millisecond)},
		"fraction":       {engine.TokenBucket(engine.Rate{Tokens: 7, Per: 3 * time.Second}, 5), always(428571429 * time.Nanosecond)},
		"leaky queue":    {engine.LeakyQueue(engine.PerSecond(10), 10), always(100 * time.Millisecond)},
		"gcra":           {engine.GCRA(engine.Rate{Tokens: 1, Per: 7 * 24 * time.Hour}, 1), always(7 * 24 * time.Hour)},
	}
}

// lateness is how much longer than it has to a key may live: rounding, and the time between two
// commands on a busy machine.
const lateness = 5 * time.Millisecond

// serverTime returns the time of a server.
func serverTime(t *testing.T, c rueidis.Client) time.Duration {
	t.Helper()
	parts, err := c.Do(t.Context(), c.B().Time().Build()).AsIntSlice()
	require.NoError(t, err)
	return time.Duration(parts[0])*time.Second + time.Duration(parts[1])*time.Microsecond
}

// ways are the two ways to decide.
var ways = map[string]func(*Storage) store.Storage{
	"apply": func(s *Storage) store.Storage { return s },
	"swap":  func(s *Storage) store.Storage { return store.WithoutApply(s) },
}

// TestTimeToLive (S02): a key lives until it equals a new one, not a thousand times as long, and not a
// moment less. The time of its expiry is asked for, so that the machine may be slow.
func TestTimeToLive(t *testing.T) {
	server := redistest.Start(t)
	s := connect(t, server.Addr)
	c, err := rueidis.NewClient(settings(server.Addr))
	require.NoError(t, err)
	defer c.Close()
	for way, of := range ways {
		for name, kind := range kinds() {
			t.Run(way+"/"+name, func(t *testing.T) {
				l := limiter(t, of(s), kind.limit, patient())
				before := serverTime(t, c)
				d, err := l.Take(t.Context(), way+name, 1)
				require.NoError(t, err)
				require.True(t, d.Allowed)
				expires, err := c.Do(t.Context(), c.B().Pexpiretime().Key(l.Key(way+name)).Build()).AsInt64()
				require.NoError(t, err)
				after := serverTime(t, c)
				end := time.Duration(expires) * time.Millisecond
				require.GreaterOrEqual(t, end, before+kind.least(before), "expires too early")
				require.LessOrEqual(t, end, after+kind.least(after)+lateness, "expires too late")
			})
		}
	}
}

// TestAlwaysExpires (S01): a key that was there without a time to live, of any type and with anything in
// it, blocks nobody, and has a time to live after the next call that passes.
func TestAlwaysExpires(t *testing.T) {
	server := redistest.Start(t)
	s := connect(t, server.Addr)
	foreign := map[string][]string{
		"number": {"SET", "", "5"}, "text": {"SET", "", "five"}, "nan": {"SET", "", "nan"}, "empty": {"SET", "", ""},
		"twelve bytes": {"SET", "", "\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x00\x00"}, // not a number
		"sixteen":      {"SET", "", "\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x00\x00\x00\x00\xf8\x7f"},
		"eight":        {"SET", "", "\x00\x00\x00\x00\x00\x00\x00\x00"},
		"list":         {"LPUSH", "", "5"}, "hash": {"HSET", "", "5", "5"},
	}
	for way, of := range ways {
		for name, kind := range kinds() {
			for what, command := range foreign {
				t.Run(way+"/"+name+"/"+what, func(t *testing.T) {
					l := limiter(t, of(s), kind.limit, patient())
					command := append([]string{}, command...)
					command[1] = l.Key("key")
					server.Must(t, "DEL", command[1])
					server.Must(t, command...)
					require.EqualValues(t, -1, server.Integer(t, "PTTL", command[1]))
					d, err := l.Take(t.Context(), "key", 1)
					require.NoError(t, err)
					require.True(t, d.Allowed)
					require.NotEqual(t, int64(-1), server.Integer(t, "PTTL", command[1]))
				})
			}
		}
	}
}

// TestOneWrite (S01): a decision writes by one command, so that nothing can come between the word and
// its time to live: when that one fails, there is neither.
func TestOneWrite(t *testing.T) {
	server := redistest.Start(t, "--maxmemory-policy", "noeviction")
	s := connect(t, server.Addr)
	for way, of := range ways {
		for name, kind := range kinds() {
			l := limiter(t, of(s), kind.limit, patient(), steady())
			server.Must(t, "CONFIG", "SET", "maxmemory", "1")
			_, err := l.Take(t.Context(), way+name, 1)
			require.ErrorIs(t, err, store.ErrUnavailable)
			server.Must(t, "CONFIG", "SET", "maxmemory", "0")
			require.EqualValues(t, -2, server.Integer(t, "PTTL", l.Key(way+name)), "%s %s: something was written", way, name)
			sets := server.Calls(t, "set")
			_, err = l.Take(t.Context(), way+name, 1)
			require.NoError(t, err)
			require.EqualValues(t, 1, server.Calls(t, "set")-sets)
			require.NotEqual(t, int64(-1), server.Integer(t, "PTTL", l.Key(way+name)))
		}
	}
	for _, command := range []string{"expire", "pexpire", "pexpireat", "incr", "incrby"} {
		require.Zero(t, server.Calls(t, command), command)
	}
}

// TestUnknownScripts (S06): a server that forgets its scripts, and an empty one in its place.
func TestUnknownScripts(t *testing.T) {
	byEach(t, func(t *testing.T, connect func(testing.TB, ...string) *Storage) {
		server := redistest.Start(t)
		l := limiter(t, connect(t, server.Addr), only(1000), patient())
		take := func(want int64) {
			t.Helper()
			d, err := l.Take(t.Context(), "key", 1)
			require.NoError(t, err)
			require.EqualValues(t, want, d.Remaining)
		}
		take(999)
		server.Must(t, "SCRIPT", "FLUSH")
		take(998)
		server.Kill()
		server.Restart(t)
		connected(t, l)
		server.Must(t, "SCRIPT", "FLUSH")
		var done sync.WaitGroup
		for range 100 {
			done.Go(func() {
				if d, err := l.Take(t.Context(), "key", 1); err != nil || !d.Allowed {
					t.Errorf("%+v, %v", d, err)
				}
			})
		}
		done.Wait()
		require.EqualValues(t, 900, left(t, l, "key"))
	})
}

// TestStoreAway (S10): a store that is refused, slow or full of errors is no limit that is exceeded.
// Every policy gives its own answer, within the deadline, and the store decides again when it is back.
func TestStoreAway(t *testing.T) {
	faults := map[string]faultproxy.Fault{
		"refused": {Refuse: true}, "slow": {DropReplies: true}, "lost": {LoseReply: true},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			byEach(t, func(t *testing.T, connect func(testing.TB, ...string) *Storage) {
				server := redistest.Start(t)
				proxy, err := faultproxy.New(server.Addr)
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, proxy.Close()) })
				log, option := logged()
				backend, err := store.NewBackend(connect(t, proxy.Addr()), option, quick())
				require.NoError(t, err)
				by := map[store.Policy]*store.Shared{}
				for _, p := range []store.Policy{store.LocalShare, store.Closed, store.Open} {
					by[p], err = backend.Limiter(map[store.Policy]string{store.LocalShare: "local", store.Closed: "closed", store.Open: "open"}[p],
						only(4), store.WithPolicy(p), store.WithProcesses(2))
					require.NoError(t, err)
					defer by[p].Close()
					left(t, by[p], "other")
				}
				failed := func(l *store.Shared) uint64 { return l.Stats().Unavailable + l.Stats().Unknown }
				before := map[*store.Shared]uint64{}
				for _, l := range by {
					before[l] = failed(l)
				}
				proxy.Set(fault)
				proxy.Reset()
				for i := range 6 {
					answers(t, by, i)
				}
				require.Len(t, log.of("opened"), 1)
				for _, l := range by {
					require.EqualValues(t, 6, failed(l)-before[l])
				}
				proxy.Set(faultproxy.Fault{})
				proxy.Reset()
				require.EqualValues(t, 4, left(t, by[store.Closed], "another"))
				require.Len(t, log.of("closed"), 1)
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
