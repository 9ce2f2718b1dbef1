//go:build unix

package cli

import (
	"encoding/json"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/servertest"
	"github.com/penstock-go/penstock/store/dynamodb/dynamodbtest"
)

func TestCheckStore(t *testing.T) {
	addr := servertest.StartRedis(t, "--requirepass", "hunter2").Addr
	code, stdout, stderr := call("", "check", "--store", "redis://:hunter2@"+addr, "--random", "200", "--seed", "7", "--interleave", "2")
	assert.Equal(t, exitOK, code, stdout)
	assert.Empty(t, stderr)
	for _, want := range []string{
		"redis://" + addr + ": redis ", ", in ticks of 1µs\n", "  words         4 passed", "seed 7\n", "  lost answers  3 passed",
		"    not run: R04b, R05, W01, W02a, L05a, L05b: a sliding log keeps each admission", "removed all ", " passed, 0 failed, 6 not run\n",
	} {
		assert.Contains(t, stdout, want)
	}
	assert.NotContains(t, stdout, "hunter2")
}

func TestCheckStoreOfOnesOwnCases(t *testing.T) {
	wrong := strings.NewReplacer("good", "bad", "1000,", "1000000,", `"t_ns": 1,`, `"t_ns": 1000,`, "999", "990000").Replace(passing)
	right := strings.Replace(wrong, "990000", "999000", 1)
	code, stdout, _ := call(right+wrong+"{\n", "check", "--store", "memory://", "-")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stdout, "FAIL stdin:3: not a case: the JSON ends early")
	assert.Contains(t, stdout, "FAIL bad (token_bucket) call 2: got denied, retry-after 999000ns; want denied, retry-after 990000ns in ticks of 1µs")
	assert.Contains(t, stdout, "  cases         1 passed, 1 failed")
	assert.Contains(t, lastLine(stdout), ", 2 failed, ")

	code, _, stderr := call("\n", "check", "--store", "memory://", "-")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, "there is no case in the input")
}

func TestCheckStoreJSON(t *testing.T) {
	code, stdout, stderr := call("", "check", "--store", "memory://", "--json", "--random", "100")
	assert.Equal(t, exitOK, code, stderr)
	var rep struct {
		Store                   string
		Tick                    int64 `json:"tick_ns"`
		Passed, Failed, Removed int
		NotRun                  int `json:"not_run"`
		Checks                  []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &rep))
	assert.Equal(t, "memory://", rep.Store)
	assert.Equal(t, int64(1000), rep.Tick)
	assert.Len(t, rep.Checks, 7)
	assert.Greater(t, rep.Passed, 60)
	assert.Zero(t, rep.Failed)
	assert.Equal(t, 7, rep.NotRun)
	assert.Positive(t, rep.Removed)
}

func TestBenchStore(t *testing.T) {
	addr := servertest.StartRedis(t).Addr
	code, stdout, stderr := call("", "bench-store", "--callers", "1,2", "--for", "20ms", "--limit", "rate=1000000/1s algorithm=gcra", "redis://"+addr)
	assert.Equal(t, exitOK, code, stderr)
	assert.Equal(t, "penstock: callers 1: 5 rows of 20ms each\npenstock: callers 2: 5 rows of 20ms each\n", stderr)
	assert.Contains(t, stdout, "1000 keys in turn under gcra 1000000/1s burst 1000000; deny: gcra ")
	assert.Equal(t, 2, strings.Count(stdout, "  raw EVALSHA\n"))
	assert.Contains(t, stdout, "; allow: raw EVALSHA; deny: raw EVALSHA; hybrid: raw EVALSHA\n")

	code, stdout, _ = call("", "bench-store", "--callers", "1", "--for", "20ms", "--json", "memory://")
	assert.Equal(t, exitOK, code)
	var rep struct{ Rows []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(stdout), &rep))
	assert.Len(t, rep.Rows, 3)

	code, _, stderr = call("", "bench-store", "--for", "20ms", "--limit", "rate=10/1s algorithm=sliding_log", "redis://"+addr)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "a sliding log keeps each admission")
}

