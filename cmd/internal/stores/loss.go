package stores

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
)

// Loss loses answers to calls that decide on their way, and only those that say
// that the call was executed. Its methods are safe for concurrent use.
type Loss struct {
	armed atomic.Bool
	lost  atomic.Int64
}

// Arm loses the next answer: the server has given it, so that the call was
// executed, and the connection breaks in its place.
func (l *Loss) Arm() { l.armed.Store(true) }

// Disarm loses no more answers.
func (l *Loss) Disarm() { l.armed.Store(false) }

// Lost returns how many answers were lost.
func (l *Loss) Lost() int64 { return l.lost.Load() }

// next tells whether the answer that has come is to be lost.
func (l *Loss) next() bool {
	if !l.armed.CompareAndSwap(true, false) {
		return false
	}
	l.lost.Add(1)
	return true
}

// losingConn is a connection to Redis whose answers may be lost.
type losingConn struct {
	net.Conn
	loss    *Loss
	decides atomic.Bool // the last that was written runs a script
}

// Write notes whether what it sends decides.
func (c *losingConn) Write(p []byte) (int, error) {
	c.decides.Store(bytes.Contains(p, []byte("\r\nEVAL")))
	return c.Conn.Write(p)
}

// Read reads what the server sent, or ends the connection in its place. A reply
// that is an error was not executed.
func (c *losingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && p[0] != '-' && c.decides.Load() && c.loss.next() {
		_ = c.Close()
		return 0, io.EOF
	}
	return n, err
}

// dial makes a connection as rueidis would, whose answers may be lost.
func (l *Loss) dial(ctx context.Context, addr string, dialer *net.Dialer, config *tls.Config) (net.Conn, error) {
	dial := dialer.DialContext
	if config != nil {
		dial = (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext
	}
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &losingConn{Conn: conn, loss: l}, nil
}

// losingTransport is an HTTP client of DynamoDB whose answers may be lost.
type losingTransport struct {
	next http.RoundTripper
	loss *Loss
}

// RoundTrip makes a request, and loses its answer if that is to be lost.
func (t losingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK ||
		!strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") || !t.loss.next() {
		return response, err
	}
	_ = response.Body.Close()
	return nil, io.ErrUnexpectedEOF
}
