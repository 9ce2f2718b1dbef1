package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

// resultFile is one file of results.
type resultFile struct {
	name   string
	header map[string]string // go, kernel, commit, date, command, load, cpu
	rows   []*samples.Row
}

// shown is a row with the file that it is from.
type shown struct {
	*samples.Row
	from *resultFile
}

// results is all that has been measured.
type results struct {
	files  []*resultFile // the latest last
	rows   []shown       // of each name the latest, in the order of files
	byID   map[string]shown
	missed []samples.Judgement
	judged map[samples.Verdict]int
}

// readResults reads a folder of results and judges the targets.
func readResults(folder, targetsFile string) (*results, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return nil, err
	}
	r := &results{byID: map[string]shown{}, judged: map[samples.Verdict]int{}}
	for _, name := range names {
		f, err := readFile(name)
		if err != nil {
			return nil, err
		}
		r.files = append(r.files, f)
	}
	slices.SortStableFunc(r.files, func(a, b *resultFile) int { return strings.Compare(a.header["date"], b.header["date"]) })
	for _, f := range r.files {
		for _, row := range f.rows {
			r.byID[row.ID()] = shown{row, f}
		}
	}
	for _, f := range r.files {
		for _, row := range f.rows {
			if r.byID[row.ID()].from == f {
				r.rows = append(r.rows, shown{row, f})
			}
		}
	}
	err = r.judge(targetsFile)
	return r, err
}

func readFile(name string) (*resultFile, error) {
	header, err := readHeader(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	rows, err := samples.Read(&benchfmt.Files{Paths: []string{name}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &resultFile{name: filepath.Base(name), header: header, rows: rows}, nil
}

// readHeader returns what the lines before the first result say, by its name.
func readHeader(name string) (map[string]string, error) {
	text, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	header := map[string]string{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		line := strings.TrimPrefix(lines.Text(), "# ")
		if key, value, found := strings.Cut(line, ": "); found && header[key] == "" {
			header[key] = strings.TrimSpace(value)
		}
		if strings.HasPrefix(line, "Benchmark") {
			break
		}
	}
	return header, lines.Err()
}

// judge judges the targets by the latest rows, each against rows of its own file.
func (r *results) judge(targetsFile string) error {
	text, err := os.Open(targetsFile)
	if err != nil {
		return err
	}
	defer text.Close()
	targets, err := samples.ParseTargets(text, filepath.Base(targetsFile))
	if err != nil {
		return err
	}
	for i := range targets {
		for _, f := range r.files {
			for _, j := range targets[i].Judge(f.rows) {
				if j.Row == nil || r.byID[j.Row.ID()].from != f {
					continue
				}
				r.judged[j.Verdict]++
				if j.Verdict == samples.Missed {
					r.missed = append(r.missed, j)
				}
			}
		}
	}
	return nil
}

// find returns the latest rows of a benchmark and unit on so many processors whose
// names have the given values, in order.
func (r *results) find(base, unit string, procs int, fixed ...samples.Pair) []shown {
	var found []shown
	for _, row := range r.rows {
		if row.Base != base || row.Unit != unit || row.Procs != procs {
			continue
		}
		if !slices.ContainsFunc(fixed, func(p samples.Pair) bool { v, _ := row.Get(p.Key); return v != p.Value }) {
			found = append(found, row)
		}
	}
	return found
}

// label is what a row's limiter is called in tables and charts.
func label(r *samples.Row) string {
	limiter, _ := r.Get("limiter")
	if call, has := r.Get("call"); has {
		return call
	}
	switch clock, _ := r.Get("clock"); clock {
	case "", "exact":
		return limiter
	case "none":
		return limiter + ", no clock"
	case "ordered":
		return limiter + ", clock after load"
	default:
		return limiter + ", " + clock + " clock"
	}
}

// isOwn reports whether the label is one of penstock's.
func isOwn(label string) bool { return strings.HasPrefix(label, "penstock") }

// misses reports whether a row misses a target.
func (r *results) misses(row shown) bool {
	return slices.ContainsFunc(r.missed, func(j samples.Judgement) bool { return j.Row.ID() == row.ID() })
}
