package lint

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestTestOnly(t *testing.T) { holds(t, checkTestOnly) }

// checkTestOnly keeps testing and testify out of what ships: a package that
// imports testing adds the flags of go test to every program that links it. A
// folder whose name ends in "test" is for tests, and may.
func checkTestOnly(t *tree) ([]string, error) {
	var findings []string
	for _, s := range t.sources {
		if s.test || strings.HasSuffix(path.Base(s.dir), "test") {
			continue
		}
		imports := s.imports()
		for _, imported := range slices.Sorted(maps.Keys(imports)) {
			if within(imported, "testing") || within(imported, testifyPath) {
				findings = append(findings, fmt.Sprintf(
					"%s: imports %s: move it to a file that ends in _test.go, or to a folder whose name ends in test",
					imports[imported], imported))
			}
		}
	}
	return findings, nil
}

func TestTestOnlyCanFail(t *testing.T) {
	prove(t, checkTestOnly, []proof{
		{name: "clean", files: map[string]string{
			"engine/a_test.go":       "package engine\nimport \"testing\"",
			"store/storetest/kit.go": "package storetest\nimport \"testing\"",
		}},
		{
			name: "shipped",
			files: map[string]string{
				"bench/compare/go.mod": "module example.org/m/bench/compare",
				"bench/compare/a.go":   "package compare\nimport \"testing/quick\"",
				"engine/issuetest.go":  "package engine\nimport \"testing\"",
				"store/a.go":           "package store\nimport \"" + testifyPath + "/assert\"",
			},
			want: []string{"bench/compare/a.go:2: imports testing/quick", "engine/issuetest.go:2: imports testing", "testify/assert"},
		},
	})
}
