package accesslog

// Format says what a line has to be to count.
type Format int

// The formats. All but Auto are exact: a line with less or with more does not count.
const (
	Auto          Format = iota // an address and a time; it is found out whether a virtual host comes first
	Common                      // up to the byte count
	Combined                    // up to the user agent
	VHostCommon                 // Common after a virtual host
	VHostCombined               // Combined after a virtual host
)

// wrong is the error for a line that is not of the format.
func (f Format) wrong() error {
	switch f {
	case Common:
		return errNotCommon
	case Combined:
		return errNotCombined
	case VHostCommon:
		return errNotVHostCommon
	}
	return errNotVHostCombined
}

// checkTail tells whether what follows the time is of the format.
func (f Format) checkTail(tail []byte) error {
	if f == Auto {
		return nil
	}
	rest, ok := cutCommon(tail)
	if f == Combined || f == VHostCombined {
		for range 2 {
			if ok {
				rest, ok = cutQuoted(rest)
			}
		}
	}
	if !ok || len(rest) > 0 {
		return f.wrong()
	}
	return nil
}

// cutCommon cuts off the request, the status and the byte count.
func cutCommon(tail []byte) (rest []byte, ok bool) {
	if rest, ok = cutQuoted(tail); !ok || len(rest) == 0 || rest[0] != ' ' {
		return nil, false
	}
	status, rest := takeWord(rest)
	size, rest := takeWord(rest)
	const maxDigits = 18
	return rest, (len(status) == 3 && digits(status) >= 0 || isDash(status)) &&
		(len(size) > 0 && len(size) <= maxDigits && digits(size) >= 0 || isDash(size))
}

// cutQuoted cuts off a space and a field in quotes that ends.
func cutQuoted(b []byte) (rest []byte, ok bool) {
	if len(b) == 0 || b[0] != ' ' {
		return nil, false
	}
	_, rest, ok = takeQuoted(b)
	return rest, ok && rest != nil
}

func isDash(b []byte) bool { return len(b) == 1 && b[0] == '-' }
