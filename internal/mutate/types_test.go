package mutate

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checker finds what the compiler would refuse, by the types: a second for all breaks, where building
// each takes a minute and more. `make mutate` builds them.
type checker struct {
	files    *token.FileSet
	importer types.Importer
}

// newChecker returns one for the packages of all breaks.
func newChecker(t *testing.T) *checker {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for _, b := range breaks {
		args = append(args, "./"+filepath.Dir(b.file))
	}
	out, err := goTool(nil, args...)
	require.NoError(t, err, out)
	exports := map[string]string{}
	for line := range strings.Lines(out) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[name] = file
	}
	files := token.NewFileSet()
	return &checker{files, importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
}

// check returns what is wrong with the package of a break when its file has this text.
func (c *checker) check(b *broken, text string) error {
	folder := filepath.Join(root, filepath.Dir(b.file))
	found, err := build.ImportDir(folder, 0)
	if err != nil {
		return err
	}
	parsed := make([]*ast.File, 0, len(found.GoFiles))
	for _, name := range found.GoFiles {
		var source any // nil: what is on the disk
		if name == filepath.Base(b.file) {
			source = text
		}
		file, err := parser.ParseFile(c.files, filepath.Join(folder, name), source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	_, err = (&types.Config{Importer: c.importer}).Check(folder, c.files, parsed, nil)
	return err
}

// TestWhatDoesNotCompile is seen: a wrong type, a variable and an import that nobody uses, and what is no Go.
func TestWhatDoesNotCompile(t *testing.T) {
	c := newChecker(t)
	sweeper := broken{file: "evict/sweeper.go"}
	text, err := sweeper.text()
	require.NoError(t, err)
	require.NoError(t, c.check(&sweeper, text))
	for added, want := range map[string]string{
		`var wrong int = ""`:         "cannot use",
		`func wrong() { left := 1 }`: "declared and not used: left",
		`func wrong() int {}`:        "missing return",
		`func`:                       "expected",
	} {
		require.ErrorContains(t, c.check(&sweeper, text+added), want)
	}
	unused := strings.Replace(text, "import (", "import (\n\t\"sync\"", 1)
	require.ErrorContains(t, c.check(&sweeper, unused), `"sync" imported and not used`)
}
