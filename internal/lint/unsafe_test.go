package lint

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"testing"
)

// unsafeFiles is the shipped files that may use unsafe, each with its reason.
// The file itself says, at each use, why that use is safe.
var unsafeFiles = map[string]string{
	"bench/keys.go":   "makes keys in one buffer, so that the making of a key costs the benchmark no allocation",
	"engine/allow.go": "looks a key up by its bytes without making a string of them; nothing keeps it",
	"sharded/log.go":  "looks a key up by its bytes without making a string of them; what is stored is a copy",
	"sharded/key.go":  "reads a key of type K as the string or integer that K was found to be when the limiter was built",
}

func TestUnsafe(t *testing.T) {
	holds(t, func(t *tree) ([]string, error) { return checkUnsafe(t, unsafeFiles) })
}

// checkUnsafe allows unsafe in listed files only. Sizeof, Alignof and Offsetof
// are free: they are constants, and hold the size of hot structs at compile time.
// Tests are free as well. An entry that is not needed any more has
// to go; one for a package that is not there yet may stay.
func checkUnsafe(t *tree, listed map[string]string) ([]string, error) {
	var findings []string
	needed, present := map[string]bool{}, map[string]bool{}
	for _, s := range t.sources {
		present[s.dir] = true
		name := s.importName("unsafe")
		if name == "" || s.test {
			continue
		}
		uses := unsafeUses(s, name)
		needed[s.path] = len(uses) > 0
		if listed[s.path] == "" {
			findings = append(findings, uses...)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(listed)) {
		if present[path.Dir(file)] && !needed[file] {
			findings = append(findings, fmt.Sprintf("%s: is listed for unsafe and does not use it: drop it from internal/lint/unsafe_test.go", file))
		}
	}
	return findings, nil
}

// unsafeUses lists the uses of unsafe in a file that are more than a constant.
func unsafeUses(s *source, name string) []string {
	const advice = "without unsafe, or list the file with its reason in internal/lint/unsafe_test.go"
	if name == "_" || name == "." {
		return []string{fmt.Sprintf("%s: imports unsafe as %q: do it %s", s.path, name, advice)}
	}
	var uses []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch used := selected(n, name); used {
		case "", "Sizeof", "Alignof", "Offsetof":
		default:
			uses = append(uses, fmt.Sprintf("%s: unsafe.%s: do it %s", s.at(n), used, advice))
		}
		return true
	})
	return uses
}

func TestUnsafeCanFail(t *testing.T) {
	listed := map[string]string{"sharded/bytes.go": "a view of bytes as a string"}
	good := "package sharded\nimport \"unsafe\"\nfunc f(b []byte) string { return unsafe.String(&b[0], len(b)) }"
	prove(t, func(t *tree) ([]string, error) { return checkUnsafe(t, listed) }, []proof{
		{name: "clean", files: map[string]string{
			"sharded/bytes.go":  good,
			"sharded/size.go":   "package sharded\nimport \"unsafe\"\nvar _ [24]struct{} = [unsafe.Sizeof(slot{})]struct{}{}",
			"sharded/x_test.go": "package sharded\nimport \"unsafe\"\nvar p unsafe.Pointer",
		}},
		{name: "a listed package to come", files: map[string]string{"engine/a.go": "package engine"}},
		{
			name: "a file that is not listed",
			files: map[string]string{
				"sharded/bytes.go": good,
				"cmd/a.go":         "package cmd\nimport u \"unsafe\"\nvar p u.Pointer",
			},
			want: []string{"cmd/a.go:3: unsafe.Pointer"},
		},
		{
			name: "for linkname",
			files: map[string]string{
				"sharded/bytes.go": good,
				"engine/a.go":      "package engine\nimport _ \"unsafe\"",
			},
			want: []string{`engine/a.go: imports unsafe as "_"`},
		},
		{
			name:  "an entry without use",
			files: map[string]string{"sharded/a.go": "package sharded"},
			want:  []string{"sharded/bytes.go: is listed for unsafe and does not use it"},
		},
	})
}
