package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// pair is one key=value part of a benchmark's name.
type pair struct{ key, value string }

// row is all samples of one unit of one benchmark on one number of processors.
type row struct {
	base   string // the benchmark's name without "Benchmark" and parts
	pairs  []pair // in the name's order
	procs  int
	unit   string    // as the benchmark reported it
	values []float64 // in the order of the runs
}

// get returns the value of key; "procs" and "bench" are keys too.
func (r *row) get(key string) (string, bool) {
	switch key {
	case "procs":
		return strconv.Itoa(r.procs), true
	case "bench":
		return r.base, true
	}
	for _, p := range r.pairs {
		if p.key == key {
			return p.value, true
		}
	}
	return "", false
}

// name returns base/key=value/…, the name without the processors.
func (r *row) name() string { return joinName(r.base, r.pairs) }

func joinName(base string, pairs []pair) string {
	var text strings.Builder
	text.WriteString(base)
	for _, p := range pairs {
		text.WriteString("/" + p.key + "=" + p.value)
	}
	return text.String()
}

// id tells rows apart.
func (r *row) id() string { return fmt.Sprintf("%s-%d %s", r.name(), r.procs, r.unit) }

// with returns the identity of the row that differs from r in the given keys.
// A key that r's name does not have makes a name that no row has.
func (r *row) with(changes []pair) string {
	other := row{base: r.base, pairs: slices.Clone(r.pairs), procs: r.procs, unit: r.unit}
	for _, change := range changes {
		at := slices.IndexFunc(other.pairs, func(p pair) bool { return p.key == change.key })
		switch {
		case change.key == "bench":
			other.base = change.value
		case change.key == "procs":
			other.procs, _ = strconv.Atoi(change.value)
		case at >= 0:
			other.pairs[at].value = change.value
		default:
			other.pairs = append(other.pairs, change)
		}
	}
	return other.id()
}

// readRows groups the results of files into rows, in the order of their first
// appearance.
func readRows(files *benchfmt.Files) ([]*row, error) {
	var rows []*row
	byID := map[string]*row{}
	for files.Scan() {
		result, ok := files.Result().(*benchfmt.Result)
		if !ok {
			continue // unit metadata, or a line that only looks like a result
		}
		for _, value := range result.Values {
			next := newRow(result.Name, value)
			known := byID[next.id()]
			if known == nil {
				known = next
				byID[next.id()] = next
				rows = append(rows, next)
			}
			known.values = append(known.values, original(value))
		}
	}
	if err := files.Err(); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("no benchmark results in the input: want the output of go test -bench")
	}
	return rows, nil
}

// newRow returns the row, still empty, that a value of the named benchmark is
// for.
func newRow(name benchfmt.Name, value benchfmt.Value) *row {
	base, parts := name.Parts()
	r := &row{base: string(base), procs: 1, unit: value.Unit}
	if value.OrigUnit != "" {
		r.unit = value.OrigUnit
	}
	for _, part := range parts {
		text := string(part)
		if procs, found := strings.CutPrefix(text, "-"); found {
			r.procs, _ = strconv.Atoi(procs)
			continue
		}
		key, val, found := strings.Cut(strings.TrimPrefix(text, "/"), "=")
		if !found {
			key, val = "", key
		}
		r.pairs = append(r.pairs, pair{key, val})
	}
	return r
}

// original returns the value in the unit it was reported in.
func original(value benchfmt.Value) float64 {
	if value.OrigUnit != "" {
		return value.OrigValue
	}
	return value.Value
}
