package accesslog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const stamp = "[10/Oct/2000:13:55:36 -0700]"

// stampUnix is the time of stamp.
const stampUnix = 971211336

// parse parses one line with a fresh parser.
func parse(t *testing.T, line string) Entry {
	t.Helper()
	var p Parser
	var e Entry
	require.NoError(t, p.Parse([]byte(line), &e), line)
	return e
}

func TestParseCombined(t *testing.T) {
	e := parse(t, `203.0.113.9 - frank `+stamp+` "GET /a.gif?x=1 HTTP/1.0" 200 2326 "https://www.example.net/start" "Mozilla/5.0 (X11)"`)
	assert.Equal(t, "203.0.113.9", string(e.Host))
	assert.Equal(t, "-", string(e.Ident))
	assert.Equal(t, "frank", string(e.User))
	assert.Equal(t, int64(stampUnix), e.UnixTime)
	assert.Equal(t, "GET /a.gif?x=1 HTTP/1.0", string(e.Request))
	assert.Equal(t, "GET", string(e.Method))
	assert.Equal(t, "/a.gif?x=1", string(e.Path))
	assert.Equal(t, "HTTP/1.0", string(e.Protocol))
	assert.Equal(t, 200, e.Status)
	assert.Equal(t, int64(2326), e.Bytes)
	assert.Equal(t, "https://www.example.net/start", string(e.Referer))
	assert.Equal(t, "Mozilla/5.0 (X11)", string(e.UserAgent))
}

func TestParseRequest(t *testing.T) {
	for _, test := range []struct{ field, method, path, protocol string }{
		{``, ``, ``, ``},
		{`-`, ``, ``, ``},
		{`\x16\x03\x01`, ``, ``, ``},
		{"\x16\x03\x01\x00\xff", ``, ``, ``},
		{`HELLO`, `HELLO`, ``, ``},
		{`GET`, `GET`, ``, ``},
		{`GET /`, `GET`, `/`, ``},
		{`GET / HTTP/1.1`, `GET`, `/`, `HTTP/1.1`},
		{`GET /a b HTTP/1.1`, `GET`, `/a b`, `HTTP/1.1`},
		{`GET  HTTP/1.1`, `GET`, ``, `HTTP/1.1`},
		{`GET HTTP/1.1`, `GET`, ``, `HTTP/1.1`},
		{`M-SEARCH * HTTP/1.1`, `M-SEARCH`, `*`, `HTTP/1.1`},
		{`get / HTTP/1.1`, ``, ``, ``},
		{`CONNECT 203.0.113.1:443 HTTP/1.1`, `CONNECT`, `203.0.113.1:443`, `HTTP/1.1`},
		{`GET /\"quoted\" HTTP/1.1`, `GET`, `/\"quoted\"`, `HTTP/1.1`},
		{`GET /back\\ HTTP/1.1`, `GET`, `/back\\`, `HTTP/1.1`},
		{`GET /ends-in-backslash\\`, `GET`, `/ends-in-backslash\\`, ``},
		{`GET /] [x]\" "`, `GET`, `/] [x]\"`, ``}, // the quote in the middle ends the field
	} {
		e := parse(t, `203.0.113.9 - - `+stamp+` "`+test.field+`" 400 17 "-" "-"`)
		assert.Equal(t, test.method, string(e.Method), test.field)
		assert.Equal(t, test.path, strings.TrimSuffix(string(e.Path), " "), test.field)
		assert.Equal(t, test.protocol, string(e.Protocol), test.field)
	}
}

