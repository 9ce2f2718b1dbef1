//go:build unix

package redis

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store"
)

// TestConnectingIsExplained: what is wrong with an address or an option is told with where, and how to mend it.
func TestConnectingIsExplained(t *testing.T) {
	nobody := servertest.StartRedis(t)
	nobody.Kill()
	open, locked := servertest.StartRedis(t), servertest.StartRedis(t, "--requirepass", "hunter2")
	open.Must(t, "ACL", "SETUSER", "reader", "on", ">hunter2", "-@all", "+get")
	web := httptest.NewServer(nil)
	t.Cleanup(web.Close)
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail
	secure.StartTLS()
	t.Cleanup(secure.Close)
	other, trusting := web.Listener.Addr().String(), &tls.Config{MinVersion: tls.VersionTLS12}
	for name, c := range map[string]struct {
		addr string
		opt  rueidis.ClientOption
		want string
	}{
		"nobody there":       {nobody.Addr, rueidis.ClientOption{}, "cannot connect: does Redis run there, and are host and port right?"},
		"no port":            {"localhost", rueidis.ClientOption{}, `an address has to be host:port, such as "127.0.0.1:6379"`},
		"no such host":       {"nowhere.invalid:6379", rueidis.ClientOption{}, "the name of the host cannot be resolved"},
		"no password":        {locked.Addr, rueidis.ClientOption{}, "the server wants a password"},
		"wrong password":     {locked.Addr, rueidis.ClientOption{Password: "hunter3"}, "the server does not know that user and password"},
		"password too many":  {open.Addr, rueidis.ClientOption{Password: "hunter3", AlwaysRESP2: true}, "the server has no password"},
		"no leave":           {open.Addr, rueidis.ClientOption{Username: "reader", Password: "hunter2", SelectDB: 1}, "the user may not do what is needed: allow EVAL"},
		"no such database":   {open.Addr, rueidis.ClientOption{SelectDB: 99}, "the server has no such database: use a smaller number"},
		"no TLS":             {open.Addr, rueidis.ClientOption{TLSConfig: trusting}, "no answer of Redis"},
		"no TLS, a web page": {other, rueidis.ClientOption{TLSConfig: trusting}, "the server does not speak TLS"},
		"not trusted": {
			secure.Listener.Addr().String(), rueidis.ClientOption{TLSConfig: trusting},
			"the server's certificate is not trusted: set RootCAs and ServerName",
		},
		"a web page": {other, rueidis.ClientOption{}, "no answer of Redis: does Redis run there"},
	} {
		t.Run(name, func(t *testing.T) {
			c.opt.InitAddress = []string{c.addr}
			c.opt.Dialer = net.Dialer{Timeout: time.Second}
			_, err := New(c.opt)
			require.ErrorContains(t, err, "redis: connecting to ["+c.addr+"]: "+c.want)
			require.NotContains(t, err.Error(), "hunter")
		})
	}
}

// TestOptionsAreExplained: all that are wrong at once, and without a connection.
func TestOptionsAreExplained(t *testing.T) {
	_, err := New(rueidis.ClientOption{
		ReplicaOnly: true, PipelineMultiplex: 9, ClusterOption: rueidis.ClusterOption{ShardsRefreshInterval: -1},
		Sentinel: rueidis.SentinelOption{TopologyRefreshInterval: -time.Second},
	})
	require.ErrorIs(t, err, store.ErrOption)
	for _, want := range []string{
		`without InitAddress: name servers, such as []string{"127.0.0.1:6379"}`, "with ReplicaOnly: limits are written to, use masters",
		"with PipelineMultiplex 9: use up to 8, or leave it out", "with ShardsRefreshInterval -1ns: use one above 0, or leave it out",
		"with TopologyRefreshInterval -1s: use one above 0, or leave it out",
	} {
		require.ErrorContains(t, err, "redis.New "+want)
	}
}

// TestClusterThatIsNone: the client of go-redis connects here first.
func TestClusterThatIsNone(t *testing.T) {
	nobody := servertest.StartRedis(t)
	nobody.Kill()
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{nobody.Addr}})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	_, err := FromGoRedis(c)
	require.ErrorContains(t, err, "redis: which slots the nodes have: cannot connect: does Redis run there")
}
