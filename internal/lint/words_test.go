package lint

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forbiddenText is what no file may say. Patterns that would match
// themselves are put together from pieces.
var forbiddenText = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{
		regexp.MustCompile("(^|[\\s\"'`=(:])/(tm" + "p|wo" + "rk)/|/(ro" + "ot|ho" + "me/[\\w.-]+|Us" + "ers/[\\w.-]+)/(go|src|\\.cache)\\b"),
		"a path of one machine: name files from the top of the repository",
	},
	{
		regexp.MustCompile(`\b(proxy\.gol` + `ang\.org|registry\.npm` + `js\.org|deb\.deb` + `ian\.org)`),
		"a package registry: the user's own settings choose it",
	},
	{
		regexp.MustCompile(`\bsha` + `red/([\w-]+\.md|traces|model|prototype)\b`),
		"a file that is not in this repository",
	},
	{
		regexp.MustCompile(`(?i)\bthe is` + `sue (says|asks)\b|\b(this|the previous|an earlier) ses` + `sion\b|\bas an A` + `I\b`),
		"how the text came about: say what is so, and why",
	},
	{
		regexp.MustCompile(`^(<{7}|>{7})( |$)`),
		"a merge conflict",
	},
}

func TestWords(t *testing.T) { holds(t, checkWords) }

// checkWords looks through the text of every file, tracked or about to be.
func checkWords(t *tree) ([]string, error) {
	names, err := textFiles(t.root)
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if bytes.IndexByte(text, 0) >= 0 {
			continue // not text
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, forbidden := range forbiddenText {
				if match := forbidden.pattern.FindString(line); match != "" {
					findings = append(findings, fmt.Sprintf("%s:%d: %q: %s", name, i+1, strings.TrimSpace(match), forbidden.why))
				}
			}
		}
	}
	return findings, nil
}

// textFiles lists the files of a repository, with slashes, in order: those git
// tracks or would track, or all of them where there is no git.
func textFiles(root string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
		command := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		command.Dir = root
		if out, err := command.Output(); err == nil {
			names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			slices.Sort(names)
			return slices.DeleteFunc(slices.Compact(names), func(name string) bool { // deleted, not yet committed; or a link to a folder
				info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
				return err != nil || !info.Mode().IsRegular()
			}), nil
		}
	}
	var names []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin"):
			return filepath.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(root, name)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	return names, err
}

func TestWordsCanFail(t *testing.T) {
	prove(t, checkWords, []proof{
		{name: "clean", files: map[string]string{
			"README.md": "an HTTP session; homework/ and a network/path; the issue tracker; /var/log/nginx/access.log\nGET /home/ HTTP/1.1; POST /api/work/items",
			"a.bin":     "\x00 /wo" + "rk/x",
			"bin/tool":  "/wo" + "rk/x",
		}},
		{
			name: "each pattern",
			files: map[string]string{
				"a.txt":            "fine\nsee /wo" + "rk/x\nsee '/ro" + "ot/go'\n/tm" + "p/x /ho" + "me/ann/go/pkg",
				"b.md":             "from proxy.gol" + "ang.org\nas shared/des" + "ign.md says\nas the is" + "sue asks",
				"testdata/c.txt":   "done in this ses" + "sion",
				".github/d.yml":    "As an A" + "I",
				"docs/conflict.md": "<<<<" + "<<< HEAD",
			},
			want: []string{
				".github/d.yml:1", "a.txt:2", "a.txt:3", "a.txt:4", "b.md:1", "b.md:2", "b.md:3", "docs/conflict.md:1", "testdata/c.txt:1",
			},
		},
	})
}