func TestParseWithoutTheRest(t *testing.T) {
	head := `203.0.113.9 - - ` + stamp
	for _, test := range []struct {
		tail   string
		status int
		bytes  int64
	}{
		{``, 0, -1},
		{` `, 0, -1},
		{` "`, 0, -1},
		{` "GET / HT`, 0, -1},
		{` "GET / HTTP/1.1"`, 0, -1},
		{` "GET / HTTP/1.1" 20`, 0, -1},
		{` "GET / HTTP/1.1" 204`, 204, -1},
		{` "GET / HTTP/1.1" 304 -`, 304, -1},
		{` "GET / HTTP/1.1" - -`, 0, -1},
		{` "GET / HTTP/1.1" 200 99999999999999999999`, 200, -1},
		{` "GET / HTTP/1.1" 2x0 1x`, 0, -1},
		{` "GET / HTTP/1.1" 200 12 "cut ref`, 200, 12},
		{` "GET / HTTP/1.1" 200 12 "-" "-" 7 "more" 3ms`, 200, 12},
		{` GET`, 0, -1},
	} {
		e := parse(t, head+test.tail)
		assert.Equal(t, "203.0.113.9", string(e.Host), test.tail)
		assert.Equal(t, int64(stampUnix), e.UnixTime, test.tail)
		assert.Equal(t, test.status, e.Status, test.tail)
		assert.Equal(t, test.bytes, e.Bytes, test.tail)
	}
}

func TestParseUser(t *testing.T) {
	for between, want := range map[string][2]string{
		` - - `:                 {"-", "-"},
		` - alice `:             {"-", "alice"},
		` id a b c `:            {"id", "a b c"},
		` - a[b `:               {"-", "a[b"},
		` - x] [y `:             {"-", "x] [y"},
		` - `:                   {"-", ""},
		` `:                     {"", ""},
		` - [not a time] here `: {"-", "[not a time] here"},
		// A client that signs in as a time and a request must not move itself in time.
		` - [01/Jan/1990:00:00:00 +0000] \"GET `:   {"-", `[01/Jan/1990:00:00:00 +0000] \"GET`},
		` - [01/Jan/1990:00:00:00 +0000] \x22GET `: {"-", `[01/Jan/1990:00:00:00 +0000] \x22GET`},
	} {
		e := parse(t, `203.0.113.9`+between+stamp+` "GET / HTTP/1.1" 401 0`)
		assert.Equal(t, want[0], string(e.Ident), between)
		assert.Equal(t, want[1], string(e.User), between)
		assert.Equal(t, int64(stampUnix), e.UnixTime, between)
		assert.Equal(t, 401, e.Status, between)
	}
}

