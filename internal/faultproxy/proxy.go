// Package faultproxy is a TCP proxy that misbehaves as told, for tests of stores that talk to a server:
// requests that come late or not at all, answers that are lost after the server has executed the
// request, connections that are refused or reset. The test's client connects to [Proxy.Addr] in place
// of the server.
package faultproxy

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Fault is what happens to the traffic from now on, on connections that are open already too. Zero
// fields do nothing.
type Fault struct {
	// Refuse resets new connections at once, before a byte has passed.
	Refuse bool
	// DelayRequest and DelayReply hold back what the client or the server sends.
	DelayRequest, DelayReply time.Duration
	// DropRequests keeps what the client sends from the server, DropReplies what the server sends from
	// the client: it waits for ever.
	DropRequests, DropReplies bool
	// LoseReply lets a request pass, waits for the server's answer, and then resets the connection in
	// place of handing it on: the request was executed, and the client does not know.
	LoseReply bool
}

// Proxy is a proxy to one server. Its methods are safe for concurrent use.
type Proxy struct {
	target   string
	listener net.Listener
	done     chan struct{}
	running  sync.WaitGroup

	mu       sync.Mutex
	fault    Fault
	open     map[net.Conn]struct{}
	accepted int
	lost     int
	closed   bool
}

// New starts a proxy on a free port of the loopback address to the TCP address target. Close it.
func New(target string) (*Proxy, error) {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, listener: listener, done: make(chan struct{}), open: map[net.Conn]struct{}{}}
	p.running.Go(p.accept)
	return p, nil
}

// Addr returns the address to connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set sets what happens from now on; Fault{} is nothing. What is held back already stays so.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// Accepted returns how many connections have been accepted, refused ones not counted.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Lost returns how many answers have been lost by LoseReply.
func (p *Proxy) Lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// Reset resets all open connections.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		reset(conn)
	}
}

// Close ends the proxy and all connections, and returns when its goroutines have ended. It may be
// called again.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	close(p.done)
	for conn := range p.open {
		conn.Close() //nolint:errcheck // it is thrown away
	}
	p.mu.Unlock()
	err := p.listener.Close()
	p.running.Wait()
	return err
}

func (p *Proxy) now() Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

// accept takes connections until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.now().Refuse {
			reset(client)
			continue
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve connects a client with the server until one of them leaves.
func (p *Proxy) serve(client net.Conn) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	server, err := dialer.Dial("tcp", p.target)
	if err != nil {
		reset(client)
		return
	}
	if !p.keep(client, server) {
		return
	}
	defer p.drop(client, server)
	var both sync.WaitGroup
	both.Go(func() { p.pass(client, server, true) })
	both.Go(func() { p.pass(server, client, false) })
	both.Wait()
}

// keep notes the two ends of a connection; false if the proxy has been closed meanwhile.
func (p *Proxy) keep(ends ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range ends {
		if p.closed {
			conn.Close() //nolint:errcheck // it is thrown away
			continue
		}
		p.open[conn] = struct{}{}
	}
	p.accepted++
	return !p.closed
}

func (p *Proxy) drop(ends ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range ends {
		delete(p.open, conn)
		conn.Close() //nolint:errcheck // it is thrown away
	}
}

// chunkBytes is how much is read at once: more than a request or an answer of the tests, so that a
// fault meets it whole.
const chunkBytes = 1 << 16

// pass hands on what one end sends to the other, with the fault that is set when it comes.
func (p *Proxy) pass(from, to net.Conn, requests bool) {
	chunk := make([]byte, chunkBytes)
	for {
		n, err := from.Read(chunk)
		if n > 0 && !p.hand(chunk[:n], from, to, requests) {
			return
		}
		if err != nil {
			end(to, err)
			return
		}
	}
}

// hand hands a chunk on, and reports whether the connection goes on.
func (p *Proxy) hand(chunk []byte, from, to net.Conn, requests bool) bool {
	f := p.now()
	delay, swallow := f.DelayReply, f.DropReplies
	if requests {
		delay, swallow = f.DelayRequest, f.DropRequests
	}
	if !requests && f.LoseReply {
		p.mu.Lock()
		p.lost++
		p.mu.Unlock()
		reset(to)
		reset(from)
		return false
	}
	if !p.wait(delay) {
		return false
	}
	if swallow {
		return true
	}
	_, err := to.Write(chunk)
	return err == nil
}

// wait waits, and reports whether the proxy is still open.
func (p *Proxy) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.done:
		return false
	}
}

// end hands the end of what was read on to the other end: an orderly one as such, a reset as a reset.
func end(to net.Conn, err error) {
	if tcp, ok := to.(*net.TCPConn); ok && !errors.Is(err, net.ErrClosed) {
		tcp.CloseWrite() //nolint:errcheck // the other end may have left before
		return
	}
	reset(to)
}

// reset closes a connection so that the peer sees a reset and not an orderly end.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0) //nolint:errcheck // then the close is an orderly one
	}
	conn.Close() //nolint:errcheck // it is thrown away
}