// What is wrong with a store is told so that it can be put right, in one line and without the password.
func TestStoresThatCannotBeReached(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := l.Addr().String()
	require.NoError(t, l.Close())
	open, locked := servertest.StartRedis(t).Addr, servertest.StartRedis(t, "--requirepass", "hunter2").Addr
	emulator := httptest.NewServer(dynamodbtest.MinidynHandler())
	t.Cleanup(emulator.Close)
	for url, want := range map[string]string{
		"redis://u:hunter2@" + nobody:                  "cannot connect; is Redis running there, and are host and port right?",
		"redis-cluster://" + nobody:                    "cannot connect",
		"redis-cluster://" + open:                      "the server is not part of a cluster; write redis:// in place of redis-cluster://",
		"redis://" + locked:                            "the server wants a password; write redis://:password@host:6379",
		"redis://:hunter3@" + locked:                   "the server does not know that user and password",
		"redis://" + open + "/99":                      "the server has no such database",
		"rediss://" + open + "?dial_timeout=1s":        "no answer over TLS; is it Redis that runs there, and does it speak TLS (else write redis://)?",
		"redis://" + emulator.Listener.Addr().String(): "no answer of Redis; is it Redis that runs there",
		"dynamodb://limits?endpoint=" + emulator.URL:   "there is no such table; add create=true to make it",
		"dynamodb://limits?endpoint=http://" + nobody:  "cannot connect; is it running there, and is the endpoint right?",
	} {
		for _, verb := range [][]string{{"check", "--store", url}, {"bench-store", url}} {
			code, stdout, stderr := call("", verb...)
			assert.Equal(t, exitFailed, code, verb)
			assert.Empty(t, stdout, verb)
			assert.Contains(t, stderr, want, verb)
			assert.NotContains(t, stderr, "hunter", verb)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %q", stderr)
		}
	}
}

// A store that can be reached but takes no writes, or not from this user, is told once and not check by check.
func TestStoresThatTakeNoWrites(t *testing.T) {
	open := servertest.StartRedis(t)
	rules := map[string]string{
		"keys":     "~other:* -@all +info +eval +evalsha +time +get +set +del",
		"scripts":  "~* -@all +info +time +get +set +del",
		"commands": "~* -@all +info +eval +evalsha +time +get +del",
		"removal":  "~* -@all +info +eval +evalsha +time +get +set",
	}
	want := map[string]string{
		servertest.StartRedis(t, "--replicaof", "127.0.0.1 1").Addr: "the server is a replica; name its master",
		servertest.StartRedis(t, "--maxmemory", "1").Addr:           "the server's memory is full (maxmemory)",
	}
	for user, rule := range rules {
		open.Must(t, append([]string{"ACL", "SETUSER", user, "on", ">hunter2"}, strings.Fields(rule)...)...)
		want[user+":hunter2@"+open.Addr] = "that user may not do what penstock needs: EVAL, EVALSHA, TIME, GET, SET, DEL, INFO"
	}
	for where, help := range want {
		for _, verb := range [][]string{{"check", "--store", "redis://" + where}, {"bench-store", "--for", "20ms", "redis://" + where}} {
			code, stdout, stderr := call("", verb...)
			assert.Equal(t, exitFailed, code, verb)
			assert.Empty(t, stdout, verb)
			assert.Contains(t, stderr, help, verb)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %q", stderr)
			assert.NotContains(t, stderr, "hunter")
		}
	}
}

// Whose table it is, is told by where requests go.
func TestCheckNamesTheEndpointOfTheEnvironment(t *testing.T) {
	emulator := httptest.NewServer(dynamodbtest.MinidynHandler())
	t.Cleanup(emulator.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_DYNAMODB": emulator.URL, "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none",
	} {
		t.Setenv(name, value)
	}
	code, stdout, stderr := call(passing, "check", "--store", "dynamodb://limits?create=true&floats=true", "-")
	assert.Empty(t, stderr)
	assert.Contains(t, stdout, "dynamodb table limits at "+emulator.URL, code)
}

// Without a region there is nobody to ask; credentials are not looked for on the network.
func TestDynamoDBWithoutARegion(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	code, _, stderr := call("", "check", "--store", "dynamodb://limits")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "the region is missing; add region=, such as dynamodb://limits?region=eu-west-1, or set AWS_REGION")
}
