package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"testing"
)

func TestDocs(t *testing.T) { holds(t, checkDocs) }

// checkDocs asks for a doc comment on every exported name of the core: packages,
// constants, variables, types, functions, methods, fields. A comment on a group
// speaks for its constants and variables, one at the end of the line will do for
// them and for fields and methods of interfaces.
func checkDocs(t *tree) ([]string, error) {
	var findings []string
	documented := map[string]bool{} // folders with a package comment
	for _, s := range t.sources {
		if !s.core() {
			continue
		}
		documented[s.dir] = documented[s.dir] || s.file.Doc != nil
		for _, decl := range s.file.Decls {
			for _, name := range undocumented(decl) {
				findings = append(findings, fmt.Sprintf("%s: %s has no doc comment: say what it is, its unit and range, and when it fails", s.at(name), name.Name))
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		if !documented[dir] {
			findings = append(findings, fmt.Sprintf("%s: the package has no doc comment", dir))
		}
	}
	return findings, nil
}

// undocumented lists the exported names of a declaration that nothing explains.
func undocumented(decl ast.Decl) []*ast.Ident {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var names []*ast.Ident
		for _, spec := range d.Specs {
			switch sp := spec.(type) {
			case *ast.ValueSpec:
				if d.Doc == nil && sp.Doc == nil && sp.Comment == nil {
					names = append(names, exported(sp.Names)...)
				}
			case *ast.TypeSpec:
				if !sp.Name.IsExported() {
					continue
				}
				if sp.Doc == nil && (d.Doc == nil || d.Lparen != token.NoPos) {
					names = append(names, sp.Name)
				}
				names = append(names, undocumentedMembers(sp.Type)...)
			}
		}
		return names
	}
	return nil
}

// undocumentedMembers does the same for the fields and methods of a type.
func undocumentedMembers(expr ast.Expr) []*ast.Ident {
	var members *ast.FieldList
	switch x := expr.(type) {
	case *ast.StructType:
		members = x.Fields
	case *ast.InterfaceType:
		members = x.Methods
	default:
		return nil
	}
	var names []*ast.Ident
	for _, member := range members.List {
		if member.Doc == nil && member.Comment == nil {
			names = append(names, exported(member.Names)...)
		}
	}
	return names
}

// exported picks the exported names.
func exported(names []*ast.Ident) []*ast.Ident {
	return slices.DeleteFunc(slices.Clone(names), func(n *ast.Ident) bool { return !n.IsExported() })
}

// receiver is the name of the type that a method belongs to.
func receiver(f *ast.FuncDecl) string {
	expr := f.Recv.List[0].Type
	for {
		switch x := expr.(type) {
		case *ast.StarExpr:
			expr = x.X
		case *ast.IndexExpr:
			expr = x.X
		case *ast.IndexListExpr:
			expr = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func TestDocsCanFail(t *testing.T) {
	prove(t, checkDocs, []proof{
		{name: "clean", files: map[string]string{
			"engine/doc.go": "// Package engine decides.\npackage engine",
			"engine/a.go": `package engine

// Times.
const (
	Never = -1
	Always = 1
)

var ErrRate = 1 // a bad rate

// Clock tells time.
type Clock interface {
	Now() int // ns
}

// Box holds.
type Box[K any] struct {
	// Both are counts.
	A, B int
	hidden int
}

type hidden struct{ Open int }

func (hidden) Method() {}
func private() {}
`,
			"engine/a_test.go":  "package engine\nfunc Helper() {}",
			"internal/x/x.go":   "package x\nfunc F() {}",
			"cmd/go.mod":        "module example.org/m/cmd",
			"cmd/penstock/a.go": "package main\nfunc F() {}",
		}},
		{
			name: "each kind",
			files: map[string]string{"engine/a.go": `package engine

const Never = -1

var ErrA, ErrB = 1, 2

type Clock interface {
	Now() int
}

// Box holds.
type Box[K, L any] struct {
	Size int
}

func (b *Box[K, L]) Len() int { return 0 }
func New() {}

// A group.
type (
	Inner struct{}
)
`},
			want: []string{":3: Never", ":5: ErrA", ":5: ErrB", ":7: Clock", ":8: Now", ":13: Size", ":16: Len", ":17: New", ":21: Inner", "engine: the package has no doc"},
		},
	})
}
