package cli

import "github.com/alecthomas/kong"

// replayHelp is the help of the flags of penstock replay, by flag.
var replayHelp = kong.Vars{
	"help_rate": "Requests per period, for example 10/1s, 100/1m or 1/1w (units ns, us, ms, s, m, h, d, w).",
	"help_burst": "Requests that may come at once; as many as the rate's N if not given. " +
		"Not used by sliding_log, whose limit is N in any DURATION.",
	"help_algorithm": "token_bucket, gcra (the same decisions) or sliding_log.",
	"help_key": "What shares a limit: client_ip, host (the address field as it is), method, path (without its query), " +
		"user, or several with commas, for example client_ip,path.",
	"help_ipv6_prefix": "IPv6 addresses in one network of so many bits are one client (1 to 128; default 64).",
	"help_format":      "Format of the logs: auto, common or combined. A line counts if its address and time can be read.",
	"help_reorder_window": "A line up to this much behind a later one is put in its place in time; one that comes later still " +
		"counts at the time reached. 0 keeps each log's own order (default 1h).",
	"help_reorder_lines": "Hold back at most so many lines for that, over all logs (default 4000000).",
}

// Help is the text below the flags of penstock replay --help.
func (*replayCmd) Help() string {
	return `Every line is one request, made at the line's own time. Lines are ordered by time; lines of the
same second keep their order in the log, and logs are merged in the order in which they are named.

IPv4 addresses, and IPv4-mapped IPv6 addresses, are clients of their own, without their port;
other IPv6 addresses are grouped by --ipv6-prefix; host names are taken as they are. Requests
without the field that is the key share the key "-".

The answer is an open-loop upper bound: the log shows what clients sent without this limit, and
one that is denied might have slowed down.

Lines that are empty, cut, 1 MiB or longer, or without a readable address and time are skipped and
counted, and the first few are named.

Exit codes:
  0  every log was read and at least one line counts
  1  a log could not be read to its end, or no line counts (what was read is reported)
  2  wrong usage

Example:
  penstock replay --rate 10/1s --burst 20 access.log access.log.1.gz`
}
