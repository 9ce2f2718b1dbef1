package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	xsyncPath   = "github.com/puzpuzpuz/xsync/v3"
	testifyPath = "github.com/stretchr/testify"
	perfPath    = "golang.org/x/perf"

	schedDir    = "internal/sched"
	importsFile = "internal/lint/imports_test.go"
)

// allowance is what the shipped files of a package may import beside the
// standard library.
type allowance struct {
	own      []string // packages of this module, by folder; "..." is all of them
	external []string // other modules, by path prefix
}

// allowed is the architecture of the core: each package of the root module, and
// what it may import. A name that ends in /... stands for the folders below too.
// A package that is not listed may not exist.
var allowed = map[string]allowance{
	"atomicstate": {}, // the law: pure transitions
	"sharded":     {own: []string{"atomicstate", schedDir}},
	"evict":       {own: []string{"atomicstate", schedDir}},
	"engine":      {own: []string{"atomicstate", "evict", schedDir, "sharded"}},

	"engine/enginetest": {own: []string{"engine"}},

	"fair": {own: []string{"engine"}}, // shares one limit by weight

	"store":           {own: []string{"atomicstate", "engine"}},                                   // the laws on words elsewhere
	"store/hybrid":    {own: []string{"engine", "evict", "store"}, external: []string{xsyncPath}}, // leases over a store
	"store/storetest": {own: []string{"engine", "engine/enginetest", "internal/oracle", "store"}},

	"internal/faultproxy": {},                              // a TCP proxy that misbehaves, for the tests of stores
	"internal/interleave": {external: []string{xsyncPath}}, // runs programs under every order of their steps; tests compare its map
	"internal/lint":       {},
	"internal/mutate":     {}, // breaks the core, and sees tests fail
	"internal/oracle":     {}, // independent of what it judges
	"internal/svg":        {}, // what the pictures in the documents have in common
	"internal/servertest": {}, // real servers for the tests of other modules, without their client libraries

	schedDir: {own: []string{"internal/interleave"}, external: []string{xsyncPath}}, // by what goroutines meet

	"bench/...": {own: []string{"..."}, external: []string{perfPath, xsyncPath}},
	"fuzz/...":  {own: []string{"..."}},
}

// deniedStd is what the packages of the request path do without, and why. A
// name denies the folders below it too.
var deniedStd = []struct {
	name, why string
	except    []string // imported packages, or files and folders of this module, it does not hold for
}{
	{name: "C", why: "the core is Go only, so that it builds everywhere"},
	{name: "encoding", why: "the core has no wire format; encode in store/ or cmd/", except: []string{"encoding/binary"}},
	{name: "expvar", why: "measurements go through Stats and metrics/"},
	{name: "flag", why: "the core takes options, the command reads flags"},
	{name: "log", why: "return an error, or count it in Stats"},
	{
		name: "math/big", why: "the law is machine integers; wide products are math/bits.Mul64",
		except: []string{"atomicstate/fraction.go"}, // the nearest fraction of a limit, found when it is built
	},
	{
		name: "math/rand", why: "decisions are exact and repeatable",
		except: []string{"sharded/key.go"}, // seeds of the fingerprint
	},
	{name: "net", why: "the core is in process; network code lives in store/ and middleware/", except: []string{"net/netip"}},
	{name: "os", why: "the core reads no file, argument or environment"},
	{name: "plugin", why: "the core is Go only, so that it builds everywhere"},
	{
		name: "reflect", why: "a key's type is looked at once, where a limiter is built",
		except: []string{"engine", "fair", "sharded"}, // fair and engine: is a clock nil?
	},
	{name: "syscall", why: "the core is portable"},
}

// requestPath is the packages that deniedStd holds for.
var requestPath = []string{"atomicstate", "engine", "evict", "fair", "sharded"}

func TestImports(t *testing.T) { holds(t, checkImports) }

// checkImports compares the imports of the root module with the tables above.
// Test files may import every package of this module, and testify.
func checkImports(t *tree) ([]string, error) {
	var findings []string
	unlisted := map[string]bool{}
	for _, s := range t.sources {
		if s.module != "." {
			continue
		}
		may, listed := allowanceOf(s.dir)
		if !listed {
			if !unlisted[s.dir] {
				findings = append(findings, fmt.Sprintf("%s: package %s is not in the table of allowed imports: add it in %s",
					s.path, s.dir, importsFile))
			}
			unlisted[s.dir] = true
			continue
		}
		if s.test {
			may.own = []string{"..."}
			may.external = append([]string{testifyPath}, may.external...)
		}
		imports := s.imports()
		for _, imported := range slices.Sorted(maps.Keys(imports)) {
			if reason := refuse(t, s, may, imported); reason != "" {
				findings = append(findings, fmt.Sprintf("%s: %s must not import %s: %s (%s)",
					imports[imported], s.dir, imported, reason, importsFile))
			}
		}
	}
	return findings, nil
}

