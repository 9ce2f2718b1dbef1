package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheckOut: the revision's tree with the benchmarks of the working tree, and
// without a benchmark that only the revision has.
func TestCheckOut(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		require.Empty(t, os.Getenv("CI"), "git is missing")
		t.Skip("git is missing: the gate needs it")
	}
	top := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(top, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	git := func(args ...string) {
		_, err := command(t.Context(), top, "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
		require.NoError(t, err)
	}
	put("engine/a.go", "old engine")
	put("bench/a.go", "old benchmark")
	put("bench/gone.go", "old benchmark")
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	put("engine/a.go", "new engine")
	put("bench/a.go", "new benchmark")
	require.NoError(t, os.Remove(filepath.Join(top, "bench", "gone.go")))

	base := filepath.Join(t.TempDir(), "base")
	require.NoError(t, checkOut(t.Context(), top, base, "HEAD"))
	for name, want := range map[string]string{"engine/a.go": "old engine", "bench/a.go": "new benchmark"} {
		got, err := os.ReadFile(filepath.Join(base, name))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	require.NoFileExists(t, filepath.Join(base, "bench", "gone.go"))
	require.Error(t, checkOut(t.Context(), top, base+"2", "no-such-revision"))
}
