package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// tree is a repository: this one, or a small one made to prove a rule.
type tree struct {
	root    string    // absolute path of its top folder
	module  string    // path of the root module
	modules []string  // folders with a go.mod, "." first
	sources []*source // Go files of all modules, in order of their paths
}

// source is one parsed Go file.
type source struct {
	path   string // from the root, with slashes
	dir    string // the folder of the file, "." at the root
	module string // the folder of its module, "." for the root module
	test   bool   // the name ends in _test.go
	lines  int
	fset   *token.FileSet
	file   *ast.File
}

// at is "path:line" of a node.
func (s *source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(n.Pos()).Line)
}

// imports is the paths of the imported packages, each with its position.
func (s *source) imports() map[string]string {
	found := map[string]string{}
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			found[p] = s.at(spec)
		}
	}
	return found
}

// importName is the name by which the file calls a package, "" if it does not
// import it.
func (s *source) importName(importPath string) string {
	for _, spec := range s.file.Imports {
		if spec.Path.Value != strconv.Quote(importPath) {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(importPath)
	}
	return ""
}

// core reports whether the file belongs to a package that users may import.
func (s *source) core() bool {
	if s.module != "." || s.test {
		return false
	}
	for part := range strings.SplitSeq(s.dir, "/") {
		if slices.Contains([]string{".", "internal", "bench", "fuzz"}, part) {
			return false
		}
	}
	return true
}

// explored reports whether the file is built only to explore interleavings, which no user does.
func (s *source) explored() bool {
	for _, group := range s.file.Comments {
		for _, comment := range group.List {
			if comment.Pos() < s.file.Package && comment.Text == "//go:build interleave" {
				return true
			}
		}
	}
	return false
}

// loadTree reads all Go files below root. Folders named testdata or bin, and
// those whose name starts with a dot or an underscore, are passed over.
func loadTree(root string) (*tree, error) {
	t := &tree{root: root}
	files := []string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != root && (base == "testdata" || base == "bin" || strings.ContainsAny(base[:1], "._")) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, name)
		switch {
		case err != nil:
			return err
		case base == "go.mod":
			t.modules = append(t.modules, path.Dir(filepath.ToSlash(rel)))
		case strings.HasSuffix(base, ".go"):
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(t.modules)
	if t.module, err = modulePath(filepath.Join(root, "go.mod")); err != nil {
		return nil, err
	}
	for _, name := range files {
		s, err := t.parse(name)
		if err != nil {
			return nil, err
		}
		t.sources = append(t.sources, s)
	}
	return t, nil
}

// parse reads one Go file.
func (t *tree) parse(name string) (*source, error) {
	text, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	s := &source{
		path:   name,
		dir:    path.Dir(name),
		module: ".",
		test:   strings.HasSuffix(name, "_test.go"),
		lines:  strings.Count(string(text), "\n"),
		fset:   token.NewFileSet(),
	}
	for _, m := range t.modules { // sorted: the deepest module that holds it comes last
		if m != "." && strings.HasPrefix(name, m+"/") {
			s.module = m
		}
	}
	s.file, err = parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return s, err
}

// modulePath is the path that a go.mod declares.
func modulePath(goMod string) (string, error) {
	text, err := os.ReadFile(goMod)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "module" {
			return fields[1], nil
		}
	}
	return "", errors.New(goMod + ": no module line")
}

// repository is the tree of this repository, parsed once.
var repository = sync.OnceValues(func() (*tree, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	return loadTree(root)
})

// rule looks for breaches in a tree and returns one line for each.
type rule func(*tree) ([]string, error)

// holds runs a rule over this repository.
func holds(t *testing.T, check rule) {
	t.Helper()
	repo, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	if len(repo.sources) == 0 {
		t.Fatalf("no Go file found below %s: the rule would hold over nothing", repo.root)
	}
	findings, err := check(repo)
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range findings {
		t.Error(finding)
	}
}
