package cases

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
)

const good = `{"id": "one", "algorithm": "token_bucket", "also_algorithms": ["gcra"], "note": "n", "source": "s", "later": 1,
	"limit": {"limit": 1, "window_ns": 1000000000, "burst": 2},
	"calls": [
		{"t_ns": 0, "key": "a", "n": 2, "want_allow": true},
		{"t_ns": 0, "key": "a", "n": 1, "want_allow": false, "want_retry_after_ns": 1000000000},
		{"t_ns": -5, "key": "a", "n": 2, "want_allow": false},
		{"t_ns": 0, "key": "b", "n": 3, "want_allow": false, "want_retry_after_ns": -1},
		{"t_ns": 0, "key": "b", "n": 3, "want_allow": false},
		{"t_ns": 0, "key": "b", "n": -1, "want_allow": false},
		{"t_ns": 1000000000, "key": "a", "n": 1, "want_allow": true}]}`

func parsed(t *testing.T, line string) Case {
	t.Helper()
	c, err := Parse([]byte(line))
	require.NoError(t, err)
	return c
}

func TestParse(t *testing.T) {
	c := parsed(t, good)
	assert.Equal(t, "one", c.ID)
	assert.Equal(t, []string{"token_bucket", "gcra"}, c.Algorithms())
	assert.Equal(t, limits.Spec{Algorithm: "gcra", Tokens: 1, Per: time.Second, Burst: 2}, c.Spec("gcra"))
	assert.Len(t, c.Calls, 7)
	assert.Nil(t, c.Calls[2].WantRetryAfterNanos)
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	call := `{"t_ns": 0, "key": "a", "n": 1, "want_allow": true}`
	with := func(limit, calls string) string {
		return `{"id": "x", "algorithm": "token_bucket", "limit": {` + limit + `}, "calls": [` + calls + `]}`
	}
	full := `"limit": 1, "window_ns": 1, "burst": 1`
	for line, want := range map[string]string{
		`{`:                         "the JSON ends early",
		good[:100]:                  "the JSON ends early",
		`x`:                         "not JSON at byte 1",
		`[]`:                        "the line is a JSON array",
		`3`:                         "the line is a JSON number",
		`{}`:                        `"id" is missing, "algorithm" is missing`,
		`{"id": 3}`:                 `field "id" cannot be number`,
		good + good:                 "more after the case",
		with(``, call):              `"limit.limit" (tokens per window) is missing, "limit.window_ns" is missing, "limit.burst" (token_bucket needs it) is missing`,
		with(full, ``):              `"calls" is missing`,
		with(full, `{}`):            `"t_ns" of call 1 is missing, "key" of call 1 is missing, "n" of call 1 is missing, "want_allow" of call 1 is missing`,
		with(full, `{"t_ns": 1.5}`): `cannot be number 1.5`,
		with(full, `{"t_ns": 99999999999999999999}`):                                     `cannot be number 99999999999999999999`,
		with(full, `{"t_ns": 0, "key": "a", "n": 1, "want_allow": "yes"}`):               `cannot be string`,
		with(full, strings.Replace(call, "true", `false, "want_retry_after_ns": -2`, 1)): `"want_retry_after_ns" of call 1 is -2; use -1 for never`,
	} {
		_, err := Parse([]byte(line))
		require.ErrorContains(t, err, want, line)
		assert.NotContains(t, err.Error(), "\n", "one line")
	}
}

func TestJudgePasses(t *testing.T) {
	assert.Empty(t, Judge(parsed(t, good), Engine, 4))
}

// broken is a limiter of the engine with one fault.
type broken struct {
	Limiter
	fault func(n int64, d engine.Decision) engine.Decision
}

func (b broken) TakeAt(now time.Duration, key string, n int64) engine.Decision {
	return b.fault(n, b.Limiter.TakeAt(now, key, n))
}

func breakWith(fault func(n int64, d engine.Decision) engine.Decision) Build {
	return func(spec limits.Spec) (Limiter, error) {
		l, err := Engine(spec)
		return broken{l, fault}, err
	}
}

