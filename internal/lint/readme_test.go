package lint

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	goProgram  = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")
	makeCall   = regexp.MustCompile("(?m)^make((?: +[A-Za-z][A-Za-z0-9_=./-]*)+)")
	codeBlock  = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```|`([^`\n]*(?:\n[^`\n]+)?)`")
	makeTarget = regexp.MustCompile(`(?m)^([a-z][a-z-]*):[^=]`)
)

func TestReadme(t *testing.T) { holds(t, checkReadme) }

// checkReadme tries what Markdown files tell a reader to do: each whole Go program
// builds inside the root module, and each task of `make` exists.
func checkReadme(t *tree) ([]string, error) {
	names, err := textFiles(t.root)
	if err != nil {
		return nil, err
	}
	targets, err := makeTargets(t.root)
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, name := range names {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		for _, word := range tasks(string(text)) {
			if !slices.Contains(targets, word) {
				findings = append(findings, fmt.Sprintf("%s: `make %s`: the Makefile has no such target", name, word))
			}
		}
		for i, program := range goProgram.FindAllStringSubmatch(string(text), -1) {
			if out, err := build(t.root, program[1]); err != nil {
				findings = append(findings, fmt.Sprintf("%s: Go program %d does not build: %v\n%s", name, i+1, err, out))
			}
		}
	}
	return findings, nil
}

// tasks lists the targets of make that the code in a Markdown text calls.
func tasks(text string) []string {
	var found []string
	for _, block := range codeBlock.FindAllStringSubmatch(text, -1) {
		code := block[1] + strings.ReplaceAll(block[2], "\n", " ") // a span may be wrapped
		for _, call := range makeCall.FindAllStringSubmatch(code, -1) {
			for word := range strings.FieldsSeq(call[1]) {
				if !strings.Contains(word, "=") { // a setting
					found = append(found, word)
				}
			}
		}
	}
	return found
}

// makeTargets lists the targets of the Makefile, none if there is no Makefile.
func makeTargets(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var targets []string
	for _, match := range makeTarget.FindAllStringSubmatch(string(text), -1) {
		targets = append(targets, match[1])
	}
	return targets, nil
}

// build compiles a program as a file of the root module and returns what the
// compiler says.
func build(root, program string) (string, error) {
	dir, err := os.MkdirTemp("", "readme")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays behind harms nothing
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		return "", err
	}
	command := exec.Command("go", "build", "-o", filepath.Join(dir, "program"), file)
	command.Dir = root
	command.Env = append(os.Environ(), "GOWORK=off")
	out, err := command.CombinedOutput()
	return string(out), err
}

func TestReadmeCanFail(t *testing.T) {
	fence := func(program string) string { return "\n```go\n" + program + "\n```\n" }
	const door = "package engine\n\nfunc Must() {}\n"
	const makefile = "all := x\n\ntest: ## Test\n\trun\n"
	prove(t, checkReadme, []proof{
		{name: "clean", files: map[string]string{
			"Makefile":    makefile,
			"engine/a.go": door,
			"README.md": "run `make test\nFUZZTIME=3s`,\nmake sense of it; `make`\n```sh\nmake test   # x\n```\n" +
				fence("package main\n\nimport \"example.org/m/engine\"\n\nfunc main() { engine.Must() }") + fence("engine.Gone()"),
		}},
		{
			name: "broken",
			files: map[string]string{
				"Makefile":    makefile,
				"engine/a.go": door,
				"README.md": "run `make test\ntset`\n```sh\nmake test all X=1\n```\n" +
					fence("package main\n\nimport \"example.org/m/engine\"\n\nfunc main() { engine.Gone() }"),
			},
			want: []string{"`make tset`", "`make all`", "undefined: engine.Gone"},
		},
	})
}
