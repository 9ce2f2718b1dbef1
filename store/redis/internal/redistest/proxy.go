package redistest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy stands between a client and a server, and spoils replies.
type Proxy struct {
	Addr string

	to       string
	listener net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
	fault func() (late time.Duration, lost bool)
	done  sync.WaitGroup
}

// StartProxy starts a proxy in front of the server at an address.
func StartProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: listener.Addr().String(), to: to, listener: listener, conns: map[net.Conn]bool{}}
	p.done.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
		p.done.Wait()
	})
	return p
}

// SetFault sets what is done to replies that come from the server from now on: they are kept back for
// a while, or never arrive, and the connection is closed in their place. nil is nothing.
func (p *Proxy) SetFault(fault func() (late time.Duration, lost bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		p.done.Go(func() { p.copy(server, client, false) })
		p.done.Go(func() { p.copy(client, server, true) })
	}
}

// copy copies from one connection to the other until one of them ends, then closes both.
func (p *Proxy) copy(to, from net.Conn, replies bool) {
	defer func() {
		p.mu.Lock()
		delete(p.conns, from)
		p.mu.Unlock()
		_ = from.Close()
		_ = to.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		fault := p.fault
		p.mu.Unlock()
		if replies && fault != nil {
			late, lost := fault()
			if lost {
				return
			}
			time.Sleep(late)
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
