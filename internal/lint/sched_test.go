package lint

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"
)

// scheduled is the packages of which every interleaving is explored.
var scheduled = []string{"engine", "evict", "sharded"}

// unscheduled is what they may use of package sync all the same: a pool has nothing that a decision
// depends on, and what is done once is the end of a ticker.
var unscheduled = []string{"Once", "Pool"}

func TestSched(t *testing.T) { holds(t, checkSched) }

// checkSched makes the packages whose interleavings are explored take their atomics, locks and timers from
// package sched: the explorer does not see others, so what they guard would be explored as if it had no
// order.
func checkSched(t *tree) ([]string, error) {
	var findings []string
	for _, s := range t.sources {
		if s.test || s.module != "." || !slices.Contains(scheduled, s.dir) {
			continue
		}
		if at, imported := s.imports()["sync/atomic"]; imported {
			findings = append(findings, fmt.Sprintf("%s: imports sync/atomic: use %s, whose steps are explored", at, schedDir))
		}
		syncName, timeName := s.importName("sync"), s.importName("time")
		ast.Inspect(s.file, func(n ast.Node) bool {
			if used := selected(n, syncName); syncName != "" && used != "" && !slices.Contains(unscheduled, used) {
				findings = append(findings, fmt.Sprintf("%s: sync.%s: use what %s has, whose steps are explored", s.at(n), used, schedDir))
			}
			if timeName != "" && selected(n, timeName) == "AfterFunc" {
				findings = append(findings, fmt.Sprintf("%s: time.AfterFunc: use that of %s, which is explored", s.at(n), schedDir))
			}
			return true
		})
	}
	return findings, nil
}

func TestSchedCanFail(t *testing.T) {
	prove(t, checkSched, []proof{
		{name: "clean", files: map[string]string{
			"engine/a.go":            "package engine\nimport (\n\"sync\"\n\"time\"\n\"example.org/m/" + schedDir + "\"\n)\nvar p sync.Pool\nvar m sched.Mutex\nvar d time.Duration",
			"engine/a_test.go":       "package engine\nimport \"sync/atomic\"\nvar n atomic.Uint64",
			"engine/enginetest/a.go": "package enginetest\nimport \"sync\"\nvar m sync.Mutex",
			"store/a.go":             "package store\nimport \"sync/atomic\"\nvar n atomic.Uint64",
		}},
		{
			name: "each way around it",
			files: map[string]string{
				"engine/a.go":  "package engine\nimport \"sync/atomic\"\nvar n atomic.Uint64",
				"evict/a.go":   "package evict\nimport \"time\"\nvar t = time.AfterFunc(0, nil)",
				"sharded/a.go": "package sharded\nimport s \"sync\"\nvar m s.RWMutex",
			},
			want: []string{"engine/a.go:2: imports sync/atomic", "evict/a.go:3: time.AfterFunc", "sharded/a.go:3: sync.RWMutex"},
		},
	})
}
