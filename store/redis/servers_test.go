//go:build unix

package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/faultproxy"
	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// TestMain keeps go-redis from writing each connection that it cannot make to standard error.
func TestMain(m *testing.M) {
	goredis.SetLogger(silent{})
	os.Exit(m.Run())
}

// silent is a log that nobody reads.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

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

// dialer makes connections in place of a client's own.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// library makes a storage by a client library. A nil dialer is the client's own.
type library func(t testing.TB, dial dialer, addrs ...string) *Storage

// libraries are the two ways to connect.
var libraries = map[string]library{"rueidis": byRueidis, "go-redis": byGoRedis}

func byRueidis(tb testing.TB, dial dialer, addrs ...string) *Storage {
	tb.Helper()
	opt := settings(addrs...)
	if dial != nil {
		opt.DialCtxFn = func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return dial(ctx, "tcp", addr)
		}
	}
	s, err := New(opt)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	return s
}

func byGoRedis(tb testing.TB, dial dialer, addrs ...string) *Storage {
	tb.Helper()
	var c goredis.UniversalClient
	if len(addrs) > 1 {
		c = goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: addrs, Dialer: dial})
	} else {
		c = goredis.NewClient(&goredis.Options{Addr: addrs[0], Dialer: dial})
	}
	s, err := FromGoRedis(c)
	require.NoError(tb, err)
	require.NoError(tb, c.Close()) // it has connections of its own
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	return s
}

// byEach runs a test with each of the client libraries.
func byEach(t *testing.T, test func(t *testing.T, connect library)) {
	t.Helper()
	for name, connect := range libraries {
		t.Run(name, func(t *testing.T) {
			noGoroutineLeft(t)
			test(t, connect)
		})
	}
}

// place is where the words are: one server, or a cluster.
type place struct {
	addrs   []string
	masters func() []*servertest.Redis
}

// alone starts one server.
func alone(tb testing.TB) *place {
	tb.Helper()
	server := servertest.StartRedis(tb)
	return &place{[]string{server.Addr}, func() []*servertest.Redis { return []*servertest.Redis{server} }}
}

// placeOf is a cluster as a place.
func placeOf(c *servertest.RedisCluster) *place { return &place{c.Addrs(), c.Masters} }

// node returns the server that a key lives on.
func (p *place) node(tb testing.TB, key string) *servertest.Redis {
	tb.Helper()
	for _, s := range p.masters() {
		if _, err := s.Do("EXISTS", key); err == nil {
			return s
		}
	}
	tb.Fatal("no server has ", key)
	return nil
}

// set sets a parameter of all servers.
func (p *place) set(tb testing.TB, parameter, value string) {
	tb.Helper()
	for _, s := range p.masters() {
		s.Must(tb, "CONFIG", "SET", parameter, value)
	}
}

// calls returns how often the servers have run a command, all together.
func (p *place) calls(tb testing.TB, command string) (n int64) {
	tb.Helper()
	for _, s := range p.masters() {
		n += s.Calls(tb, command)
	}
	return n
}

// faulty puts a proxy before every server, replicas too, and returns a dialer that goes through them.
func (p *place) faulty(tb testing.TB) (dialer, proxies) {
	tb.Helper()
	all := proxies{}
	for _, addr := range p.addrs {
		proxy, err := faultproxy.New(addr)
		require.NoError(tb, err)
		tb.Cleanup(func() { require.NoError(tb, proxy.Close()) })
		all[addr] = proxy
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, all[addr].Addr())
	}, all
}

// proxies stand before the servers of these addresses.
type proxies map[string]*faultproxy.Proxy

// set sets the faults, and resets the connections that are open if it is told so.
func (p proxies) set(f faultproxy.Fault, reset bool) {
	for _, proxy := range p {
		if proxy.Set(f); reset {
			proxy.Reset()
		}
	}
}

// lost returns how many answers have been lost.
func (p proxies) lost() (n int) {
	for _, proxy := range p {
		n += proxy.Lost()
	}
	return n
}

// ended is a connection that seems to end in good order when it is reset: as when a server that dies has
// read all that was sent. Clients tell the two apart.
type ended struct{ net.Conn }

func (c ended) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if errors.Is(err, syscall.ECONNRESET) {
		err = io.EOF
	}
	return n, err
}

// endedBy makes connections of dial that end in place of being reset.
func endedBy(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return ended{conn}, nil
	}
}

// flush empties the servers, and lets them forget all scripts.
func (p *place) flush(tb testing.TB) {
	tb.Helper()
	for _, s := range p.masters() {
		s.Must(tb, "FLUSHALL")
		s.Must(tb, "SCRIPT", "FLUSH")
	}
}

// limiter puts a limit on a storage.
func limiter(tb testing.TB, s store.Storage, l engine.Limit, opts ...any) *store.Shared {
	tb.Helper()
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
	require.NoError(tb, err)
	shared, err := backend.Limiter("limit", l, ofLimit...)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, shared.Close()) })
	return shared
}

// patient gives calls so long that a busy machine does not fail them.
func patient() store.Option { return store.WithDeadline(10 * time.Second) }

// only is a limit whose permits never return, so that all that was charged can be counted.
func only(permits int64) engine.Limit {
	return engine.TokenBucket(engine.Rate{Tokens: 0, Per: time.Second}, permits)
}
