package cli

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

const sampleLog = "../../../testdata/access.log"

// call runs the command in this process.
func call(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(args, Env{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs})
	return code, out.String(), errs.String()
}

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestDemo(t *testing.T) {
	code, stdout, stderr := call("", "demo")
	assert.Equal(t, exitOK, code)
	assert.Empty(t, stderr)
	golden(t, "demo.golden", stdout)
}

func TestReplayTable(t *testing.T) {
	code, stdout, stderr := call("", "replay", "--rate", "10/1s", "--burst", "20", "--top", "1", sampleLog)
	assert.Equal(t, exitOK, code)
	assert.Empty(t, stderr)
	golden(t, "replay.golden", stdout)
}

func TestReplayTableOfSeveralLimits(t *testing.T) {
	code, stdout, stderr := call("", "replay", "--limit", "name=per-ip rate=10/1s burst=20",
		"--limit", "name=paced rate=1/1s burst=30 algorithm=leaky_queue",
		"--limit", "name=per-path key=client_ip,path rate=20/1m algorithm=sliding_counter", "--top", "2", sampleLog)
	assert.Equal(t, exitOK, code)
	assert.Empty(t, stderr)
	golden(t, "replay-limits.golden", stdout)
}

func TestReplayTableOfAQueue(t *testing.T) {
	code, stdout, stderr := call("", "replay", "--limit", "name=paced rate=10/1s burst=20 algorithm=leaky_queue", "--top", "0", sampleLog)
	assert.Equal(t, exitOK, code)
	assert.Empty(t, stderr)
	golden(t, "replay-queue.golden", stdout)
}

func TestReplayJSON(t *testing.T) {
	code, stdout, stderr := call("", "replay", "--rate", "10/1s", "--burst", "20", "--json", sampleLog)
	assert.Equal(t, exitOK, code)
	assert.Empty(t, stderr)
	golden(t, "replay.json.golden", stdout)
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"replay", "--help"}, {"check", "--help"}, {"demo", "-h"}, {"bench-store", "--help"}} {
		code, stdout, stderr := call("", args...)
		assert.Equal(t, exitOK, code, args)
		assert.Contains(t, stdout, "Usage: penstock", args)
		assert.Empty(t, stderr, args)
	}
	for verb, parts := range map[string][]string{
		"replay":      {"Exit codes:", "0  every log was read", "1  a log could not be read", "2  wrong usage", "open-loop upper bound", "default 64", "default 1h", "sliding_counter", "all or to none", "max_delay_ns"},
		"check":       {"Exit codes:", "0  all cases passed", "1  a case failed", "2  wrong usage", "want_retry_after_ns", "--interleave=K", "--store=URL", "skip_verify=true"},
		"bench-store": {"Exit codes:", "0  all rows were measured", "1  the store could not be reached", "2  wrong usage", "raw EVALSHA"},
	} {
		_, stdout, _ := call("", verb, "--help")
		for _, part := range parts {
			assert.Contains(t, stdout, part, verb)
		}
	}
}

func TestVersion(t *testing.T) {
	code, stdout, _ := call("", "--version")
	assert.Equal(t, exitOK, code)
	assert.Regexp(t, `^penstock \S+ \(go1\S+\)\n$`, stdout)
}