// Every kind of fault must be seen: a check that cannot fail proves nothing.
func TestJudgeSeesABrokenLimiter(t *testing.T) {
	for name, test := range map[string]struct {
		fault func(n int64, d engine.Decision) engine.Decision
		calls []int // of one algorithm
	}{
		"allows all": {func(_ int64, _ engine.Decision) engine.Decision { return engine.Decision{Allowed: true} }, []int{2, 3, 4, 5, 6}},
		"denies all": {func(_ int64, _ engine.Decision) engine.Decision { return engine.Decision{RetryAfter: time.Second} }, []int{1, 4, 5, 6, 7}},
		"waits a nanosecond too long": {func(_ int64, d engine.Decision) engine.Decision {
			if d.RetryAfter > 0 {
				d.RetryAfter++
			}
			return d
		}, []int{2, 3}},
		"waits a nanosecond too little": {func(_ int64, d engine.Decision) engine.Decision {
			if d.RetryAfter > 0 {
				d.RetryAfter--
			}
			return d
		}, []int{2}},
		"says 0 when denied": {func(_ int64, d engine.Decision) engine.Decision { d.RetryAfter = 0; return d }, []int{2, 3, 4, 5, 6}},
		"says a wait when allowed": {func(_ int64, d engine.Decision) engine.Decision {
			if d.Allowed {
				d.RetryAfter = 1
			}
			return d
		}, []int{1, 7}},
		"never for not now": {func(_ int64, d engine.Decision) engine.Decision {
			if !d.Allowed {
				d.RetryAfter = engine.Never
			}
			return d
		}, []int{2, 3}},
		"takes negative n": {func(n int64, d engine.Decision) engine.Decision {
			if n < 0 {
				return engine.Decision{Allowed: true}
			}
			return d
		}, []int{6}},
	} {
		mismatches := Judge(parsed(t, good), breakWith(test.fault), 4)
		var calls []int
		for _, m := range mismatches {
			if m.Algorithm == "gcra" {
				calls = append(calls, m.Call)
			}
		}
		assert.Equal(t, test.calls, calls, name)
		assert.Len(t, mismatches, 2*len(calls), "both algorithms: %s", name)
	}
}

func TestMismatchNamesEverything(t *testing.T) {
	allowAll := breakWith(func(_ int64, _ engine.Decision) engine.Decision { return engine.Decision{Allowed: true} })
	got := Judge(parsed(t, good), allowAll, 0)
	assert.Equal(t, "FAIL one (token_bucket) call 2: got allowed; want denied, retry-after 1000000000ns", got[0].String())
	assert.Equal(t, "FAIL one (token_bucket) call 3: got allowed; want denied, retry-after from 1ns to 2s", got[1].String())
	assert.Equal(t, "FAIL one (token_bucket) call 4: got allowed; want denied, retry-after never", got[2].String())
}

func TestJudgeFailsWhatIsNotKnown(t *testing.T) {
	c := parsed(t, strings.ReplaceAll(good, "token_bucket", "fair_share"))
	got := Judge(c, Engine, 4)
	require.Len(t, got, 1, "its other algorithm passes")
	assert.Equal(t, `FAIL one (fair_share): algorithm "fair_share" is not known; use one of `+
		strings.Join(limits.Names(), ", ")+"; want a limiter", got[0].String())
}

// A constructor may refuse a limit under which nothing could ever pass, but no
// other, and an algorithm that is not known gets no pass for it.
func TestJudgeOfALimitThatCannotBeBuilt(t *testing.T) {
	refuse := func(limits.Spec) (Limiter, error) { return nil, errors.New("refused") }
	never := parsed(t, `{"id": "P04", "algorithm": "token_bucket", "limit": {"limit": 1, "window_ns": 1000000000, "burst": 0},
		"calls": [{"t_ns": 0, "key": "a", "n": 1, "want_allow": false, "want_retry_after_ns": -1}]}`)
	assert.Empty(t, Judge(never, refuse, 4))
	assert.Empty(t, Judge(never, Engine, 4))
	assert.Equal(t, []Mismatch{
		{ID: "one", Algorithm: "token_bucket", Got: "refused", Want: "a limiter"},
		{ID: "one", Algorithm: "gcra", Got: "refused", Want: "a limiter"},
	}, Judge(parsed(t, good), refuse, 4))
	never.Algorithm = "fair_share"
	assert.Len(t, Judge(never, Engine, 4), 1)
}

func TestTraces(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/traces/*.jsonl")
	require.NoError(t, err)
	judged := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			c := parsed(t, line)
			judged[c.Algorithm]++
			assert.Empty(t, Judge(c, Engine, 8), c.ID)
		}
	}
	assert.Equal(t, map[string]int{"token_bucket": 21, "gcra": 2, "fixed_window": 4, "sliding_counter": 1, "sliding_log": 6}, judged)
}
