package accesslog

import (
	"bytes"
	"net/netip"
	"strconv"
)

// ClientKey returns the key under which the client of a host field is
// limited, the same for all spellings of one client:
//
//   - an IPv4 address is itself, without its port;
//   - an IPv4-mapped IPv6 address is that IPv4 address;
//   - any other IPv6 address is its network of that many bits (1 to 128), since one
//     machine commonly owns a whole /64; without brackets, port and zone. With
//     128 bits it is the address alone;
//   - what is no address (a host name, "unix:") is itself.
//
// It allocates the string; callers remember it per spelling.
func ClientKey(host []byte, bits int) string {
	addr, ok := parseAddr(host)
	switch {
	case !ok:
		return string(host)
	case addr.Is4():
		return addr.String()
	case bits >= addr.BitLen():
		return addr.String()
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return addr.String()
	}
	return prefix.String()
}

// parseAddr reads an address with or without brackets, port and zone.
func parseAddr(host []byte) (netip.Addr, bool) {
	text := string(stripPort(host))
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}, false
	}
	return addr.Unmap().WithZone(""), true
}

// stripPort cuts the brackets and the port off [v6]:port, [v6] and v4:port.
// More than one colon outside brackets is a bare IPv6 address; what follows
// the colon of anything but an IPv4 address is checked by the caller's parse.
func stripPort(host []byte) []byte {
	if bytes.HasPrefix(host, []byte{'['}) {
		end := bytes.IndexByte(host, ']')
		if end > 0 && (end == len(host)-1 || isPort(host[end+1:])) {
			return host[1:end]
		}
		return host
	}
	colon := bytes.IndexByte(host, ':')
	if colon > 0 && bytes.IndexByte(host[colon+1:], ':') < 0 && isPort(host[colon:]) {
		return host[:colon]
	}
	return host
}

// isIPv4 tells whether b is four numbers from 0 to 255, without leading zeros.
func isIPv4(b []byte) bool {
	const dotsOf, highest = 3, 255
	dots, value, width := 0, 0, 0
	for _, c := range b {
		switch {
		case c == '.' && width > 0:
			dots, value, width = dots+1, 0, 0
		case c < '0' || c > '9' || width > 0 && value == 0:
			return false
		default:
			if value, width = value*10+int(c-'0'), width+1; value > highest {
				return false
			}
		}
	}
	return dots == dotsOf && width > 0
}

// isPort tells whether b is a colon and a port number.
func isPort(b []byte) bool {
	if len(b) < 2 || b[0] != ':' {
		return false
	}
	_, err := strconv.ParseUint(string(b[1:]), 10, 16)
	return err == nil
}
