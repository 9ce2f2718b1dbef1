package lint

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proof is a small tree and what a rule has to say of it.
type proof struct {
	name  string
	files map[string]string // by path; a go.mod for example.org/m is added unless given
	want  []string          // a part of each finding, in order; none: the tree is clean
}

// prove runs a rule over small trees. It insists on a bad tree and on a clean
// one: without the first a rule may find nothing ever, without the second it may
// refuse everything.
func prove(t *testing.T, check rule, proofs []proof) {
	t.Helper()
	bad, clean := 0, 0
	for _, p := range proofs {
		if len(p.want) > 0 {
			bad++
		} else {
			clean++
		}
		t.Run(p.name, func(t *testing.T) {
			made, err := loadTree(makeTree(t, p.files))
			if err != nil {
				t.Fatal(err)
			}
			findings, err := check(made)
			if err != nil {
				t.Fatal(err)
			}
			if len(findings) != len(p.want) {
				t.Fatalf("found %d, want %d:\n%s", len(findings), len(p.want), strings.Join(findings, "\n"))
			}
			for i, want := range p.want {
				if !strings.Contains(findings[i], want) {
					t.Errorf("finding %d is %q, which lacks %q", i, findings[i], want)
				}
			}
		})
	}
	if bad == 0 || clean == 0 {
		t.Errorf("a proof needs a bad tree and a clean one, got %d and %d", bad, clean)
	}
}

// makeTree writes files into a new folder and returns its path.
func makeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	all := map[string]string{"go.mod": "module example.org/m\n\ngo 1.26.0\n"}
	maps.Copy(all, files)
	root := t.TempDir()
	for name, text := range all {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
