package accesslog

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

// FuzzParseLine holds the parser to what it promises about a line that counts:
// the time stands in the line, in brackets, as the standard library reads it;
// the fields are parts of the line; and the key of the host is stable.
func FuzzParseLine(f *testing.F) {
	for _, line := range []string{
		`203.0.113.9 - frank ` + stamp + ` "GET /a.gif HTTP/1.0" 200 2326 "-" "Mozilla/5.0"`,
		`[2001:db8::1]:53016 - - ` + stamp + ` "\x16\x03\x01" 400 226`,
		`203.0.113.9 - [01/Jan/1990:00:00:00 +0000] \"GET ` + stamp + ` "-" 408 -`,
		`203.0.113.9 - - [31/Feb/2023:13:55:36 -0700] "GET / HTTP/1.1" 200 1`,
		`203.0.113.9 - - [10/Oct/2000:13:55`,
		`www.example.net:443 203.0.113.9 - - ` + stamp + ` "GET / HTTP/1.1" 200 1`,
		`www.example.net 203.0.113.9, - - ` + stamp, `010.0.0.1 - - ` + stamp, `{"a": 1}`, "a\tb\tc",
		`fe80::1%3 - - ` + stamp + ` "GET /\\" 200`,
		``, ` `, `-`, `[`, `a [`, `a []`, "a [\x00] \"",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var p Parser
		var e Entry
		before := bytes.Clone(line)
		err := p.Parse(line, &e)
		if !bytes.Equal(before, line) {
			t.Fatal("the parser changed the line")
		}
		if err != nil {
			var reason *LineError
			if !errors.As(err, &reason) {
				t.Fatalf("the error is a %T", err)
			}
			return
		}
		if len(e.Host) == 0 || !bytes.Contains(line, e.Host) {
			t.Fatalf("host %q of %q", e.Host, line)
		}
		if !holdsTime(line, e.UnixTime) {
			t.Fatalf("time %d is not in %q", e.UnixTime, line)
		}
		for _, field := range [][]byte{e.Ident, e.User, e.Request, e.Method, e.Path, e.Protocol, e.Referer, e.UserAgent} {
			if !bytes.Contains(line, field) {
				t.Fatalf("field %q is not in %q", field, line)
			}
		}
		key := ClientKey(e.Host, 64)
		if parsed, ok := parseAddr(e.Host); ok && parsed.Is4() && ClientKey([]byte(key), 64) != key {
			t.Fatalf("the key of key %q is another", key)
		}
	})
}

// holdsTime tells whether a bracketed time of the line is the given one, as
// the standard library reads it.
func holdsTime(line []byte, unix int64) bool {
	for i := 0; i+timeLen+1 < len(line); i++ {
		if line[i] != '[' || line[i+timeLen+1] != ']' {
			continue
		}
		text := string(line[i+1 : i+1+timeLen])
		leap := int64(0)
		if text[18:20] == "60" { // the standard library knows no leap seconds
			text, leap = text[:18]+"59"+text[20:], 1
		}
		if at, err := time.Parse(layout, text); err == nil && at.Unix()+leap == unix {
			return true
		}
	}
	return false
}
