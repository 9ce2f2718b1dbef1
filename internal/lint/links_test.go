package lint

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	inlineLink    = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?[^)]*\)`)
	referenceLink = regexp.MustCompile(`^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?`)
	codeSpan      = regexp.MustCompile("`[^`]*`")
	urlScheme     = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
)

func TestLinks(t *testing.T) { holds(t, checkLinks) }

// checkLinks follows the links in Markdown files that lead to files of the
// repository. Other hosts are left alone.
func checkLinks(t *tree) ([]string, error) {
	names, err := textFiles(t.root)
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
		fenced := false
		for i, line := range strings.Split(string(text), "\n") {
			if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
				fenced = !fenced
			}
			if fenced {
				continue
			}
			for _, target := range targets(line) {
				if !leads(t.root, name, target) {
					findings = append(findings, fmt.Sprintf("%s:%d: the link to %s leads nowhere", name, i+1, target))
				}
			}
		}
	}
	return findings, nil
}

// targets lists the targets of the links in a line.
func targets(line string) []string {
	line = codeSpan.ReplaceAllString(line, "")
	var found []string
	for _, match := range inlineLink.FindAllStringSubmatch(line, -1) {
		found = append(found, match[1])
	}
	if match := referenceLink.FindStringSubmatch(line); match != nil {
		found = append(found, match[1])
	}
	return found
}

// leads reports whether a target is elsewhere, in the same file, or a file or
// folder that exists.
func leads(root, from, target string) bool {
	if urlScheme.MatchString(target) || strings.HasPrefix(target, "#") {
		return true
	}
	target, _, _ = strings.Cut(target, "#")
	plain, err := url.PathUnescape(target)
	if err != nil || strings.HasPrefix(plain, "/") {
		return false
	}
	_, err = os.Stat(filepath.Join(root, filepath.FromSlash(path.Dir(from)), filepath.FromSlash(plain)))
	return err == nil
}

func TestLinksCanFail(t *testing.T) {
	prove(t, checkLinks, []proof{
		{name: "clean", files: map[string]string{
			"README.md":     "[a](docs/a.md) and [b](docs/) ![c](<docs/a.md> \"title\") [d](https://example.org/x) [e](#here) `[f](nowhere)`\n\n```\n[g](nowhere)\n```\n[h]: docs/a.md#part\n",
			"docs/a.md":     "[back](../README.md)",
			"testdata/x.md": "[x](nowhere)",
		}},
		{
			name: "broken",
			files: map[string]string{
				"README.md": "[a](docs/b.md)\n[b]: gone.md\n",
				"docs/a.md": "```\n```\nsee [x](README.md) and [y](/README.md)\n",
			},
			want: []string{"README.md:1: the link to docs/b.md", "README.md:2: the link to gone.md", "docs/a.md:3: the link to README.md", "/README.md leads nowhere"},
		},
	})
}
