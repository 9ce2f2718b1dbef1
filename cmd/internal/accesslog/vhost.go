package accesslog

import "bytes"

// Apache's vhost_common and vhost_combined put the virtual host before the
// client:
//
//	www.example.net:443 203.0.113.9 - - [time] "request" ...
//
// which reads like a client with an ident and a user that holds a space.

// likeness is what a field looks like.
type likeness uint8

const (
	missing likeness = iota // nothing, or "-"
	name                    // a host name, or another word
	nameAndPort
	address
	addressAndPort
)

// look tells what a field looks like.
func look(field []byte) likeness {
	if len(field) == 0 || isDash(field) {
		return missing
	}
	bare := stripPort(field)
	port := len(bare) < len(field) && field[len(field)-1] != ']'
	isAddress := isIPv4(bare)
	if !isAddress && bytes.IndexByte(bare, ':') >= 0 {
		_, isAddress = parseAddr(bare)
	}
	switch {
	case isAddress && port:
		return addressAndPort
	case isAddress:
		return address
	case port:
		return nameAndPort
	}
	return name
}

// findClient makes e.Host the client, which is the second field if the first is
// a virtual host.
func (e *Entry) findClient(f Format) error {
	four := bytes.IndexByte(e.User, ' ') >= 0
	switch f {
	case VHostCommon, VHostCombined:
		if !four || look(e.Ident) == missing {
			return f.wrong()
		}
		return e.dropVirtualHost()
	case Auto:
	default:
		if first, _ := e.virtualHost(four); first {
			return f.wrong()
		}
		return nil
	}
	switch first, sure := e.virtualHost(four); {
	case !sure:
		return errUnclearHost
	case first:
		return e.dropVirtualHost()
	}
	return nil
}

// virtualHost tells whether the first field is a virtual host, and whether that
// is sure. four tells whether there are four fields before the time or more.
func (e *Entry) virtualHost(four bool) (first, sure bool) {
	if isDash(e.Ident) && !four {
		return false, true // nearly all lines
	}
	host, next := look(e.Host), look(e.Ident)
	isAddress := next == address || next == addressAndPort
	switch {
	case !four:
		// An ident is no address, but the address may be in its place.
		return false, !isAddress || host == address || host == addressAndPort
	case host == nameAndPort:
		return true, true // no client is written so
	case next == missing:
		return false, true // a user with a space
	case isAddress:
		return host != address, host != address // of two addresses either may be the client
	}
	return false, host == address
}

// dropVirtualHost moves the fields up by one.
func (e *Entry) dropVirtualHost() error {
	e.Host = e.Ident
	e.splitUser(e.User)
	return checkHost(e.Host)
}
