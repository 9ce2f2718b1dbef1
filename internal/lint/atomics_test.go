package lint

import (
	"fmt"
	"go/ast"
	"regexp"
	"testing"
)

// rawAtomic matches the functions of sync/atomic that take an address.
var rawAtomic = regexp.MustCompile(`^(Add|And|CompareAndSwap|Load|Or|Store|Swap)(Int32|Int64|Uint32|Uint64|Uintptr|Pointer)$`)

func TestAtomics(t *testing.T) { holds(t, checkAtomics) }

// checkAtomics allows typed atomics only in shipped code: a field of a plain
// type can be read without the atomic operation by mistake, and on 32-bit
// machines it may be misaligned.
func checkAtomics(t *tree) ([]string, error) {
	var findings []string
	for _, s := range t.sources {
		name := s.importName("sync/atomic")
		if name == "" || s.test {
			continue
		}
		if name == "." {
			findings = append(findings, s.path+": sync/atomic must not be dot-imported")
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if used := selected(n, name); rawAtomic.MatchString(used) {
				findings = append(findings, fmt.Sprintf(
					"%s: atomic.%s: use a typed atomic (atomic.Uint64, atomic.Pointer[T] ...) and its method", s.at(n), used))
			}
			return true
		})
	}
	return findings, nil
}

// selected is what a node selects from the package called name, "" if it does not.
func selected(n ast.Node, name string) string {
	selector, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if of, ok := selector.X.(*ast.Ident); !ok || of.Name != name {
		return ""
	}
	return selector.Sel.Name
}

func TestAtomicsCanFail(t *testing.T) {
	prove(t, checkAtomics, []proof{
		{name: "clean", files: map[string]string{
			"engine/a.go":      "package engine\nimport \"sync/atomic\"\nvar n atomic.Uint64\nfunc f() uint64 { return n.Add(1) }",
			"engine/a_test.go": "package engine\nimport \"sync/atomic\"\nvar m uint64\nfunc g() { atomic.AddUint64(&m, 1) }",
			"engine/b.go":      "package engine\ntype own struct{}\nvar atomic own\nfunc (own) AddUint64() {}\nfunc h() { atomic.AddUint64() }",
		}},
		{
			name:  "called",
			files: map[string]string{"cmd/a.go": "package cmd\nimport \"sync/atomic\"\nvar m uint64\nfunc g() { atomic.AddUint64(&m, 1) }"},
			want:  []string{"cmd/a.go:4: atomic.AddUint64"},
		},
		{
			name: "under another name, as a value",
			files: map[string]string{
				"cmd/a.go": "package cmd\nimport a \"sync/atomic\"\nvar f = a.CompareAndSwapPointer",
			},
			want: []string{"atomic.CompareAndSwapPointer"},
		},
		{
			name:  "dot import",
			files: map[string]string{"cmd/a.go": "package cmd\nimport . \"sync/atomic\"\nvar f = LoadInt32"},
			want:  []string{"dot-imported"},
		},
	})
}
