// Package accesslog parses access logs in the common and combined formats,
//
//	host ident user [day/Mon/year:hh:mm:ss ±hhmm] "request" status bytes "referer" "user agent"
//
// one line at a time, from bytes, without regular expressions and without
// allocating. The client's address and the time decide whether a line counts;
// everything else may be missing, empty, cut or binary junk, because the lines
// of scanners and broken clients are traffic too.
package accesslog

import "bytes"

// Format says which fields of a line are read.
type Format int

// The formats. They agree up to the byte count, and no field after the time is
// required, so they differ only in whether referer and user agent are read.
const (
	Auto     Format = iota // read what is there
	Common                 // stop after the byte count
	Combined               // referer and user agent too
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
	e.takeTail(rest[open+timeLen+2:], p.Format)
	return nil
}

// takeHost cuts the first word off the line and checks that it can name a
// client.
func (e *Entry) takeHost(line []byte) (rest []byte, err error) {
	end := bytes.IndexByte(line, ' ')
	if end < 0 {
		end = len(line)
	}
	e.Host = line[:end]
	switch {
	case end == 0 || end == 1 && line[0] == '-':
		return nil, errNoHost
	case line[end-1] == ',':
		return nil, errHostList
	}
	for _, c := range e.Host {
		if !hostByte[c] {
			return nil, errBadHost
		}
	}
	return line[end:], nil
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
