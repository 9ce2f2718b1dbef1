package lint

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// apiDir is where the exported names of each core package are kept, from the root.
const apiDir = "internal/lint/testdata/api"

// updateHint ends each finding about the API.
const updateHint = "if this is meant, run `make api`, commit the result and add a line to CHANGELOG.md"

var update = flag.Bool("update", false, "write the present exported API to "+apiDir)

func TestAPI(t *testing.T) {
	if *update {
		repo, err := repository()
		if err != nil {
			t.Fatal(err)
		}
		if err := writeAPI(repo); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, checkAPI)
}

// checkAPI compares the exported names of each core package with its golden file,
// so that the API changes on purpose only, and in one visible place of a diff.
func checkAPI(t *tree) ([]string, error) {
	goldens, err := goldenFiles(t)
	if err != nil {
		return nil, err
	}
	var findings []string
	present := apiOf(t)
	for _, dir := range slices.Sorted(maps.Keys(present)) {
		golden := path.Join(apiDir, dir+".txt")
		want, known := goldens[golden]
		delete(goldens, golden)
		if !known {
			findings = append(findings, fmt.Sprintf("%s: there is no golden file for package %s: %s", golden, dir, updateHint))
		} else if diff := difference(want, present[dir]); diff != "" {
			findings = append(findings, fmt.Sprintf("%s: the exported API of %s has changed:\n%s%s", golden, dir, diff, updateHint))
		}
	}
	for _, golden := range slices.Sorted(maps.Keys(goldens)) {
		findings = append(findings, fmt.Sprintf("%s: its package is gone: %s", golden, updateHint))
	}
	return findings, nil
}

// writeAPI replaces the golden files by what is exported now.
func writeAPI(t *tree) error {
	if err := os.RemoveAll(filepath.Join(t.root, filepath.FromSlash(apiDir))); err != nil {
		return err
	}
	for dir, lines := range apiOf(t) {
		name := filepath.Join(t.root, filepath.FromSlash(apiDir), filepath.FromSlash(dir)+".txt")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// goldenFiles reads the lines of all golden files, by their paths from the root.
func goldenFiles(t *tree) (map[string][]string, error) {
	found := map[string][]string{}
	top := filepath.Join(t.root, filepath.FromSlash(apiDir))
	if _, err := os.Stat(top); os.IsNotExist(err) {
		return found, nil
	}
	err := filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(t.root, name)
		found[filepath.ToSlash(rel)] = strings.Split(strings.TrimSpace(string(text)), "\n")
		return err
	})
	return found, err
}

// apiOf renders the exported names of each core package, in order, by its folder.
func apiOf(t *tree) map[string][]string {
	found := map[string][]string{}
	for _, s := range t.sources {
		if s.core() && !s.explored() {
			found[s.dir] = append(found[s.dir], renderAPI(s)...)
		}
	}
	for dir, lines := range found {
		slices.Sort(lines)
		found[dir] = slices.Compact(lines) // a name may have a file for each build tag
	}
	return found
}

// difference lists what is only in want (-) and only in got (+), "" for none.
func difference(want, got []string) string {
	var out strings.Builder
	for _, line := range want {
		if !slices.Contains(got, line) {
			out.WriteString("  - " + line + "\n")
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			out.WriteString("  + " + line + "\n")
		}
	}
	return out.String()
}

func TestAPICanFail(t *testing.T) {
	prove(t, checkAPI, []proof{
		{name: "clean", files: map[string]string{
			"engine/a.go":           "package engine\nfunc New(size int) error { return nil }\nfunc private() {}",
			"engine/a_test.go":      "package engine\nfunc Helper() {}",
			"bench/a.go":            "package bench\nfunc Helper() {}",
			apiDir + "/engine.txt":  "func New(int) error\n",
			"internal/oracle/a.go":  "package oracle\nfunc Helper() {}",
			"cmd/go.mod":            "module example.org/m/cmd",
			"cmd/penstock/flags.go": "package main\nfunc Helper() {}",
		}},
		{
			name: "changed",
			files: map[string]string{
				"engine/enginetest/a.go":          "package enginetest\nfunc New(size int64) error { return nil }",
				apiDir + "/engine/enginetest.txt": "func New(int) error\n",
			},
			want: []string{"has changed:\n  - func New(int) error\n  + func New(int64) error\nif this is meant, run `make api`"},
		},
		{
			name:  "a package without a golden file",
			files: map[string]string{"fair/a.go": "package fair"},
			want:  []string{"there is no golden file for package fair"},
		},
		{
			name:  "a golden file without a package",
			files: map[string]string{apiDir + "/fair.txt": "func New()\n"},
			want:  []string{"fair.txt: its package is gone"},
		},
	})
}

func TestAPIUpdate(t *testing.T) {
	made, err := loadTree(makeTree(t, map[string]string{
		"engine/a.go":        "package engine\nfunc New() {}",
		"engine/sub/a.go":    "package sub\nfunc New() {}",
		apiDir + "/gone.txt": "func Old()\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := writeAPI(made); err != nil {
		t.Fatal(err)
	}
	if findings, err := checkAPI(made); err != nil || len(findings) != 0 {
		t.Errorf("after an update: %v, %v", findings, err)
	}
}
