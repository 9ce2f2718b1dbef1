package lint

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// coreRequires is everything that the core module requires. testify is for
// tests and perf for the benchmark gate: neither is linked into a user's program.
var coreRequires = []string{xsyncPath, testifyPath, perfPath}

// goMod is the part of `go mod edit -json` that the rules look at.
type goMod struct {
	Module  struct{ Path string }
	Require []struct {
		Path     string
		Indirect bool
	}
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

func TestRequires(t *testing.T) { holds(t, checkRequires) }

// checkRequires compares the direct requirements of the root module with
// coreRequires. Each one more is a dependency of every user.
func checkRequires(t *tree) ([]string, error) {
	var mod goMod
	if err := goJSON(t.root, &mod, "mod", "edit", "-json"); err != nil {
		return nil, err
	}
	var findings, direct []string
	for _, require := range mod.Require {
		if require.Indirect {
			continue
		}
		direct = append(direct, require.Path)
		if !slices.Contains(coreRequires, require.Path) {
			findings = append(findings, fmt.Sprintf("go.mod: requires %s: give what needs it a module of its own", require.Path))
		}
	}
	for _, want := range coreRequires {
		if !slices.Contains(direct, want) {
			findings = append(findings, fmt.Sprintf("go.mod: does not require %s, which the core uses", want))
		}
	}
	for _, replace := range mod.Replace {
		findings = append(findings, fmt.Sprintf("go.mod: replaces %s, which has no effect for users of the module", replace.Old.Path))
	}
	return findings, nil
}

// goJSON runs the go command in a folder, outside any workspace, and decodes
// what it prints.
func goJSON(dir string, into any, args ...string) error {
	command := exec.Command("go", args...)
	command.Dir = filepath.FromSlash(dir)
	command.Env = append(os.Environ(), "GOWORK=off")
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("go %v in %s: %w", args, dir, err)
	}
	return json.Unmarshal(out, into)
}

func TestRequiresCanFail(t *testing.T) {
	const head = "module example.org/m\n\ngo 1.26.0\n\n"
	const three = "require (\n" + xsyncPath + " v3.5.1\n" + testifyPath + " v1.12.1\n" + perfPath + " v0.0.0-20260908200009-22c9c6c9d4da\n)\n"
	prove(t, checkRequires, []proof{
		{name: "clean", files: map[string]string{"go.mod": head + three + "require example.org/x v1.0.0 // indirect\n"}},
		{
			name:  "one more",
			files: map[string]string{"go.mod": head + three + "require example.org/x v1.0.0\n"},
			want:  []string{"requires example.org/x"},
		},
		{
			name:  "one less",
			files: map[string]string{"go.mod": head + "require " + xsyncPath + " v3.5.1\nrequire " + perfPath + " v0.1.0\n"},
			want:  []string{"does not require " + testifyPath},
		},
		{
			name:  "only on the way to another",
			files: map[string]string{"go.mod": head + "require " + xsyncPath + " v3.5.1\nrequire " + perfPath + " v0.1.0\nrequire " + testifyPath + " v1.12.1 // indirect\n"},
			want:  []string{"does not require " + testifyPath},
		},
		{
			name:  "replaced",
			files: map[string]string{"go.mod": head + three + "replace " + xsyncPath + " => ../fork\n"},
			want:  []string{"replaces " + xsyncPath},
		},
	})
}
