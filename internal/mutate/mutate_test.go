package mutate

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// text returns the file with the rule broken.
func (b *broken) text() (string, error) {
	content, err := os.ReadFile(filepath.Join(root, b.file))
	if err != nil {
		return "", err
	}
	text := string(content)
	for _, p := range b.pieces {
		if n := strings.Count(text, p.from); n != 1 {
			return "", fmt.Errorf("%q: %s has this text %d times, and must have it once; the code has changed, so change the break too "+
				"(internal/mutate/breaks_test.go):\n%s", b.what, b.file, n, p.from)
		}
		text = strings.Replace(text, p.from, p.to, 1)
	}
	return text, nil
}

// overlay writes the broken file and what makes the compiler take it in place of the other one.
func (b *broken) overlay(t *testing.T) string {
	t.Helper()
	text, err := b.text()
	require.NoError(t, err)
	folder := t.TempDir()
	replacement := filepath.Join(folder, filepath.Base(b.file))
	require.NoError(t, os.WriteFile(replacement, []byte(text), 0o600))
	original, err := filepath.Abs(filepath.Join(root, b.file))
	require.NoError(t, err)
	list, err := json.Marshal(map[string]map[string]string{"Replace": {original: replacement}})
	require.NoError(t, err)
	name := filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(name, list, 0o600))
	return name
}

// goTool runs the go command in the repository.
func goTool(env []string, args ...string) (string, error) {
	command := exec.Command("go", args...)
	command.Dir = root
	command.Env = append(os.Environ(), env...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// TestBreaksApply: the text of each is there, and what comes of it compiles.
func TestBreaksApply(t *testing.T) {
	require.GreaterOrEqual(t, len(breaks), 15)
	c := newChecker(t)
	for _, b := range breaks {
		t.Run(b.what, func(t *testing.T) {
			text, err := b.text()
			require.NoError(t, err)
			require.NoError(t, c.check(&b, text))
		})
	}
}

// TestABreakThatDoesNotApply is named.
func TestABreakThatDoesNotApply(t *testing.T) {
	lost := broken{what: "lost", file: "evict/sweeper.go", pieces: []piece{{"no such text", ""}}}
	_, err := lost.text()
	require.ErrorContains(t, err, `"lost": evict/sweeper.go has this text 0 times`)
}

// TestMutations runs for each break the test that has to catch it, if PENSTOCK_MUTATE is the name of the
// file that the table is to be written to.
func TestMutations(t *testing.T) {
	name := os.Getenv("PENSTOCK_MUTATE")
	if name == "" {
		t.Skip("takes minutes: run make mutate")
	}
	whole := map[string]string{} // schedules of each program when nothing is broken
	var rows []string
	for _, b := range breaks {
		t.Run(b.what, func(t *testing.T) {
			if _, done := whole[b.by.test]; !done {
				out, schedules, err := b.by.run(t)
				require.NoError(t, err, "the test fails though nothing is broken:\n%s", out)
				whole[b.by.test] = schedules
			}
			out, schedules, err := b.by.run(t, "-overlay", b.overlay(t))
			require.Error(t, err, "nobody noticed; %s ran:\n%s", b.by.test, out)
			require.NotContains(t, out, "[build failed]")
			require.NotContains(t, out, "test timed out", "that proves nothing")
			require.NotContains(t, out, "unusable program", "idle, not wrong")
			require.NotEmpty(t, says(out), "it does not say why:\n%s", out)
			rows = append(rows, fmt.Sprintf("| %s | %s | %#q | %s | %s | %s |", b.what, b.by.kind, b.by.name(), schedules, whole[b.by.test], says(out)))
		})
	}
	if !t.Failed() && len(rows) == len(breaks) { // not with -run
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(page+strings.Join(rows, "\n")+"\n"), 0o600))
	}
}

// page is the top of the table.
const page = `# Broken on purpose

Each row is a rule of the core that was taken out, and the test that failed then. ` + "`make mutate`" + ` does
that and writes this page; that every break still applies and compiles is a test of its own. The breaks
themselves, as text that is replaced, are in
[internal/mutate/breaks_test.go](../internal/mutate/breaks_test.go); the programs are those of
[every order of the steps](interleavings.md), with how many
schedules ended well before one failed, and how many there are of the unbroken core.

| what is broken | caught by | test | passed before | unbroken | what it says |
|---|---|---|---|---|---|
`

// name is the test, for people.
func (c *catcher) name() string { return c.dir + "." + c.test }

// run runs the test. It returns the schedules that a program ran.
func (c *catcher) run(t *testing.T, flags ...string) (out, schedules string, err error) {
	t.Helper()
	report := filepath.Join(t.TempDir(), "table")
	args := append([]string{"test", "-count=1", "-timeout", "3m", "-run", "^(" + c.test + ")$"}, flags...)
	if c.kind == program {
		args = append(args, "-tags", "interleave")
	}
	out, err = goTool([]string{"PENSTOCK_INTERLEAVE=" + report, "GOGC=400"}, append(args, "./"+c.dir)...)
	if row, readErr := os.ReadFile(report); readErr == nil {
		schedules = strings.Split(string(row), "\t")[2]
	}
	return out, schedules, err
}

// saying matches what a failed test says, the most telling first: a program, an error, a comparison.
var saying = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\s+interleave: (.*)$`),
	regexp.MustCompile(`(?m)Received unexpected error:\n\s+(.*)$`),
	regexp.MustCompile(`(?m)Error:\s+(.*)$`),
}

// says returns why a test failed, in a line.
func says(out string) string {
	for _, pattern := range saying {
		if match := pattern.FindStringSubmatch(out); match != nil {
			return strings.ReplaceAll(strings.TrimSpace(match[1]), "|", "\\|")
		}
	}
	return ""
}

// TestSays: the line that tells, not the first.
func TestSays(t *testing.T) {
	require.Equal(t, "take: deadlock", says("--- FAIL: X\n    \tError:      \tReceived unexpected error:\n    \t\tinterleave: take: deadlock\n    \t\t  1  A load\n"))
	require.Equal(t, "oracle: too much", says("    \tError:      \tReceived unexpected error:\n    \t\toracle: too much\n"))
	require.Equal(t, "Should be false", says("    \tError Trace:\tx.go:3\n    \tError:      \tShould be false\n"))
	require.Empty(t, says("ok"))
}