func TestParseSaysWhyALineDoesNotCount(t *testing.T) {
	tail := ` "GET / HTTP/1.1" 200 1`
	for line, want := range map[string]*LineError{
		``:                      errEmpty,
		` - - ` + stamp + tail:  errNoHost,
		`- - - ` + stamp + tail: errNoHost,
		`203.0.113.9, 192.0.2.1 - - ` + stamp + tail:                     errHostList,
		"203.0.\x00.9 - - " + stamp + tail:                               errBadHost,
		"\xff\xfe - - " + stamp + tail:                                   errBadHost,
		`{"remote_ip":"203.0.113.9"} ` + stamp:                           errJSON,
		`{`:                                                              errJSON,
		`[{"ip": "a"},`:                                                  errJSON,
		`{203.0.113.9} - -`:                                              errBadHost,
		"1714550400.1\t203.0.113.9\t443":                                 errTabs,
		"2026-05-01 12:00:00\t203.0.113.9\tGET":                          errTabs,
		"a\tb - - " + stamp + tail:                                       errBadHost,
		`999.1.1.1 - - ` + stamp + tail:                                  errNotIPv4,
		`010.0.0.1 - - ` + stamp + tail:                                  errNotIPv4,
		`10.0.1 - - ` + stamp + tail:                                     errNotIPv4,
		`10.0.0.1.2 - - ` + stamp + tail:                                 errNotIPv4,
		`192.0.2.1:99999 - - ` + stamp + tail:                            errNotIPv4,
		`192.0.2.256:80 - - ` + stamp + tail:                             errNotIPv4,
		`203.0.113.9`:                                                    errNoTime,
		`203.0.113.9 - - "GET / HTTP/1.1" 200 1`:                         errNoTime,
		`203.0.113.9 - - [`:                                              errCutTime,
		`203.0.113.9 - - [10/Oct/2000:13:55`:                             errCutTime,
		`203.0.113.9 - - [10/Oct/2000:13:55:36 -0700`:                    errCutTime,
		`203.0.113.9 - - [10/Oct/2000:13:55:36]` + tail:                  errTimeForm,
		`203.0.113.9 - - [10/Oct/2000:13:55:36.001 -0700]` + tail:        errTimeForm,
		`203.0.113.9 - - [2000-10-10T13:55:36-07:00]` + tail:             errTimeForm,
		`203.0.113.9 - - [10-Oct-2000:13:55:36 -0700]` + tail:            errTimeForm,
		`203.0.113.9 - - [1x/Oct/2000:13:55:36 -0700]` + tail:            errTimeForm,
		`203.0.113.9 - - [10/Okt/2000:13:55:36 -0700]` + tail:            errMonth,
		`203.0.113.9 - - [31/Feb/2023:13:55:36 -0700]` + tail:            errDate,
		`203.0.113.9 - - [29/Feb/2023:13:55:36 -0700]` + tail:            errDate,
		`203.0.113.9 - - [29/Feb/2100:13:55:36 -0700]` + tail:            errDate,
		`203.0.113.9 - - [31/Apr/2023:13:55:36 -0700]` + tail:            errDate,
		`203.0.113.9 - - [00/Oct/2000:13:55:36 -0700]` + tail:            errDate,
		`203.0.113.9 - - [10/Oct/2000:25:61:00 -0700]` + tail:            errClock,
		`203.0.113.9 - - [10/Oct/2000:24:00:00 -0700]` + tail:            errClock,
		`203.0.113.9 - - [10/Oct/2000:23:60:00 -0700]` + tail:            errClock,
		`203.0.113.9 - - [10/Oct/2000:23:59:61 -0700]` + tail:            errClock,
		`203.0.113.9 - - [10/Oct/2000:13:55:36 UTC00]` + tail:            errZone,
		`203.0.113.9 - - [10/Oct/2000:13:55:36 -2400]` + tail:            errZone,
		`203.0.113.9 - - [10/Oct/2000:13:55:36 +0060]` + tail:            errZone,
		`203.0.113.9 - - [31/Dec/1969:23:59:59 +0000]` + tail:            errYear,
		`203.0.113.9 - - [01/Jan/1970:00:00:00 +0100]` + tail:            errYear,
		`203.0.113.9 - - [01/Jan/2262:00:00:00 +0000]` + tail:            errYear,
		`203.0.113.9 - - [31/Dec/2261:23:59:59 -0100]` + tail:            errYear,
		`203.0.113.9:14853 [14/Jan/2015:12:48:57.127] https-in~ x 0/0 "`: errTimeForm,
	} {
		var p Parser
		var e Entry
		require.Equal(t, want, p.Parse([]byte(line), &e), "%q", line)
	}
}

// Bot lines count for their client, whatever the request is.
func TestScenarioL02RequestsOfBots(t *testing.T) {
	for _, request := range []string{``, `-`, `\x16\x03\x01`, `HELLO`, `GET /a b HTTP/1.1`} {
		e := parse(t, `203.0.113.9 - - `+stamp+` "`+request+`" 400 226 "-" "-"`)
		assert.Equal(t, "203.0.113.9", ClientKey(e.Host, 64), request)
		assert.Equal(t, int64(stampUnix), e.UnixTime, request)
		assert.Equal(t, 400, e.Status, request)
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	var p Parser
	var e Entry
	good := []byte(`203.0.113.9 - - ` + stamp + ` "GET /a b HTTP/1.1" 200 12 "-" "Mozilla/5.0"`)
	bad := []byte(`203.0.113.9 - - [10/Oct/2000:25:55:36 -0700] "GET / HTTP/1.1" 200 12`)
	allocs := testing.AllocsPerRun(100, func() {
		if p.Parse(good, &e) != nil || p.Parse(bad, &e) == nil {
			t.Error("wrong answer")
		}
	})
	assert.Zero(t, allocs)
}
