package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// renderAPI renders the exported names of a file, one a line, without what a
// user's code does not depend on: names of parameters, values of variables,
// bodies, comments.
func renderAPI(s *source) []string {
	var lines []string
	for _, decl := range s.file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			lines = append(lines, renderFunc(d)...)
		case *ast.GenDecl:
			switch d.Tok {
			case token.CONST:
				lines = append(lines, renderConsts(d)...)
			case token.VAR:
				lines = append(lines, renderVars(d)...)
			case token.TYPE:
				lines = append(lines, renderTypes(d)...)
			}
		}
	}
	return lines
}

// renderFunc renders a function, or a method of an exported type.
func renderFunc(d *ast.FuncDecl) []string {
	signature := typeParams(d.Type.TypeParams) + signatureOf(d.Type)
	switch {
	case !d.Name.IsExported():
		return nil
	case d.Recv == nil:
		return []string{"func " + d.Name.Name + signature}
	case !ast.IsExported(receiver(d)):
		return nil
	}
	return []string{fmt.Sprintf("method (%s) %s%s", code(d.Recv.List[0].Type), d.Name.Name, signature)}
}

// renderConsts renders constants with their values. A constant that repeats the
// expression of an earlier one shows it, with its place in the group.
func renderConsts(d *ast.GenDecl) []string {
	var lines []string
	var last *ast.ValueSpec
	for i, spec := range d.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		if len(value.Values) > 0 {
			last = value
		}
		for j, name := range value.Names {
			if !name.IsExported() || last == nil || j >= len(last.Values) {
				continue
			}
			line := "const " + name.Name
			if last.Type != nil {
				line += " " + code(last.Type)
			}
			line += " = " + code(last.Values[j])
			if strings.Contains(line, "iota") {
				line += fmt.Sprintf(" (iota %d)", i)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// renderVars renders variables.
func renderVars(d *ast.GenDecl) []string {
	var lines []string
	for _, spec := range d.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for _, name := range exported(value.Names) {
			line := "var " + name.Name
			if value.Type != nil {
				line += " " + code(value.Type)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// renderTypes renders types, a line for each, and one for each exported member.
func renderTypes(d *ast.GenDecl) []string {
	var lines []string
	for _, spec := range d.Specs {
		sp, ok := spec.(*ast.TypeSpec)
		if !ok || !sp.Name.IsExported() {
			continue
		}
		line := "type " + sp.Name.Name + typeParams(sp.TypeParams)
		if sp.Assign != token.NoPos {
			line += " ="
		}
		switch x := sp.Type.(type) {
		case *ast.StructType:
			lines = append(lines, line+" struct"+unexported(x.Fields))
			lines = append(lines, renderMembers("field "+sp.Name.Name, x.Fields)...)
		case *ast.InterfaceType:
			lines = append(lines, line+" interface"+unexported(x.Methods))
			lines = append(lines, renderMembers("method "+sp.Name.Name, x.Methods)...)
		default:
			lines = append(lines, line+" "+code(x))
		}
	}
	return lines
}

// renderMembers renders the exported fields of a struct or methods of an interface.
func renderMembers(prefix string, members *ast.FieldList) []string {
	var lines []string
	for _, member := range members.List {
		if len(member.Names) == 0 {
			lines = append(lines, prefix+" embeds "+code(member.Type))
		}
		for _, name := range exported(member.Names) {
			if f, ok := member.Type.(*ast.FuncType); ok && strings.HasPrefix(prefix, "method") {
				lines = append(lines, prefix+"."+name.Name+signatureOf(f))
			} else {
				lines = append(lines, prefix+"."+name.Name+" "+code(member.Type))
			}
		}
	}
	return lines
}

// unexported tells that a type has members that users do not see: a struct that
// cannot be written without field names, an interface they cannot implement.
func unexported(members *ast.FieldList) string {
	for _, member := range members.List {
		if slices.ContainsFunc(member.Names, func(n *ast.Ident) bool { return !n.IsExported() }) {
			return " with unexported members"
		}
	}
	return ""
}

// signatureOf renders the types of parameters and results.
func signatureOf(f *ast.FuncType) string {
	results := typesOf(f.Results)
	switch len(results) {
	case 0:
		return "(" + strings.Join(typesOf(f.Params), ", ") + ")"
	case 1:
		return "(" + strings.Join(typesOf(f.Params), ", ") + ") " + results[0]
	}
	return "(" + strings.Join(typesOf(f.Params), ", ") + ") (" + strings.Join(results, ", ") + ")"
}

// typesOf lists the type of each parameter of a list.
func typesOf(list *ast.FieldList) []string {
	if list == nil {
		return nil
	}
	var types []string
	for _, field := range list.List {
		for range max(1, len(field.Names)) {
			types = append(types, code(field.Type))
		}
	}
	return types
}

// typeParams renders type parameters with their constraints.
func typeParams(list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	var params []string
	for _, field := range list.List {
		for _, name := range field.Names {
			params = append(params, name.Name+" "+code(field.Type))
		}
	}
	return "[" + strings.Join(params, ", ") + "]"
}

// code prints an expression on one line.
func code(x ast.Expr) string {
	var out bytes.Buffer
	if err := printer.Fprint(&out, token.NewFileSet(), x); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func TestRenderAPI(t *testing.T) {
	made, err := loadTree(makeTree(t, map[string]string{"engine/a.go": `package engine

import ("io"; "time")

const Never time.Duration = -1

const (
	CapShared CapPolicy = iota
	CapDeny
	hidden
	CapAllow
)

var ErrRate, errHidden = io.EOF, io.EOF
var Default io.Writer

type CapPolicy uint8
type Same = CapPolicy
type Option func(*options)
type Clock interface{ Now() time.Duration }
type Sealed interface { io.Closer; Call(a, b int, rest ...string) (int, error); private() }
type Rate struct { Tokens, Burst int64; Per time.Duration; Hook func(int) error }
type Limiter[K comparable, V any] struct { io.Reader; word uint64 }

func New[K comparable](l Limit, opts ...Option) (*Limiter[K, int], error) { return nil, nil }
func (l *Limiter[K, V]) Take(key K, n int64) (d Decision) { return d }
func (options) Exported() {}
func (l *Limiter[K, V]) hidden() {}
`}))
	if err != nil {
		t.Fatal(err)
	}
	want := `const CapAllow CapPolicy = iota (iota 3)
const CapDeny CapPolicy = iota (iota 1)
const CapShared CapPolicy = iota (iota 0)
const Never time.Duration = -1
field Limiter embeds io.Reader
field Rate.Burst int64
field Rate.Hook func(int) error
field Rate.Per time.Duration
field Rate.Tokens int64
func New[K comparable](Limit, ...Option) (*Limiter[K, int], error)
method (*Limiter[K, V]) Take(K, int64) Decision
method Clock.Now() time.Duration
method Sealed embeds io.Closer
method Sealed.Call(int, int, ...string) (int, error)
type CapPolicy uint8
type Clock interface
type Limiter[K comparable, V any] struct with unexported members
type Option func(*options)
type Rate struct
type Same = CapPolicy
type Sealed interface with unexported members
var Default io.Writer
var ErrRate`
	if got := strings.Join(apiOf(made)["engine"], "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
