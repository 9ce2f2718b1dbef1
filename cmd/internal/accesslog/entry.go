// Package accesslog parses access logs in the common and combined formats,
//
//	host ident user [day/Mon/year:hh:mm:ss ±hhmm] "request" status bytes "referer" "user agent"
//
// also with a virtual host in front, // one line at a time, from bytes, without regular expressions and without
// allocating. The client's address and the time decide whether a line counts;
// everything else may be missing, empty, cut or binary junk, because the lines
// of scanners and broken clients are traffic too.
package accesslog

import (
	"bytes"
	"errors"
)

// Entry is one parsed line. Its slices point into the line that was parsed and
// are valid as long as that is; a field that is missing is empty. Escapes that
// the server wrote (\x16, \") are kept as they are.
type Entry struct {
	Host      []byte // as written: an address, an address with a port, or a name
	Ident     []byte
	User      []byte // may hold spaces
	UnixTime  int64  // seconds since 1970 UTC, 0 <= UnixTime < 9,214,646,400
	Request   []byte // the whole request field, without its quotes
	Method    []byte // empty if the request does not start with a method
	Path      []byte // the target with its query; may hold spaces
	Protocol  []byte
	Status    int   // 0 if missing
	Bytes     int64 // -1 if missing or "-"
	Referer   []byte
	UserAgent []byte
}

// Parser parses lines. The zero value reads Auto. It remembers the last time
// field, since neighbours in a log mostly share it, and so must not be used by
// two goroutines at once.
type Parser struct {
	Format Format

	lastTime [timeLen]byte
	lastUnix int64
	hasLast  bool
}

// Parse reads one line, without its line end, into e. The error is a *LineError
// that says which field makes the line unusable; e is then not meaningful.
func (p *Parser) Parse(line []byte, e *Entry) error {
	err := p.parse(line, e)
	if errors.Is(err, errBadHost) || errors.Is(err, errNoTime) || errors.Is(err, errTimeForm) {
		return otherFormat(line, err)
	}
	return err
}

// otherFormat is the error for a line that looks like one of another kind of
// log, err if it does not.
func otherFormat(line []byte, err error) error {
	const tabs = 2
	switch {
	case bytes.HasPrefix(line, []byte{'{'}) && (len(line) == 1 || bytes.Contains(line, []byte(`":`))),
		bytes.HasPrefix(line, []byte(`[{"`)):
		return errJSON
	case bytes.Count(line, []byte{'\t'}) >= tabs:
		return errTabs
	}
	return err
}

func (p *Parser) parse(line []byte, e *Entry) error {
	*e = Entry{Bytes: -1}
	if len(line) == 0 {
		return errEmpty
	}
	rest, err := e.takeHost(line)
	if err != nil {
		return err
	}
	open, err := findTime(rest)
	if err != nil {
		return err
	}
	if e.UnixTime, err = p.unixTime(rest[open+1 : open+1+timeLen]); err != nil {
		return err
	}
	e.splitUser(rest[:open])
	if err := e.findClient(p.Format); err != nil {
		return err
	}
	tail := rest[open+timeLen+2:]
	e.takeTail(tail)
	return p.Format.checkTail(tail)
}

// takeHost cuts the first word off the line and checks that it can name a
// client.
func (e *Entry) takeHost(line []byte) (rest []byte, err error) {
	end := bytes.IndexByte(line, ' ')
	if end < 0 {
		end = len(line)
	}
	e.Host = line[:end]
	return line[end:], checkHost(e.Host)
}

// checkHost tells whether a word can name a client.
func checkHost(host []byte) error {
	switch {
	case isIPv4(host): // nearly all
		return nil
	case len(host) == 0 || isDash(host):
		return errNoHost
	case host[len(host)-1] == ',':
		return errHostList
	}
	numeric, colons := true, 0
	for _, c := range host {
		switch {
		case !hostByte[c]:
			return errBadHost
		case c == ':':
			colons++
		case c != '.' && (c < '0' || c > '9'):
			numeric = false
		}
	}
	if numeric && colons <= 1 && !isIPv4(stripPort(host)) {
		return errNotIPv4
	}
	return nil
}

// splitUser reads what stands between the host and the time. The user's name
// is the client's to choose and may hold spaces, so it is all after the ident.
func (e *Entry) splitUser(between []byte) {
	between = bytes.TrimSpace(between)
	ident, user, _ := bytes.Cut(between, []byte{' '})
	e.Ident, e.User = ident, user
}

// hostByte holds the bytes that addresses, host names, ports, zones and
// "unix:" are made of.
var hostByte = func() (ok [256]bool) {
	for c := '!'; c <= '~'; c++ {
		ok[c] = true
	}
	for _, c := range "\"'\\<>(){},;=`" {
		ok[c] = false
	}
	return ok
}()
