package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/cases"
	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
)

const passing = `{"id": "good", "algorithm": "token_bucket", "also_algorithms": ["gcra"], "limit": {"limit": 1, "window_ns": 1000, "burst": 1}, ` +
	`"calls": [{"t_ns": 0, "key": "a", "n": 1, "want_allow": true}, {"t_ns": 1, "key": "a", "n": 1, "want_allow": false, "want_retry_after_ns": 999}]}` + "\n"

// lastLine returns the last line of an output.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return lines[len(lines)-1]
}

func TestCheckPasses(t *testing.T) {
	code, stdout, stderr := call(passing+"\n"+passing, "check", "-")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "2 passed, 0 failed\n", stdout)
	assert.Empty(t, stderr)
}

func TestCheckFails(t *testing.T) {
	wrong := strings.NewReplacer("good", "bad", "999", "998").Replace(passing)
	unknown := strings.NewReplacer("good", "odd", "token_bucket", "fair_share").Replace(passing)
	code, stdout, stderr := call(passing+wrong+"{\n"+unknown+"\r\n"+passing, "check", "-")
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, stderr)
	assert.Equal(t, strings.Join([]string{
		"FAIL bad (token_bucket) call 2: got denied, retry-after 999ns; want denied, retry-after 998ns",
		"FAIL bad (gcra) call 2: got denied, retry-after 999ns; want denied, retry-after 998ns",
		"FAIL stdin:3: not a case: the JSON ends early; write the whole case on one line",
		`FAIL odd (fair_share): algorithm "fair_share" is not known; use one of token_bucket, gcra, leaky_bucket, leaky_queue, ` +
			`fixed_window, sliding_window, sliding_log; want a limiter`,
		"2 passed, 3 failed\n",
	}, "\n"), stdout)
}

func TestCheckOfUnusableInput(t *testing.T) {
	code, stdout, stderr := call(passing, "check", "missing.jsonl", "-", t.TempDir())
	assert.Equal(t, exitUsage, code)
	assert.Equal(t, "1 passed, 0 failed\n", stdout, "the others are checked")
	assert.Contains(t, stderr, "cannot read missing.jsonl: no such file")
	assert.Contains(t, stderr, "it is a directory")

	code, stdout, stderr = call("\n", "check", "-")
	assert.Equal(t, exitUsage, code)
	assert.Equal(t, "0 passed, 0 failed\n", stdout)
	assert.Contains(t, stderr, "there is no case in the input")
}

func TestCheckReadsZippedCases(t *testing.T) {
	code, stdout, _ := call("", "check", tempFile(t, "cases.jsonl.gz", zipped(t, passing)))
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "1 passed, 0 failed\n", stdout)
}

func TestCheckTraces(t *testing.T) {
	traces, err := filepath.Glob("../../../testdata/traces/*.jsonl")
	require.NoError(t, err)
	for _, orders := range []string{"0", "1", "4", "9"} {
		code, stdout, _ := call("", append([]string{"check", "--interleave", orders}, traces...)...)
		assert.Equal(t, exitOK, code, stdout)
		assert.Equal(t, "34 passed, 0 failed\n", stdout)
	}
}

func TestCheckRandom(t *testing.T) {
	code, stdout, stderr := call("", "check", "--random", "1000", "--seed", "5")
	assert.Equal(t, exitOK, code, stdout)
	assert.Equal(t, "random: 16 cases, 1000 calls, seed 5\n16 passed, 0 failed\n", stdout)
	assert.Empty(t, stderr)

	code, stdout, _ = call(passing, "check", "--random", "1", "-")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, "random: 1 cases, 1 calls, seed ")
	require.Equal(t, "2 passed, 0 failed", lastLine(stdout))
}

// oneKey is a limiter of the engine that takes all keys for one.
type oneKey struct{ cases.Limiter }

func (l oneKey) TakeAt(now time.Duration, _ string, n int64) engine.Decision {
	return l.Limiter.TakeAt(now, "the key", n)
}

// The flag decides in how many orders a case runs; a case fails once, whatever
// the number of its orders that fail.
func TestCheckInterleaves(t *testing.T) {
	build := func(spec limits.Spec) (cases.Limiter, error) {
		l, err := cases.Engine(spec)
		return oneKey{l}, err
	}
	for orders, red := range map[whole]int{0: 0, 1: 1, 4: 4} {
		var out bytes.Buffer
		tally := (&checkCmd{Interleave: orders}).tally(&out, build)
		require.NoError(t, tally.file("-", strings.NewReader(passing)))
		assert.Equal(t, min(red, 1), tally.failed)
		assert.Equal(t, 2*red, strings.Count(out.String(), "in the order"), "of two algorithms")
	}
}
