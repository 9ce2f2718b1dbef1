package cli

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/penstock-go/penstock/cmd/internal/limits"
)

// replayHelp is the help of the flags of penstock replay, by flag.
var replayHelp = kong.Vars{
	"help_rate": "Requests per period, for example 10/1s, 100/1m or 1/1w (units ns, us, ms, s, m, h, d, w).",
	"help_burst": "Requests that may come at once, or wait in a leaky_queue; as many as the rate's N if not given. " +
		"The windows and the log have none: their limit is N.",
	"help_algorithm": strings.Join(limits.Names(), ", ") + " (default token_bucket).",
	"help_key": "What shares a limit: client_ip, host (the address field as it is), method, path (without its query), " +
		"user, or several with commas, for example client_ip,path (default client_ip).",
	"help_limit": "A limit in words instead of the flags above, for example '" + limits.Example + "'; " +
		"give the flag again for another limit. name and rate must be there.",
	"help_ipv6_prefix": "IPv6 addresses in one network of so many bits are one client (1 to 128; default 64).",
	"help_format": "auto: a line counts if its address and time can be read, also after a virtual host. common, combined, " +
		"vhost_common, vhost_combined: it counts if it is exactly that (default auto).",
	"help_reorder_window": "A line up to this much behind a later one is put in its place in time; one that comes later still " +
		"counts at the time reached. 0 keeps each log's own order (default 1h).",
	"help_reorder_lines": "Hold back at most so many lines for that, over all logs (default 4000000).",
}

// Help is the text below the flags of penstock replay --help.
func (*replayCmd) Help() string {
	return `Every line is one request, made at the line's own time. Lines are ordered by time; lines of the
same second keep their order in the log, and logs are merged in the order in which they are named.

IPv4 addresses, and IPv4-mapped IPv6 addresses, are clients of their own, without their port;
other IPv6 addresses are grouped by --ipv6-prefix; host names are taken as they are (digits and
dots that are no IPv4 address are not a host name). Requests without the field that is the key
share the key "-".

With several limits a request passes only if all of them let it, and is charged to all or to none;
it counts as denied by each limit that does not. In the JSON, "limits" has the part of each limit;
"denied" is what any limit denied, and "algorithm", "limit", "rate", "burst" (null where there is
none), "key", "keys", "keys_denied" and "top" are of the first limit and by its key.

  token_bucket, gcra, leaky_bucket  the burst at once, then one by one at the rate: three names of
                                    the same decisions
  leaky_queue     the same requests pass, but evenly spaced: each waits for its turn ("delayed",
                  "max_delay_ns" and "mean_delay_ns" say how long, the mean over those that wait)
  fixed_window    N in each DURATION, counted from 1970-01-01 00:00:00 UTC
  sliding_window  N in any DURATION, estimated from two fixed windows; also called sliding_counter
  sliding_log     N in any DURATION, exactly

The answer is an open-loop upper bound: the log shows what clients sent without this limit, and
one that is denied might have slowed down.

Lines that are empty, cut, 1 MiB or longer, or without a readable address and time are skipped and
counted, and the first few are named ("skipped_reasons" in the JSON). "incomplete" is true if a log
could not be read to its end.

In the layout of vhost_common and vhost_combined, a virtual host before the client, the client is
the second field; a line that may be read in both ways is skipped, unless --format says which it is.

Exit codes:
  0  every log was read and at least one line counts
  1  a log could not be read to its end, or no line counts (what was read is reported)
  2  wrong usage

Examples:
  penstock replay --rate 10/1s --burst 20 access.log access.log.1.gz
  penstock replay --limit 'name=per-ip rate=10/1s burst=20' \
    --limit 'name=per-path key=client_ip,path rate=100/1m algorithm=sliding_window' access.log`
}