// allowanceOf finds the entry of a folder: its own, or the nearest with /...
func allowanceOf(dir string) (allowance, bool) {
	if may, ok := allowed[dir]; ok {
		return may, true
	}
	for parent := dir; parent != ""; {
		if may, ok := allowed[parent+"/..."]; ok {
			return may, true
		}
		cut := strings.LastIndex(parent, "/")
		parent = parent[:max(cut, 0)]
	}
	return allowance{}, false
}

// refuse is the reason why a file may not import a package, "" if it may.
func refuse(t *tree, s *source, may allowance, imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	own, isOwn := strings.CutPrefix(imported, t.module+"/")
	switch {
	case isOwn:
		if slices.Contains(may.own, "...") || slices.Contains(may.own, own) {
			return ""
		}
		return fmt.Sprintf("of this module it may use %v", may.own)
	case strings.Contains(first, "."):
		if slices.ContainsFunc(may.external, func(p string) bool { return within(imported, p) }) {
			return ""
		}
		return fmt.Sprintf("of other modules it may use %v", may.external)
	case s.test || !slices.Contains(requestPath, s.dir):
		return ""
	}
	for _, denied := range deniedStd {
		if within(imported, denied.name) && !slices.ContainsFunc(denied.except, func(e string) bool {
			return e == imported || e == s.dir || e == s.path
		}) {
			return denied.why
		}
	}
	return ""
}

// within reports whether a package path is prefix or lies below it.
func within(imported, prefix string) bool {
	return imported == prefix || strings.HasPrefix(imported, prefix+"/")
}

func TestImportsCanFail(t *testing.T) {
	prove(t, checkImports, []proof{
		{name: "clean", files: map[string]string{
			"engine/a.go":      "package engine\nimport (\n\"time\"\n\"reflect\"\n\"net/netip\"\n\"example.org/m/sharded\"\n\"example.org/m/" + schedDir + "\"\n)",
			schedDir + "/a.go": "package sched\nimport \"" + xsyncPath + "\"",
			"engine/a_test.go": "package engine\nimport (\n\"os\"\n\"example.org/m/internal/oracle\"\n\"" + testifyPath + "/require\"\n)",
			"sharded/key.go":   "package sharded\nimport \"math/rand/v2\"",
			"bench/deep/a.go":  "package deep\nimport (\n\"os\"\n\"example.org/m/engine\"\n\"" + perfPath + "/benchfmt\"\n)",
			"cmd/go.mod":       "module example.org/m/cmd",
			"cmd/a.go":         "package cmd\nimport \"example.org/elsewhere\"",
		}},
		{
			name:  "own package the wrong way round",
			files: map[string]string{"atomicstate/a.go": "package atomicstate\n\nimport \"example.org/m/engine\""},
			want:  []string{"atomicstate/a.go:3: atomicstate must not import example.org/m/engine"},
		},
		{
			name:  "another module",
			files: map[string]string{"evict/a.go": "package evict\nimport \"" + xsyncPath + "\""},
			want:  []string{"must not import " + xsyncPath},
		},
		{
			name:  "a path that only starts like an allowed one",
			files: map[string]string{schedDir + "/a.go": "package sched\nimport \"" + xsyncPath + "evil\""},
			want:  []string{"of other modules it may use"},
		},
		{
			name:  "a test may not bring a module either",
			files: map[string]string{"evict/a_test.go": "package evict\nimport \"example.org/elsewhere\""},
			want:  []string{"must not import example.org/elsewhere"},
		},
		{
			name: "standard packages",
			files: map[string]string{
				"engine/a.go":  "package engine\nimport (\n\"log/slog\"\n\"net/http\"\n\"os\"\n)",
				"evict/a.go":   "package evict\nimport (\n\"reflect\"\n\"math/rand/v2\"\n)",
				"sharded/a.go": "package sharded\nimport \"math/rand/v2\"", // as sharded/key.go may
			},
			want: []string{"log/slog", "net/http", "must not import os", "math/rand/v2", "must not import reflect", "sharded/a.go:2"},
		},
		{
			name:  "a package nobody placed",
			files: map[string]string{"helpers/a.go": "package helpers", "helpers/b.go": "package helpers"},
			want:  []string{"package helpers is not in the table of allowed imports: add it in " + importsFile},
		},
	})
}
