package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const line = `192.0.2.1 - - [10/Oct/2023:13:55:36 +0000] "GET / HTTP/1.1" 200 5` + "\n"

// replayJSON replays at one request a second and returns the object.
func replayJSON(t *testing.T, stdin string, wantCode int, args ...string) (map[string]any, string) {
	t.Helper()
	code, stdout, stderr := call(stdin, append([]string{"replay", "--rate", "1/1s", "--json"}, args...)...)
	require.Equal(t, wantCode, code, stderr)
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &out), stdout)
	return out, stderr
}

// tempFile writes a file and returns its name.
func tempFile(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestReplayJSONHasAllFieldsAlways(t *testing.T) {
	fields := []string{
		"algorithm", "limit", "lines", "requests", "skipped", "reordered", "late", "allowed", "denied",
		"keys", "keys_denied", "first", "last", "top", "limits",
		"rate", "burst", "key", "ipv6_prefix", "skipped_reasons", "incomplete",
	}
	empty, stderr := replayJSON(t, "", exitFailed, "-")
	assert.Contains(t, stderr, "the logs are empty")
	some, stderr := replayJSON(t, line+line, exitOK, "-")
	assert.Empty(t, stderr)
	for _, out := range []map[string]any{empty, some} {
		assert.Len(t, out, len(fields))
		for _, field := range fields {
			assert.Contains(t, out, field)
		}
	}
	assert.Nil(t, empty["first"])
	assert.Equal(t, []any{}, empty["top"])
	assert.Equal(t, "2023-10-10T13:55:36Z", some["first"])
	assert.Equal(t, []any{map[string]any{"key": "192.0.2.1", "requests": 2.0, "denied": 1.0}}, some["top"])
}

func TestReplayReadsPlainZippedAndStdinAlike(t *testing.T) {
	text := strings.Repeat(line, 7)
	for _, args := range [][]string{
		{"-"},
		{tempFile(t, "a.log", []byte(text))},
		{tempFile(t, "a.log.gz", zipped(t, text))},
		{tempFile(t, "zipped-but-not-named-so", zipped(t, text))},
	} {
		out, stderr := replayJSON(t, text, exitOK, args...)
		assert.Empty(t, stderr)
		assert.InDelta(t, 7, out["requests"], 0)
		assert.InDelta(t, 6, out["denied"], 0)
	}
}

func TestReplayOfHostileInput(t *testing.T) {
	text := strings.Repeat(line, 1000)
	cut := zipped(t, text)
	for name, test := range map[string]struct {
		content        string
		code           int
		lines, counted int
		stderr         string
	}{
		"binary junk":         {"\x00\xff\x1b[2J\n\x7f\n" + line, exitOK, 3, 1, ""},
		"nothing but junk":    {"\x00\xff\x1b[2J\n\x7f\n", exitFailed, 2, 0, "none of the 2 lines counts (first: "},
		"10 MiB line":         {strings.Repeat("x", 10<<20) + "\n" + line, exitOK, 2, 1, ""},
		"10 MiB without end":  {line + strings.Repeat("x", 10<<20), exitOK, 2, 1, ""},
		"bad dates":           {strings.Replace(line, "10/Oct", "31/Feb", 1) + strings.Replace(line, "13:55", "25:61", 1) + line, exitOK, 3, 1, ""},
		"an empty file":       {"", exitFailed, 0, 0, "the logs are empty"},
		"only line ends":      {"\n\n\r\n", exitFailed, 3, 0, "empty line"},
		"zip cut short":       {string(cut[:len(cut)-9]), exitFailed, 1000, 1000, "the gzip data is cut short"},
		"zip in its header":   {string(cut[:4]), exitFailed, 0, 0, "it starts like gzip"},
		"zip with junk after": {string(cut) + "junk after the end", exitFailed, 1000, 1000, "the gzip data is damaged (gzip: invalid header)"},
	} {
		out, stderr := replayJSON(t, "", test.code, tempFile(t, "x.log", []byte(test.content)))
		assert.InDelta(t, test.lines, out["lines"], 0, name)
		assert.InDelta(t, test.counted, out["requests"], 0, name)
		assert.InDelta(t, test.lines-test.counted, out["skipped"], 0, name)
		assert.Contains(t, stderr, test.stderr, name)
		assert.Equal(t, test.stderr == "", stderr == "", name)
	}
}

func TestReplayOfFilesThatCannotBeRead(t *testing.T) {
	for name, want := range map[string]string{
		t.TempDir(): "it is a directory; name the files in it",
		filepath.Join(t.TempDir(), "missing.log"): "no such file; check the path",
	} {
		out, stderr := replayJSON(t, line, exitFailed, name, "-")
		assert.InDelta(t, 1, out["requests"], 0, "the others are read")
		assert.Contains(t, stderr, "penstock: cannot read "+name+": "+want)

		code, stdout, _ := call("", "replay", "--rate", "1/1s", name)
		assert.Equal(t, exitFailed, code)
		assert.Empty(t, stdout, "no table of nothing")
	}
}

func TestReplayAlgorithmsAndKeys(t *testing.T) {
	text := line + line + strings.Replace(line, "GET /", "GET /b?c", 1)
	for _, test := range []struct {
		args   string
		denied int
		limit  string
	}{
		{"--burst 2", 1, "1/1s burst 2"},
		{"--algorithm gcra --burst 2", 1, "1/1s burst 2"},
		{"--algorithm leaky_bucket --burst 2", 1, "1/1s burst 2"},
		{"--algorithm leaky_queue --burst 2", 1, "1/1s burst 2"},
		{"--algorithm fixed_window", 2, "1 in each 1s"},
		{"--algorithm sliding_window", 2, "about 1 in any 1s"},
		{"--algorithm sliding_counter", 2, "about 1 in any 1s"},
		{"--algorithm sliding_log", 2, "1 in any 1s"},
		{"--key path", 1, "1/1s burst 1"},
		{"--key client_ip,path", 1, "1/1s burst 1"},
		{"--key host,method,user", 2, "1/1s burst 1"},
		{"--format common", 2, "1/1s burst 1"},
	} {
		out, stderr := replayJSON(t, text, exitOK, append(strings.Fields(test.args), "-")...)
		assert.Empty(t, stderr)
		assert.InDelta(t, test.denied, out["denied"], 0, test.args)
		assert.Equal(t, test.limit, out["limit"], test.args)
	}
}

func TestReplayJSONWritesPathsAsTheyAre(t *testing.T) {
	text := strings.Replace(line, "GET /", `GET /<a>&\x22`, 1)
	code, stdout, _ := call(text+text, "replay", "--rate", "1/1s", "--json", "--key", "path", "-")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, `"key": "/<a>&\\x22"`)
}

