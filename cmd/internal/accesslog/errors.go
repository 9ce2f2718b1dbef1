package accesslog

// LineError says why a line does not count. All of them are fixed values, so
// that a log full of junk costs no garbage; compare them by pointer or text.
type LineError struct {
	Field  string // "line", "address", "time" or "format"
	Reason string // what is wrong, in a few words
}

// Error returns the reason, which names the field.
func (e *LineError) Error() string { return e.Reason }

var (
	errEmpty    = &LineError{"line", "empty line"}
	errNoHost   = &LineError{"address", "no client address"}
	errHostList = &LineError{"address", "the address field holds a list of addresses; log the one the server trusts"}
	errBadHost  = &LineError{"address", "the address field holds bytes that no address or host name has"}
	errNotIPv4  = &LineError{"address", "the address field is all digits, but no IPv4 address: four numbers up to 255, no leading zeros"}
	// Two fields may name the client.
	errUnclearHost = &LineError{"address", "the client may be the first field, or the second after a virtual host; " +
		"say which with --format combined or --format vhost_combined"}
	errNoTime   = &LineError{"time", "no [time] field"}
	errCutTime  = &LineError{"time", "the line is cut in the middle of the time"}
	errTimeForm = &LineError{"time", "the time is not written as [02/Jan/2006:15:04:05 -0700]"}
	errMonth    = &LineError{"time", "the month is not one of Jan to Dec"}
	errDate     = &LineError{"time", "the date does not exist"}
	errClock    = &LineError{"time", "the time of day does not exist"}
	errZone     = &LineError{"time", "the zone is not ±hhmm"}
	errYear     = &LineError{"time", "the year is not from 1970 to 2261"}
)

// The line is of another kind of log, or not of the format that was asked for.
var (
	errJSON = &LineError{"format", "the line looks like JSON; what is read are the common and combined formats"}
	errTabs = &LineError{"format", "the line looks like tab-separated values; what is read are the common and combined formats"}

	errNotCommon   = &LineError{"format", `not in the common format: host ident user [time] "request" status bytes`}
	errNotCombined = &LineError{
		"format",
		`not in the combined format: host ident user [time] "request" status bytes "referer" "user agent"`,
	}
	errNotVHostCommon = &LineError{
		"format",
		`not in the vhost_common format: virtual-host host ident user [time] "request" status bytes`,
	}
	errNotVHostCombined = &LineError{
		"format",
		`not in the vhost_combined format: virtual-host host ident user [time] "request" status bytes "referer" "user agent"`,
	}
)

// ErrTooLong is the reason given for a line that is longer than the reader
// keeps; the parser itself takes a line of any length.
var ErrTooLong = &LineError{"line", "the line is 1 MiB or longer"}
