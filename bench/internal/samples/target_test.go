package samples

import (
	"os"
	"strings"
	"testing"
)

func TestBadTargets(t *testing.T) {
	for line, fault := range map[string]string{
		"Allow":                     "1 words",
		"Allow ns/op >= 1":          "no comparison",
		"Allow ns/op <= fast":       "no number",
		"Allow/keys ns/op <= 1":     `"keys" in "Allow/keys"`,
		"Allow ns/op <= 1 x floor":  "want <key>=<value>",
		"Allow ns/op <= 1 y k=v":    "want x",
		"Allow ns/op <= 1 x":        "5 words",
		"Allow/keys= ns/op <= 1":    "want <key>=<value>",
		"Allow ns/op <= 1 x a=b,=c": "want <key>=<value>",
	} {
		_, err := ParseTargets(strings.NewReader("# comment\n"+line+"\n"), "file")
		if err == nil || !strings.Contains(err.Error(), fault) || !strings.HasPrefix(err.Error(), "file:2: ") {
			t.Errorf("%q: %v, want file:2 and %q", line, err, fault)
		}
	}
}

// TestProjectTargets: the file the project is judged by must parse.
func TestProjectTargets(t *testing.T) {
	file, err := os.Open("../../targets.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	targets, err := ParseTargets(file, "targets.txt")
	if err != nil || len(targets) == 0 {
		t.Errorf("%d targets, %v", len(targets), err)
	}
}