func TestUsageErrors(t *testing.T) {
	for args, want := range map[string]string{
		"":                                                         `expected one of "demo", "check", "replay", "plot", "bench-store"; see penstock --help`,
		"frobnicate":                                               "unexpected argument frobnicate",
		"replay":                                                   "penstock replay --help",
		"replay x.log":                                             "replay needs --rate N/DURATION, for example --rate 10/1s, or --limit",
		"replay --burst 3 x.log":                                   "replay needs --rate N/DURATION",
		"replay --rate 10/1s":                                      "no log is named; name access logs, or - for standard input, for example penstock replay --rate 10/1s access.log; see penstock replay --help",
		"replay --rate 10 x.log":                                   `--rate: "10" has no period; write N/DURATION, for example 10/1s`,
		"replay --rate 1/1y x.log":                                 `--rate: "1/1y": the duration "1y" has the unknown unit "y"`,
		"replay --rate 1/1s --burst 0 x.log":                       "--burst: 0 is less than 1",
		"replay --rate 1/1s --burst=-5 x.log":                      "--burst: -5 is less than 1",
		"replay --rate 1/1s --burst many x.log":                    `--burst: "many" is not a whole number that fits in 64 bits, for example 20`,
		"replay --rate 1/1s --burst 1.5 x.log":                     `--burst: "1.5" is not a whole number`,
		"replay --rate 1/1s --algorithm no x.log":                  `--algorithm "no" is not known; use one of token_bucket, gcra, leaky_bucket`,
		"replay --rate 1/1s --key ip x.log":                        `--key: "ip": there is no field "ip"`,
		"replay --rate 1/1s --ipv6-prefix 129 x.log":               "--ipv6-prefix: 129 is not from 1 to 128, for example 64",
		"replay --rate 1/1s --format w3c x.log":                    `--format must be one of "auto","common","combined","vhost_common","vhost_combined" but got "w3c"`,
		"replay --rate 1/1s --reorder-window 5 x":                  `--reorder-window: the duration "5" is not a whole number and a unit`,
		"replay --rate 1/1s --reorder-lines 0 x.log":               "--reorder-lines: 0 is less than 1",
		"replay --rate 1/1s --top=-1 x.log":                        "--top: -1 is less than 0",
		"replay --rate 1/1s - a -":                                 "standard input can be read only once",
		"replay --rate 1/1s --loud x.log":                          "unknown flag --loud; see penstock replay --help",
		"replay --rate 1/1s --burst 9223372036854775807 x.log":     `--rate: token_bucket, 1/1s burst 9223372036854775807 cannot be enforced`,
		"replay --rate 4000000000/1s --algorithm sliding_window x": `--rate: sliding_window, about 4000000000 in any 1s cannot be enforced`,
		"check":                                              "check needs a file of cases, - for standard input, --random N, for example --random 100000, or --store URL",
		"check --interleave=-1 x":                            "--interleave: -1 is not from 0 (off) to 32, for example 4",
		"check --interleave 33 x":                            "--interleave: 33 is not from 0 (off) to 32",
		"check --random=-1":                                  "--random: -1 is less than 0",
		"check --random x":                                   `--random: "x" is not a whole number that fits in 64 bits, for example 100000`,
		"check --seed 1":                                     "--seed is the seed of the random calls of --random; add --random N",
		"check missing.json":                                 "cannot read missing.json: no such file",
		"check --json x":                                     "--json is for --store",
		"check --store memory:// missing.json":               "cannot read missing.json: no such file",
		"check --store localhost:6379":                       "--store: the store is not a URL; write redis://host:6379",
		"check --store http://x":                             "--store: stores of the kind http:// are not known; write redis://",
		"check --store redis://":                             "--store: the host is missing; write redis://host:6379",
		"check --store redis://u:secret@h/x":                 `--store: redis: invalid database number: "x"; a whole URL is redis://user:password@host:6379/0`,
		"check --store redis://u:secret@h:x/":                "--store: the URL cannot be read; in user and password write characters",
		"check --store redis://u:sec%ret@h":                  "--store: the URL cannot be read; in user and password write characters",
		"check --store redis://h?pool=3":                     "--store: redis:// has no option pool; it has addr, db, dial_timeout, master_set",
		"check --store redis-cluster://h:1,h:2/1":            "--store: a cluster has the database 0 only; leave the database out",
		"check --store dynamodb://?region=r":                 "--store: the URL has to name one table, as in dynamodb://limits?region=eu-west-1",
		"check --store dynamodb://AK:secret@t":               "--store: dynamodb:// takes no user and password: credentials come from the environment",
		"check --store dynamodb://t?create=maybe":            "--store: the option create has to be true or false",
		"check --store dynamodb://t?endpoint=localhost:8000": "--store: the option endpoint has to be a URL, such as endpoint=http://127.0.0.1:8000",
		"check --store dynamodb://t?region=a&region=b":       "--store: the option region is given twice; give it once",
		"check --store memory://here":                        "--store: memory:// takes neither a host nor a path; write memory://",
		"check --store memory://?size=1":                     "--store: memory:// has no option size; it has none",
		"bench-store":                                        "no store is named; name one as a URL, for example penstock bench-store redis://127.0.0.1:6379; see penstock bench-store --help",
		"bench-store redis:/h":                               "the store is not a URL",
		"bench-store --for 0 memory://":                      "--for: it must be longer than 0, for example 5s",
		"bench-store --for fast memory://":                   `--for: the duration "fast" is not a whole number and a unit`,
		"bench-store --callers 0 memory://":                  "--callers: 0 is not from 1 to 4096, for example 1,16,128",
		"bench-store --limit burst=1 memory://":              "--limit: \"name=bench burst=1\": rate= is missing",
		"demo now":                                           "unexpected argument now",
	} {
		code, _, stderr := call("", strings.Fields(args)...)
		assert.Equal(t, exitUsage, code, args)
		assert.Contains(t, stderr, want, args)
		assert.True(t, strings.HasPrefix(stderr, "penstock: "), stderr)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %q", stderr)
	}
}

// full is standard output on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"demo"}, {"replay", "--rate", "1/1s", sampleLog}, {"check", "--random", "10", "--seed", "1"}} {
		var errs bytes.Buffer
		code := Run(args, Env{Stdin: iotest.ErrReader(io.EOF), Stdout: full{}, Stderr: &errs})
		assert.Equal(t, exitFailed, code, args)
		assert.Contains(t, errs.String(), "no space left on device", args)
	}
}

func TestNoProgressWhereThereIsNoTerminal(t *testing.T) {
	assert.Nil(t, newProgress(&bytes.Buffer{}, nil))
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	assert.Nil(t, newProgress(file, nil))
	require.NoError(t, file.Close())
}

func TestTotalSize(t *testing.T) {
	info, err := os.Stat(sampleLog)
	require.NoError(t, err)
	assert.Equal(t, 2*info.Size(), totalSize([]string{sampleLog, sampleLog}))
	for _, odd := range []string{"-", t.TempDir(), "missing.log"} {
		assert.Equal(t, int64(-1), totalSize([]string{sampleLog, odd}), odd)
	}
}
