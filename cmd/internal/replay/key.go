package replay

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/penstock-go/penstock/cmd/internal/accesslog"
)

// field is one part of a key: where its bytes come from, and how they are
// written in the key (nil: as they are).
type field struct {
	name  string
	bytes func(e *accesslog.Entry) []byte
	text  func(raw []byte, ipv6Bits int) string
}

// fields is the one list of what a key can be made of: to add one, add a line.
var fields = []field{
	{"client_ip", func(e *accesslog.Entry) []byte { return e.Host }, accesslog.ClientKey},
	{"host", func(e *accesslog.Entry) []byte { return e.Host }, nil},
	{"method", func(e *accesslog.Entry) []byte { return e.Method }, nil},
	{"path", pathWithoutQuery, nil},
	{"user", func(e *accesslog.Entry) []byte { return e.User }, nil},
}

func pathWithoutQuery(e *accesslog.Entry) []byte {
	path, _, _ := bytes.Cut(e.Path, []byte{'?'})
	return path
}

// KeySpec says what requests share a limit: those that agree in all its
// fields.
type KeySpec struct {
	fields   []field
	ipv6Bits int
}

// ParseKey reads a list of fields separated by commas (client_ip, host,
// method, path, user). ipv6Bits is the size of the IPv6 network that counts as
// one client, 1 to 128.
func ParseKey(text string, ipv6Bits int) (KeySpec, error) {
	spec := KeySpec{ipv6Bits: ipv6Bits}
	if text == "" {
		return KeySpec{}, fmt.Errorf("the key is empty; name what shares a limit (fields: %s), for example client_ip",
			strings.Join(fieldNames(), ", "))
	}
	for _, name := range strings.Split(text, ",") {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			return KeySpec{}, fmt.Errorf("%q: there is no field %q (fields: %s), for example client_ip or client_ip,path",
				text, name, strings.Join(fieldNames(), ", "))
		}
		if spec.Has(name) {
			return KeySpec{}, fmt.Errorf("%q: the field %q stands there twice; name each field once, for example client_ip,path",
				text, name)
		}
		spec.fields = append(spec.fields, fields[i])
	}
	return spec, nil
}

func fieldNames() []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// String names the fields.
func (s KeySpec) String() string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return strings.Join(names, ",")
}

// Words says for people what the key is.
func (s KeySpec) Words() string {
	text := s.String()
	if s.Has("client_ip") {
		text += fmt.Sprintf(" (IPv6 by /%d)", s.ipv6Bits)
	}
	return text
}

// Has tells whether the named field is part of the key.
func (s KeySpec) Has(name string) bool {
	return slices.ContainsFunc(s.fields, func(f field) bool { return f.name == name })
}

// key writes the key of an entry, its fields separated by a space; spaces
// inside a field of several are escaped. A field that is missing is "-", as in
// logs.
func (s KeySpec) key(e *accesslog.Entry) string {
	parts := make([]string, len(s.fields))
	for i, f := range s.fields {
		raw := f.bytes(e)
		switch {
		case len(raw) == 0:
			parts[i] = "-"
		case f.text != nil:
			parts[i] = printable(f.text(raw, s.ipv6Bits))
		default:
			parts[i] = printable(string(raw))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], " ", `\x20`)
	}
	return strings.Join(parts, " ")
}

// printable writes what a terminal must not see (control characters, bytes
// that are no UTF-8) as \xhh or \u{hh}, so that a log cannot steer the terminal.
func printable(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1 || r < utf8.RuneSelf && unsafeRune(r):
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unsafeRune(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

func unsafeRune(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
