package lint

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"testing"
)

func TestWorkspace(t *testing.T) { holds(t, checkWorkspace) }

// checkWorkspace holds the modules of the repository together: go.work lists
// each of them, and one that requires the root module replaces it by this
// checkout, so that it builds outside the workspace as well.
func checkWorkspace(t *tree) ([]string, error) {
	var work struct{ Use []struct{ DiskPath string } }
	if err := goJSON(t.root, &work, "work", "edit", "-json", "go.work"); err != nil {
		return nil, err
	}
	used := []string{}
	for _, use := range work.Use {
		used = append(used, path.Clean(filepath.ToSlash(use.DiskPath)))
	}
	var findings []string
	for _, module := range t.modules {
		if !slices.Contains(used, module) {
			findings = append(findings, fmt.Sprintf("go.work: does not use %s: add ./%[1]s", module))
		}
		if module == "." {
			continue
		}
		finding, err := checkReplace(t, module)
		if err != nil {
			return nil, err
		}
		if finding != "" {
			findings = append(findings, finding)
		}
	}
	return findings, nil
}

// checkReplace looks at the go.mod of one nested module.
func checkReplace(t *tree, module string) (string, error) {
	var mod goMod
	if err := goJSON(path.Join(filepath.ToSlash(t.root), module), &mod, "mod", "edit", "-json"); err != nil {
		return "", err
	}
	if want := t.module + "/" + module; mod.Module.Path != want {
		return fmt.Sprintf("%s/go.mod: is module %s: name it by its folder, %s", module, mod.Module.Path, want), nil
	}
	requires := false
	for _, require := range mod.Require {
		requires = requires || require.Path == t.module
	}
	if !requires {
		return "", nil
	}
	up, err := filepath.Rel(filepath.FromSlash("/"+module), "/")
	if err != nil {
		return "", err
	}
	for _, replace := range mod.Replace {
		if replace.Old.Path == t.module && path.Clean(replace.New.Path) == filepath.ToSlash(up) {
			return "", nil
		}
	}
	return fmt.Sprintf("%s/go.mod: requires %s without the checkout: add `replace %[2]s => %[3]s`", module, t.module, filepath.ToSlash(up)), nil
}

func TestWorkspaceCanFail(t *testing.T) {
	const work = "go 1.26.0\n\nuse (\n\t.\n\t./a/b\n\t./tools\n)\n"
	const requires = "\ngo 1.26.0\nrequire example.org/m v0.0.0\n"
	prove(t, checkWorkspace, []proof{
		{name: "clean", files: map[string]string{
			"go.work":      work,
			"a/b/go.mod":   "module example.org/m/a/b\n" + requires + "replace example.org/m => ../../\n",
			"tools/go.mod": "module example.org/m/tools\n",
		}},
		{
			name:  "not in go.work",
			files: map[string]string{"go.work": work, "c/go.mod": "module example.org/m/c\n"},
			want:  []string{"does not use c: add ./c"},
		},
		{
			name:  "no replace",
			files: map[string]string{"go.work": work, "a/b/go.mod": "module example.org/m/a/b\n" + requires},
			want:  []string{"a/b/go.mod: requires example.org/m without the checkout: add `replace example.org/m => ../..`"},
		},
		{
			name:  "replaced by another folder",
			files: map[string]string{"go.work": work, "a/b/go.mod": "module example.org/m/a/b\n" + requires + "replace example.org/m => ../\n"},
			want:  []string{"without the checkout"},
		},
		{
			name:  "another name",
			files: map[string]string{"go.work": work, "tools/go.mod": "module example.org/tools\n"},
			want:  []string{"name it by its folder, example.org/m/tools"},
		},
	})
}
