package accesslog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A format that is asked for is the whole line, no less and no more.
func TestFormatsAreExact(t *testing.T) {
	const head = `203.0.113.9 - - ` + stamp
	const vhost = `www.example.net:443 ` + head
	const common = ` "GET / HTTP/1.1" 200 5`
	const combined = common + ` "r" "a \"b\""`
	for _, test := range []struct {
		format Format
		wrong  *LineError
		counts []string
		not    []string
	}{
		{
			Common, errNotCommon,
			[]string{head + common, head + ` "" 408 -`, head + ` "-" - -`, `203.0.113.9 - a b ` + stamp + common},
			[]string{
				head + combined, vhost + common, head, head + ` `, head + ` "GET /`, head + ` GET / 200 5`, head + ` "GET /"`, head + ` "GET /" 200`,
				head + ` "GET /" 20 5`, head + ` "GET /" 200 x`, head + ` "GET /"200 5`, head + ` "GET /" 200 5 `, head + ` "GET /" 2x0 5`,
				head + ` "GET /" 200 99999999999999999999`, head + `"GET /" 200 5`,
			},
		},
		{
			Combined, errNotCombined,
			[]string{head + combined, head + ` "" 408 - "" ""`},
			[]string{head + common, head + common + ` "r"`, head + common + ` "r" "a`, head + common + ` "r" a`, head + combined + ` 7`, vhost + combined},
		},
		{
			VHostCommon, errNotVHostCommon,
			[]string{vhost + common, `203.0.113.80 ` + head + common, `www.example.net crawler.example.net - - ` + stamp + common},
			[]string{head + common, vhost + combined, `www.example.net - - - ` + stamp + common},
		},
		{VHostCombined, errNotVHostCombined, []string{vhost + combined}, []string{head + combined, vhost + common}},
	} {
		p := Parser{Format: test.format}
		var e Entry
		for _, line := range test.counts {
			require.NoError(t, p.Parse([]byte(line), &e), "%v %s", test.format, line)
		}
		for _, line := range test.not {
			require.Equal(t, test.wrong, p.Parse([]byte(line), &e), "%v %s", test.format, line)
		}
	}
}

// The client is the second field where the first can be nothing but a virtual host.
func TestVirtualHosts(t *testing.T) {
	for head, want := range map[string]string{
		`www.example.net:443 203.0.113.9 - - `:          "203.0.113.9",
		`www.example.net:443 203.0.113.9 - alice `:      "203.0.113.9",
		`www.example.net:443 203.0.113.9 - alice b `:    "203.0.113.9",
		`www.example.net:443 2001:db8::1 - - `:          "2001:db8::1",
		`www.example.net 203.0.113.9 - - `:              "203.0.113.9",
		`www.example.net [2001:db8::1]:99 - - `:         "[2001:db8::1]:99",
		`www.example.net:80 crawler.example.net - - `:   "crawler.example.net",
		`127.0.1.1:80 203.0.113.9 - - `:                 "203.0.113.9",
		`[2001:db8::80]:443 203.0.113.9 - - `:           "203.0.113.9",
		`203.0.113.9 - - `:                              "203.0.113.9",
		`203.0.113.9:5000 - a b `:                       "203.0.113.9:5000",
		`203.0.113.9 id a b `:                           "203.0.113.9",
		`203.0.113.9 203.0.113.10 alice `:               "203.0.113.9",
		`crawler.example.net - a b `:                    "crawler.example.net",
		`crawler.example.net id alice `:                 "crawler.example.net",
		`example.net:443 - - `:                          "example.net:443",
		`[2001:db8::1] id a b `:                         "[2001:db8::1]",
		`203.0.113.9 - [01/Jan/1990:00:00:00 +0000] x `: "203.0.113.9",
	} {
		e := parse(t, head+stamp+` "GET / HTTP/1.1" 200 1`)
		require.Equal(t, want, string(e.Host), head)
	}
	e := parse(t, `www.example.net:443 203.0.113.9 id a b `+stamp)
	require.Equal(t, []string{"id", "a b"}, []string{string(e.Ident), string(e.User)})
	for head, want := range map[string]*LineError{
		`203.0.113.80 203.0.113.9 - - `:            errUnclearHost, // with an address from a header?
		`www.example.net crawler.example.net - - `: errUnclearHost,
		`www.example.net id a b `:                  errUnclearHost,
		`www.example.net 203.0.113.9 - `:           errUnclearHost,
		`www.example.net:443 203.0.113.9 alice `:   errUnclearHost,
		`203.0.113.80:80 crawler.example.net - - `: errUnclearHost,
		`www.example.net:443 - - - `:               errNoHost,
		`www.example.net:443 203.0.113.9, - - `:    errHostList,
		`www.example.net:443 999.0.113.9 - - `:     errNotIPv4,
		`www.example.net:443 (a) - - `:             errBadHost,
	} {
		var p Parser
		var e Entry
		require.Equal(t, want, p.Parse([]byte(head+stamp+` "GET / HTTP/1.1" 200 1`), &e), head)
	}
}

func TestParseOfVirtualHostsDoesNotAllocate(t *testing.T) {
	p := Parser{Format: VHostCombined}
	var e Entry
	line := []byte(`www.example.net:443 203.0.113.9 - - ` + stamp + ` "GET / HTTP/1.1" 200 1 "-" "-"`)
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = p.Parse(line, &e) }))
	p.Format = Auto
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = p.Parse(line, &e) }))
}
