package accesslog

import "bytes"

// takeTail reads what follows the time. Nothing in it is required: it stops
// where the line stops making sense and leaves the rest empty.
func (e *Entry) takeTail(tail []byte) {
	var ok bool
	if e.Request, tail, ok = takeQuoted(tail); !ok {
		return
	}
	e.splitRequest()
	e.Status, tail = takeStatus(tail)
	e.Bytes, tail = takeBytes(tail)
	if e.Referer, tail, ok = takeQuoted(tail); !ok {
		return
	}
	e.UserAgent, _, _ = takeQuoted(tail)
}

// takeQuoted reads a quoted field after at most one space. A quote after a
// backslash belongs to the field. A field that is cut runs to the line's end, and
// rest is then nil.
func takeQuoted(b []byte) (field, rest []byte, ok bool) {
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	if len(b) == 0 || b[0] != '"' {
		return nil, b, false
	}
	b = b[1:]
	for from := 0; ; {
		end := bytes.IndexByte(b[from:], '"')
		if end < 0 {
			return b, nil, true
		}
		if end += from; !escaped(b[:end]) {
			return b[:end], b[end+1:], true
		}
		from = end + 1
	}
}

// escaped tells whether what follows b is escaped: an odd number of
// backslashes stands before it.
func escaped(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// splitRequest reads the request field as METHOD target PROTOCOL. The target
// may hold spaces. What does not start with a method (a TLS handshake sent to
// a plain port, "-", nothing) is left whole in Request.
func (e *Entry) splitRequest() {
	method, rest, _ := bytes.Cut(e.Request, []byte{' '})
	if !isMethod(method) {
		return
	}
	e.Method, e.Path = method, rest
	last := bytes.LastIndexByte(rest, ' ') // -1: a protocol right after the method
	if bytes.HasPrefix(rest[last+1:], []byte("HTTP/")) {
		e.Path, e.Protocol = rest[:max(last, 0)], rest[last+1:]
	}
}

// isMethod tells whether b looks like an HTTP method: capitals, with hyphens
// and underscores allowed inside.
func isMethod(b []byte) bool {
	if len(b) == 0 || b[0] < 'A' || b[0] > 'Z' {
		return false
	}
	for _, c := range b {
		if (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// takeStatus reads a status of three digits; anything else counts as missing.
func takeStatus(b []byte) (int, []byte) {
	word, rest := takeWord(b)
	if len(word) != 3 {
		return 0, rest
	}
	return max(digits(word), 0), rest
}

// takeBytes reads the size of the answer, -1 if it is missing.
func takeBytes(b []byte) (int64, []byte) {
	const maxDigits = 18 // always fits
	word, rest := takeWord(b)
	if len(word) == 0 || len(word) > maxDigits {
		return -1, rest
	}
	return int64(digits(word)), rest
}

func takeWord(b []byte) (word, rest []byte) {
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	if end := bytes.IndexByte(b, ' '); end >= 0 {
		return b[:end], b[end:]
	}
	return b, nil
}