func TestReplaySaysThatALogHasNoBurst(t *testing.T) {
	_, stderr := replayJSON(t, line, exitOK, "--algorithm", "sliding_log", "--burst", "5", "-")
	assert.Contains(t, stderr, "penstock: note: the burst is not used by sliding_log; its limit is 1 in any 1s")
}

func TestReplayGroupsIPv6(t *testing.T) {
	text := strings.Replace(line, "192.0.2.1", "2001:db8:0:1::1", 1) + strings.Replace(line, "192.0.2.1", "2001:db8:0:2::1", 1)
	for bits, keys := range map[string]int{"64": 2, "128": 2, "48": 1} {
		out, _ := replayJSON(t, text, exitOK, "--ipv6-prefix", bits, "-")
		assert.InDelta(t, keys, out["keys"], 0, bits)
	}
}

func TestReplaySaysWhatIsWrongWithALimit(t *testing.T) {
	const a = "name=a rate=1/1s"
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--limit", ""}, `--limit: "": name= is missing (a whole limit: name=per-ip `},
		{[]string{"--limit", "name=a"}, `--limit: "name=a": rate= is missing (a whole limit: `},
		{[]string{"--limit", a + " burst=0"}, "burst: 0 is less than 1"},
		{[]string{"--limit", a, "--limit", a + " window=1m"}, `there is no word "window" (words: name, key, rate, burst, algorithm)`},
		{[]string{"--limit", a, "--limit", a}, `two limits have the name "a"; give each its own, for example name=a and name=a-2`},
		{[]string{"--limit", a + " key=client_ip,ip"}, `--limit a: key: "client_ip,ip": there is no field "ip"`},
		{[]string{"--limit", a + " algorithm=fair"}, `algorithm "fair" is not known; use one of token_bucket, `},
		{[]string{"--limit", a, "--limit", "name=b rate=1/1s burst=9223372036854775807"}, "--limit b: token_bucket, 1/1s burst 9223372036854775807 cannot be enforced"},
		{[]string{"--limit", a, "--rate", "1/1s"}, "--limit and --rate cannot be used together; write all of a limit in its --limit, for example --limit 'name="},
		{[]string{"--limit", a, "--burst", "1"}, "--limit and --burst cannot be used together"},
		{[]string{"--limit", a, "--algorithm", "token_bucket"}, "--limit and --algorithm cannot be used together"},
		{[]string{"--limit", a, "--key", "client_ip"}, "--limit and --key cannot be used together"},
	} {
		code, stdout, stderr := call(line, append(append([]string{"replay"}, test.args...), "-")...)
		assert.Equal(t, exitUsage, code, test.args)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, test.want)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %q", stderr)
	}
}

// A note on one of several limits names it.
func TestReplayNotesOnLimits(t *testing.T) {
	code, _, stderr := call(line, "replay", "--limit", "name=a rate=1/1s", "--limit", "name=w rate=5/1m burst=3 algorithm=fixed_window",
		"--limit", "name=odd rate=4000000000/1000000007ns", "-")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "penstock: note: w: the burst is not used by fixed_window; its limit is 5 in each 1m\n"+
		"penstock: note: odd: the nearest slower rate is used; it differs by a factor of 7.9e-09\n", stderr)
}

// The short form is a limit with a name too.
func TestReplayOfTheShortFormEqualsItsLimit(t *testing.T) {
	_, short, _ := call(line+line, "replay", "--json", "--rate", "1/1s", "--key", "path", "--algorithm", "gcra", "-")
	_, words, _ := call(line+line, "replay", "--json", "--limit", "name=default rate=1/1s key=path algorithm=gcra", "-")
	assert.Contains(t, short, `"name": "default"`)
	assert.Equal(t, short, words)
}

// Only queues say how long requests wait.
func TestReplayJSONOfDelays(t *testing.T) {
	for _, algorithm := range []string{"token_bucket", "leaky_bucket", "leaky_queue", "sliding_log"} {
		out, _ := replayJSON(t, line+line, exitOK, "--algorithm", algorithm, "-")
		list, ok := out["limits"].([]any)
		require.True(t, ok)
		require.Len(t, list, 1)
		for _, field := range []string{"delayed", "max_delay_ns", "mean_delay_ns"} {
			if algorithm == "leaky_queue" {
				assert.Contains(t, list[0], field)
			} else {
				assert.NotContains(t, list[0], field)
			}
		}
	}
}
