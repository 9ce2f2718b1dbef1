//go:build unix

package redis

import (
	"strconv"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
	"github.com/penstock-go/penstock/store/redis/internal/redistest"
)

// testClock takes the time from the caller, and lets keys live while the test runs; when they would
// have expired is kept beside them.
const testClock = `
local now = tonumber(ARGV[#ARGV])
local function keep(key, value, at)
  redis.call('SET', key, value)
  redis.call('SET', key .. ':at', math.ceil(at / 1000))
end
`

var testScripts = sync.OnceValue(func() *scripts { return newScripts(testClock) })

// withClock makes a storage take the time from clock; nil leaves it as it is.
func (s *Storage) withClock(clock engine.Clock) *Storage {
	if clock != nil {
		s.scripts = testScripts()
		s.extra = func() []string { return []string{strconv.FormatInt(int64(clock.Now()/tick), 10)} }
	}
	return s
}

// settings are those of a client for tests: small, since there are many.
func settings(addrs ...string) rueidis.ClientOption {
	return rueidis.ClientOption{InitAddress: addrs, ReadBufferEachConn: 1 << 12, WriteBufferEachConn: 1 << 12, RingScaleEachConn: 8}
}

// connect makes a storage by rueidis.
func connect(t testing.TB, addrs ...string) *Storage {
	t.Helper()
	s, err := New(settings(addrs...))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// connectGoRedis makes a storage by go-redis.
func connectGoRedis(t testing.TB, addrs ...string) *Storage {
	t.Helper()
	var c goredis.UniversalClient
	if len(addrs) > 1 {
		c = goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: addrs})
	} else {
		c = goredis.NewClient(&goredis.Options{Addr: addrs[0]})
	}
	s, err := FromGoRedis(c)
	require.NoError(t, err)
	require.NoError(t, c.Close()) // it has connections of its own
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// libraries are the two ways to connect.
var libraries = map[string]func(testing.TB, ...string) *Storage{"rueidis": connect, "go-redis": connectGoRedis}

// flush empties a server, and lets it forget all scripts.
func flush(t testing.TB, nodes ...*redistest.Server) {
	t.Helper()
	for _, s := range nodes {
		s.Must(t, "FLUSHALL")
		s.Must(t, "SCRIPT", "FLUSH")
	}
}

// limiter puts a limit on a storage.
func limiter(t testing.TB, s store.Storage, l engine.Limit, opts ...any) *store.Shared {
	t.Helper()
	var ofBackend []store.Option
	ofLimit := []store.LimitOption{store.WithPolicy(store.Closed)}
	for _, opt := range opts {
		switch opt := opt.(type) {
		case store.Option:
			ofBackend = append(ofBackend, opt)
		case store.LimitOption:
			ofLimit = append(ofLimit, opt)
		}
	}
	backend, err := store.NewBackend(s, ofBackend...)
	require.NoError(t, err)
	shared, err := backend.Limiter("limit", l, ofLimit...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, shared.Close()) })
	return shared
}

// patient gives calls so long that a busy machine does not fail them.
func patient() store.Option { return store.WithDeadline(10 * time.Second) }

// keys returns the keys of a server with a pattern.
func keys(t testing.TB, s *redistest.Server, pattern string) []string {
	t.Helper()
	c, err := rueidis.NewClient(settings(s.Addr))
	require.NoError(t, err)
	defer c.Close()
	found, err := c.Do(t.Context(), c.B().Keys().Pattern(pattern).Build()).AsStrSlice()
	require.NoError(t, err)
	return found
}

// ttl returns how long a key lives.
func ttl(t testing.TB, s *redistest.Server, key string) time.Duration {
	t.Helper()
	n := s.Integer(t, "PTTL", key)
	return time.Duration(n) * time.Millisecond
}

// only is a limit whose permits never return, so that all that was charged can be counted.
func only(permits int64) engine.Limit {
	return engine.TokenBucket(engine.Rate{Tokens: 0, Per: time.Second}, permits)
}
