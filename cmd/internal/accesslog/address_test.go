package accesslog

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClientKey(t *testing.T) {
	for _, test := range []struct {
		host string
		bits int
		want string
	}{
		// H05: the spellings of an address, and its network.
		{"2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::/64"},
		{"2001:db8:1:2:aaaa:bbbb:cccc:dddd", 64, "2001:db8:1:2::/64"},
		{"2001:0DB8:1:2::9", 64, "2001:db8:1:2::/64"},
		{"2001:db8:1:3::1", 64, "2001:db8:1:3::/64"},
		{"2001:db8::a:b", 64, "2001:db8::/64"},
		{"2001:db8:0:0:c::", 64, "2001:db8::/64"},
		{"::ffff:192.0.2.1", 64, "192.0.2.1"},
		{"::ffff:c000:201", 64, "192.0.2.1"},
		{"192.0.2.1", 64, "192.0.2.1"},
		{"::1", 64, "::/64"},
		{"fe80::1%eth0", 64, "fe80::/64"},
		{"fe80::1", 64, "fe80::/64"},
		{"not-an-ip", 64, "not-an-ip"},
		// L04: hosts as logs write them.
		{"2001:db8:1:2::", 64, "2001:db8:1:2::/64"},
		{"0:0:0:0:0:0:0:1", 64, "::/64"},
		{"fe80::1%3", 64, "fe80::/64"},
		{"[2001:db8::1]:53016", 64, "2001:db8::/64"},
		{"[2001:db8::1]", 64, "2001:db8::/64"},
		{"crawler.example.net", 64, "crawler.example.net"},
		{"192.0.2.1:5000", 64, "192.0.2.1"},
		// Other networks.
		{"2001:db8:1:2:3:4:5:6", 128, "2001:db8:1:2:3:4:5:6"},
		{"2001:0DB8:1:2::9", 128, "2001:db8:1:2::9"},
		{"fe80::1%eth0", 128, "fe80::1"},
		{"2001:db8:1:2ff:3:4:5:6", 56, "2001:db8:1:200::/56"},
		{"2001:db8:1:2:3:4:5:6", 48, "2001:db8:1::/48"},
		{"2001:db8:1:2:3:4:5:6", 1, "::/1"},
		{"::ffff:192.0.2.1", 1, "192.0.2.1"},
		// What only looks like an address is itself.
		{"example.net:443", 64, "example.net:443"},
		{"192.0.2.1:99999", 64, "192.0.2.1:99999"},
		{"192.0.2.1:", 64, "192.0.2.1:"},
		{"192.0.2.999", 64, "192.0.2.999"},
		{"192.0.2.01", 64, "192.0.2.01"},
		{"[2001:db8::1", 64, "[2001:db8::1"},
		{"[2001:db8::1]x", 64, "[2001:db8::1]x"},
		{"[]", 64, "[]"},
		{"[", 64, "["},
		{":", 64, ":"},
		{"unix:", 64, "unix:"},
		{"", 64, ""},
	} {
		assert.Equal(t, test.want, ClientKey([]byte(test.host), test.bits), "%s /%d", test.host, test.bits)
	}
}

func TestScenarioL04HostsParse(t *testing.T) {
	for _, host := range []string{
		"2001:db8:1:2::", "::1", "0:0:0:0:0:0:0:1", "fe80::1%3", "[2001:db8::1]:53016", "crawl.example.net", "192.0.2.1:5000",
	} {
		e := parse(t, host+` - - `+stamp+` "GET / HTTP/1.1" 200 1`)
		assert.Equal(t, host, string(e.Host))
	}
}

// isIPv4 agrees with the standard library.
func TestIsIPv4(t *testing.T) {
	for _, text := range []string{
		"", ".", "...", "1", "1.2.3", "1.2.3.", ".1.2.3", "1..2.3", "1.2.3.4", "0.0.0.0", "00.0.0.0", "1.2.3.04", "255.255.255.255",
		"256.1.1.1", "1.1.1.256", "1.2.3.4.5", "1.2.3.4.", "1.2.3.a", "::1", "999999999999999999999.1.1.1", "1.2.3.-4", "1.2.3.4 ",
	} {
		addr, err := netip.ParseAddr(text)
		assert.Equal(t, err == nil && addr.Is4(), isIPv4([]byte(text)), text)
	}
}
