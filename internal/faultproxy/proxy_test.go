package faultproxy_test

import (
	"bufio"
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/faultproxy"
)

// server answers each line with the line in upper case, and counts them.
type server struct {
	net.Listener
	executed atomic.Int64
	running  sync.WaitGroup
}

func newServer(t *testing.T) *server {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{Listener: listener}
	s.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.running.Go(func() { s.serve(conn) })
		}
	})
	return s
}

func (s *server) serve(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		s.executed.Add(1)
		if _, err := conn.Write([]byte(strings.ToUpper(line))); err != nil {
			return
		}
	}
}

// setup starts a server and a proxy to it, and ends both with the test.
func setup(t *testing.T) (*server, *faultproxy.Proxy) {
	t.Helper()
	s := newServer(t)
	p, err := faultproxy.New(s.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, p.Close())
		require.NoError(t, p.Close())
		s.Close() //nolint:errcheck // a test may have closed it
		s.running.Wait()
	})
	return s, p
}

// dial connects to the proxy.
func dial(t *testing.T, p *faultproxy.Proxy) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck // it is thrown away
	return conn
}

// ask sends a line and reads one until ctx is done.
func ask(ctx context.Context, conn net.Conn, line string) (string, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return "", err
		}
	}
	if _, err := conn.Write([]byte(line + "\n")); err != nil {
		return "", err
	}
	got, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSuffix(got, "\n"), err
}

func TestPasses(t *testing.T) {
	s, p := setup(t)
	conn := dial(t, p)
	for _, line := range []string{"a", "b", strings.Repeat("long", 10_000)} {
		got, err := ask(t.Context(), conn, line)
		require.NoError(t, err)
		require.Equal(t, strings.ToUpper(line), got)
	}
	require.Equal(t, int64(3), s.executed.Load())
	require.Equal(t, 1, p.Accepted())
}

func TestRefuses(t *testing.T) {
	s, p := setup(t)
	p.Set(faultproxy.Fault{Refuse: true})
	require.Error(t, dialAndAsk(t, p))
	require.Zero(t, s.executed.Load())
	require.Zero(t, p.Accepted())
}

// TestLosesReply: the server has executed the request, the client gets an error.
func TestLosesReply(t *testing.T) {
	s, p := setup(t)
	conn := dial(t, p)
	_, err := ask(t.Context(), conn, "a")
	require.NoError(t, err)
	p.Set(faultproxy.Fault{LoseReply: true})
	_, err = ask(t.Context(), conn, "b")
	require.Error(t, err)
	require.Equal(t, int64(2), s.executed.Load())
	require.Equal(t, 1, p.Lost())
	p.Set(faultproxy.Fault{})
	_, err = ask(t.Context(), dial(t, p), "c")
	require.NoError(t, err)
}

// TestDrops: what is dropped does not arrive, and the connection stays open.
func TestDrops(t *testing.T) {
	for name, c := range map[string]struct {
		fault    faultproxy.Fault
		executed int64
	}{
		"requests": {faultproxy.Fault{DropRequests: true}, 0},
		"replies":  {faultproxy.Fault{DropReplies: true}, 1},
		"late":     {faultproxy.Fault{DelayReply: time.Hour}, 1},
		"early":    {faultproxy.Fault{DelayRequest: time.Hour}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := setup(t)
			p.Set(c.fault)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := ask(ctx, dial(t, p), "a")
			var timeout net.Error
			require.ErrorAs(t, err, &timeout)
			require.True(t, timeout.Timeout())
			require.Equal(t, c.executed, s.executed.Load())
		})
	}
}

// TestDelays: what is late arrives.
func TestDelays(t *testing.T) {
	_, p := setup(t)
	p.Set(faultproxy.Fault{DelayRequest: time.Millisecond, DelayReply: time.Millisecond})
	got, err := ask(t.Context(), dial(t, p), "a")
	require.NoError(t, err)
	require.Equal(t, "A", got)
}

func TestResets(t *testing.T) {
	_, p := setup(t)
	conn := dial(t, p)
	_, err := ask(t.Context(), conn, "a")
	require.NoError(t, err)
	p.Reset()
	_, err = ask(t.Context(), conn, "b")
	require.Error(t, err)
}

// TestServerAway: without a server the client is reset.
func TestServerAway(t *testing.T) {
	s, p := setup(t)
	require.NoError(t, s.Close())
	require.Error(t, dialAndAsk(t, p))
}

// dialAndAsk returns the error of a connection that is to fail early or late.
func dialAndAsk(t *testing.T, p *faultproxy.Proxy) error {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.Addr())
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = ask(t.Context(), conn, "a")
	return err
}
