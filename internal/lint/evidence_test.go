package lint

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// evidencePage is the page that names the proofs of each law.
const evidencePage = "docs/correctness.md"

var proofName = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)`")

func TestEvidence(t *testing.T) { holds(t, checkEvidence) }

// checkEvidence asks for each test and fuzz target that the page of proofs names. (Its tasks are looked up
// as those of every page, in checkReadme.)
func checkEvidence(t *tree) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(evidencePage)))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	exists := map[string]bool{}
	for _, s := range t.sources {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && s.test && f.Recv == nil {
				exists[f.Name.Name] = true
			}
		}
	}
	var findings []string
	for _, name := range proofName.FindAllStringSubmatch(string(text), -1) {
		if !exists[name[1]] {
			findings = append(findings, fmt.Sprintf("%s: there is no %s: name the test that shows it now", evidencePage, name[1]))
		}
	}
	return findings, nil
}

func TestEvidenceCanFail(t *testing.T) {
	prove(t, checkEvidence, []proof{
		{name: "clean", files: map[string]string{
			evidencePage:  "`TestA` and `FuzzB`; `Testing` and `TestMain.go` are no names",
			"a/a_test.go": "package a\nfunc TestA() {}\nfunc FuzzB() {}\nfunc Testing() {}",
		}},
		{name: "no page", files: map[string]string{"a/a.go": "package a"}},
		{
			name: "gone",
			files: map[string]string{
				evidencePage:  "`TestA`, `TestB`",
				"a/a.go":      "package a\nfunc TestA() {}",
				"a/a_test.go": "package a\ntype T struct{}\nfunc (T) TestB() {}",
			},
			want: []string{"no TestA", "no TestB"},
		},
	})
}
