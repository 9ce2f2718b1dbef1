package redis

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

// answerHints are what a server says when it is connected to, and what helps; the first that fits.
var answerHints = []struct{ says, help string }{
	{"WRONGPASS", "the server does not know that user and password: see the client's options"},
	{"AUTH <password> called without", "the server has no password: leave it out of the client's options"},
	{"NOAUTH", "the server wants a password: set it in the client's options, with the user if there is one"},
	{"NOPERM", "the user may not do what is needed: allow EVAL, EVALSHA, TIME, GET, SET and DEL, " +
		"CLUSTER SLOTS in a cluster, and SELECT for a database but 0"},
	{"SELECT is not allowed in cluster mode", "a cluster has database 0 only: leave out the database"},
	{"DB index is out of range", "the server has no such database: use a smaller number"},
	{"CLUSTERDOWN", "the cluster does not serve all slots: see `redis-cli cluster info`"},
	{"LOADING", "the server is reading its data: try again when it has started"},
	{"unknown message type", notRedis},
}

const notRedis = "no answer of Redis: does Redis run there, and does one of the two speak TLS and the other not?"

// connecting explains an error of connecting: what is wrong, where, and how to put it right.
func connecting(where string, err error) error {
	if help := connectHint(err); help != "" {
		return fmt.Errorf("redis: %s: %s: %w", where, help, err)
	}
	return fmt.Errorf("redis: %s: %w", where, err)
}

// connectHint says how to mend an error of connecting, "" if that is not known.
func connectHint(err error) string {
	for _, h := range answerHints {
		if strings.Contains(err.Error(), h.says) {
			return h.help
		}
	}
	var address *net.AddrError
	var name *net.DNSError
	var record tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.As(err, &address):
		return `an address has to be host:port, such as "127.0.0.1:6379"`
	case errors.As(err, &name):
		return "the name of the host cannot be resolved: is it right?"
	case errors.As(err, &record):
		return "the server does not speak TLS: leave out the client's TLS configuration"
	case errors.As(err, &authority), errors.As(err, &host):
		return "the server's certificate is not trusted: set RootCAs and ServerName of the client's TLS configuration"
	case unsent(err):
		return "cannot connect: does Redis run there, and are host and port right?"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF):
		return notRedis
	}
	return ""
}
