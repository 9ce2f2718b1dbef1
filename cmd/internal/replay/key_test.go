package replay

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/accesslog"
)

func keysOf(t *testing.T, spec string, entries ...accesslog.Entry) []string {
	t.Helper()
	key, err := ParseKey(spec, 64)
	require.NoError(t, err)
	ring := newKeyring(key)
	names := make([]string, len(entries))
	for i := range entries {
		n := ring.number(&entries[i])
		require.Equal(t, n, ring.number(&entries[i]), "known the second time")
		names[i] = ring.names[n]
	}
	return names
}

func TestKeys(t *testing.T) {
	entry := func(host, user, method, path string) accesslog.Entry {
		return accesslog.Entry{Host: []byte(host), User: []byte(user), Method: []byte(method), Path: []byte(path)}
	}
	one := entry("[2001:db8::1]:99", "alice", "GET", "/a?b=c")
	none := entry("192.0.2.1", "", "", "")
	for spec, want := range map[string][]string{
		"client_ip":        {"2001:db8::/64", "192.0.2.1"},
		"host":             {"[2001:db8::1]:99", "192.0.2.1"},
		"user":             {"alice", "-"},
		"method":           {"GET", "-"},
		"path":             {"/a", "-"},
		"client_ip,path":   {"2001:db8::/64 /a", "192.0.2.1 -"},
		"path,client_ip":   {"/a 2001:db8::/64", "- 192.0.2.1"},
		"user,method,path": {"alice GET /a", "- - -"},
	} {
		assert.Equal(t, want, keysOf(t, spec, one, none), spec)
	}
}

func TestKeysDoNotRunIntoOneAnother(t *testing.T) {
	entry := func(user, path string) accesslog.Entry {
		return accesslog.Entry{User: []byte(user), Path: []byte(path)}
	}
	keys := keysOf(t, "user,path", entry("a", "b c"), entry("a b", "c"), entry("a\x00", "b"), entry("a", "\x00b"), entry("", "b"))
	assert.Equal(t, []string{`a b\x20c`, `a\x20b c`, `a\x00 b`, `a \x00b`, `- b`}, keys)
}

func TestKeysAreSafeToPrint(t *testing.T) {
	for path, want := range map[string]string{
		"/plain":        "/plain",
		"/über/日本":      "/über/日本",
		"/\x1b[2J":      `/\x1b[2J`,
		"/\x00\x7f\t":   `/\x00\x7f\x09`,
		"/\xff\xfe":     `/\xff\xfe`,
		"/\u202egpj":    `/\u{202e}gpj`,
		"/\u0085":       `/\u{85}`,
		"/\xef\xbf\xbd": `/\u{fffd}`,
	} {
		assert.Equal(t, []string{want}, keysOf(t, "path", accesslog.Entry{Path: []byte(path)}))
	}
}

// More spellings than are remembered change nothing but the speed.
func TestKeysWithManySpellings(t *testing.T) {
	key, err := ParseKey("client_ip", 64)
	require.NoError(t, err)
	ring := newKeyring(key)
	for range 2 {
		for i := range maxSpellings + 10 {
			e := accesslog.Entry{Host: fmt.Appendf(nil, "2001:db8::%x:%x", i>>16, i&0xffff)}
			require.Zero(t, ring.number(&e))
		}
	}
	assert.Equal(t, []string{"2001:db8::/64"}, ring.names)
	assert.LessOrEqual(t, len(ring.spellings), maxSpellings)
}

func TestParseKeySaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                    `the key is empty; name what shares a limit (fields: client_ip, host,`,
		"ip":                  `there is no field "ip" (fields: client_ip, host, method, path, user)`,
		"client_ip,":          `there is no field ""`,
		"client_ip, path":     `there is no field " path"`,
		"path,path":           `the field "path" stands there twice; name each field once, for example client_ip,path`,
		"client_ip,CLIENT_IP": `there is no field "CLIENT_IP"`,
	} {
		_, err := ParseKey(text, 64)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestKnownKeysCostNoGarbage(t *testing.T) {
	for _, spec := range []string{"client_ip", "client_ip,path"} {
		key, err := ParseKey(spec, 64)
		require.NoError(t, err)
		ring := newKeyring(key)
		e := accesslog.Entry{Host: []byte("2001:db8::1"), Path: []byte("/a?b")}
		ring.number(&e)
		assert.Zero(t, testing.AllocsPerRun(100, func() { ring.number(&e) }), spec)
	}
}
