package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cmd/internal/plot"
)

// TestPlot: the verb makes the folder, writes what it says, and overwrites.
func TestPlot(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		var stdout, stderr bytes.Buffer
		code := Run([]string{"plot", "--out", out}, Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		require.Equal(t, exitOK, code, stderr.String())
		var want strings.Builder
		for _, name := range plot.Algorithms() {
			file := filepath.Join(out, name+".svg")
			want.WriteString("wrote " + file + "\n")
			got, err := os.ReadFile(file)
			require.NoError(t, err)
			picture, err := plot.SVG(name)
			require.NoError(t, err)
			require.Equal(t, string(picture), string(got))
			require.NoError(t, os.WriteFile(file, []byte("old and longer"+string(got)), 0o600))
		}
		require.Equal(t, want.String(), stdout.String())
	}
}

// TestPlotSome draws the algorithms asked for, and refuses one that has no picture before it
// writes any.
func TestPlotSome(t *testing.T) {
	out := t.TempDir()
	var stdout, stderr bytes.Buffer
	env := Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
	require.Equal(t, exitUsage, Run([]string{"plot", "--out", out, "--algorithm", "gcra,unlimited"}, env))
	require.Contains(t, stderr.String(), `--algorithm: there is no picture of "unlimited"`)
	require.Equal(t, exitOK, Run([]string{"plot", "--out", out, "--algorithm", "gcra,sliding_log"}, env))
	files, err := filepath.Glob(filepath.Join(out, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(out, "gcra.svg"), filepath.Join(out, "sliding_log.svg")}, files)
	require.Equal(t, exitFailed, Run([]string{"plot", "--out", files[0]}, env), "a file where the folder should be")
}
