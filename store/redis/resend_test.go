//go:build unix

package redis

import (
	"net"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/faultproxy"
	"github.com/penstock-go/penstock/internal/servertest"
)

// TestOptionsThatResend: options under which a client sends a command again, the answer to which was
// lost, are overruled, whoever sets them. The callers have time for it.
func TestOptionsThatResend(t *testing.T) {
	const lifetime = 50 * time.Millisecond
	clients := map[string]func(addr string) (*Storage, error){
		"rueidis retries": func(addr string) (*Storage, error) {
			opt := settings(addr)
			opt.DisableRetry = false
			return New(opt)
		},
		"rueidis ends connections": func(addr string) (*Storage, error) {
			opt := settings(addr)
			opt.ConnLifetime = lifetime
			return New(opt)
		},
		"go-redis retries": func(addr string) (*Storage, error) {
			return ofGoRedis(&goredis.Options{Addr: addr, MaxRetries: 5, DialerRetries: 5, Dialer: endedBy((&net.Dialer{}).DialContext)})
		},
		"go-redis ends connections": func(addr string) (*Storage, error) {
			return ofGoRedis(&goredis.Options{Addr: addr, ConnMaxLifetime: lifetime, ConnMaxIdleTime: lifetime})
		},
	}
	for name, connect := range clients {
		t.Run(name, func(t *testing.T) {
			noGoroutineLeft(t)
			server := servertest.StartRedis(t)
			proxy, err := faultproxy.New(server.Addr)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, proxy.Close()) })
			s, err := connect(proxy.Addr())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			l := limiter(t, s, only(plenty), steady(), patient())
			run := &load{}
			for range 4 {
				connected(t, l)
				proxy.Set(faultproxy.Fault{DropReplies: true})
				lose := time.AfterFunc(3*lifetime, func() { // the time of the connections is over, and calls wait
					proxy.Set(faultproxy.Fault{})
					proxy.Reset()
				})
				var done sync.WaitGroup
				for range 8 { // at once, so that the client brings them together
					done.Go(func() { run.take(t.Context(), l, "key") })
				}
				done.Wait()
				require.False(t, lose.Stop(), "calls did not wait")
			}
			run.report(t)
			require.Positive(t, run.unknown.Load())
			n := left(t, l, "key")
			require.Less(t, n, int64(plenty), "none was executed: the test shows nothing")
			run.balanced(t, n)
		})
	}
}

func ofGoRedis(opt *goredis.Options) (*Storage, error) {
	c := goredis.NewClient(opt)
	s, err := FromGoRedis(c)
	if err != nil {
		return nil, err
	}
	return s, c.Close()
}
