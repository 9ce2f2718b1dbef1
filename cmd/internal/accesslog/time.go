package accesslog

import "bytes"

const (
	timeLen   = len("02/Jan/2006:15:04:05 -0700")
	firstYear = 1970
	lastYear  = 2261 // nanoseconds since 1970 fit in an int64 up to its end
	daySecs   = 24 * 60 * 60
)

// findTime returns where the bracket that opens the time stands.
//
// The user's name comes before it and is chosen by the client, so the first
// bracket may be a trap: a name that looks like a time. The quote that opens
// the request cannot be forged, since servers escape quotes inside fields. So
// the bracket counts that is closed right before a quote; only a line without
// a request falls back on the first bracket.
func findTime(rest []byte) (int, error) {
	first := bytes.IndexByte(rest, '[')
	if first < 0 {
		return 0, errNoTime
	}
	if closesBeforeRequest(rest, first+timeLen+1) {
		return first, nil
	}
	if end := bytes.Index(rest, []byte(`] "`)); end > timeLen && rest[end-timeLen-1] == '[' {
		return end - timeLen - 1, nil
	}
	switch end := first + timeLen + 1; {
	case end < len(rest) && rest[end] == ']':
		return first, nil
	case bytes.IndexByte(rest[first:], ']') < 0:
		return 0, errCutTime
	}
	return 0, errTimeForm
}

func closesBeforeRequest(rest []byte, end int) bool {
	return end+2 < len(rest) && rest[end] == ']' && rest[end+1] == ' ' && rest[end+2] == '"'
}

// unixTime reads a time field of timeLen bytes, from memory if it is the same
// as the one before.
func (p *Parser) unixTime(b []byte) (int64, error) {
	if p.hasLast && bytes.Equal(b, p.lastTime[:]) {
		return p.lastUnix, nil
	}
	unix, err := parseTime(b)
	if err != nil {
		return 0, err
	}
	copy(p.lastTime[:], b)
	p.lastUnix, p.hasLast = unix, true
	return unix, nil
}

// parseTime reads "02/Jan/2006:15:04:05 -0700" as seconds since 1970 UTC. The
// zone is taken from the line itself, so the hour that is repeated when
// daylight saving ends comes out right.
func parseTime(b []byte) (int64, error) {
	if !hasSeparators(b) {
		return 0, errTimeForm
	}
	day, year := digits(b[0:2]), digits(b[7:11])
	hour, minute, second := digits(b[12:14]), digits(b[15:17]), digits(b[18:20])
	if min(day, year, hour, minute, second) < 0 {
		return 0, errTimeForm
	}
	month := monthNumber(b[3], b[4], b[5])
	switch {
	case month == 0:
		return 0, errMonth
	case year < firstYear || year > lastYear:
		return 0, errYear
	case day < 1 || day > daysIn(year, month):
		return 0, errDate
	case hour > 23 || minute > 59 || second > 60: // 60: a leap second
		return 0, errClock
	}
	offset, err := parseZone(b[21:26])
	if err != nil {
		return 0, err
	}
	unix := daysSince1970(year, month, day)*daySecs + int64(hour*3600+minute*60+second) - int64(offset)
	if unix < 0 || unix >= daysSince1970(lastYear+1, 1, 1)*daySecs {
		return 0, errYear
	}
	return unix, nil
}

func hasSeparators(b []byte) bool {
	return b[2] == '/' && b[6] == '/' && b[11] == ':' && b[14] == ':' && b[17] == ':' && b[20] == ' '
}

// parseZone reads ±hhmm as seconds east of UTC.
func parseZone(b []byte) (int, error) {
	hours, minutes := digits(b[1:3]), digits(b[3:5])
	if b[0] != '+' && b[0] != '-' || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 {
		return 0, errZone
	}
	offset := hours*3600 + minutes*60
	if b[0] == '-' {
		offset = -offset
	}
	return offset, nil
}

// digits returns the number that b spells, or -1 if a byte is no digit.
func digits(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// monthNumber returns 1 to 12 for an English month name of three letters in
// any case, or 0.
func monthNumber(a, b, c byte) int {
	const lower = 0x20
	switch [3]byte{a | lower, b | lower, c | lower} {
	case [3]byte{'j', 'a', 'n'}:
		return 1
	case [3]byte{'f', 'e', 'b'}:
		return 2
	case [3]byte{'m', 'a', 'r'}:
		return 3
	case [3]byte{'a', 'p', 'r'}:
		return 4
	case [3]byte{'m', 'a', 'y'}:
		return 5
	case [3]byte{'j', 'u', 'n'}:
		return 6
	case [3]byte{'j', 'u', 'l'}:
		return 7
	case [3]byte{'a', 'u', 'g'}:
		return 8
	case [3]byte{'s', 'e', 'p'}:
		return 9
	case [3]byte{'o', 'c', 't'}:
		return 10
	case [3]byte{'n', 'o', 'v'}:
		return 11
	case [3]byte{'d', 'e', 'c'}:
		return 12
	}
	return 0
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysSince1970 counts days in the Gregorian calendar, with years that begin
// in March so that the leap day comes last.
func daysSince1970(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1
	const daysTo1970 = 719468 // from 1 March of year 0
	return int64(days - daysTo1970)
}
