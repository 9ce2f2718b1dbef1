package samples

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Pair is one key=value part of a benchmark's name.
type Pair struct{ Key, Value string }

// Row is all samples of one unit of one benchmark on one number of processors.
type Row struct {
	Base   string // the benchmark's name without "Benchmark" and parts
	Pairs  []Pair // in the name's order
	Procs  int
	Unit   string    // as the benchmark reported it
	Values []float64 // in the order of the runs
}

// Get returns the value of key; "procs" and "bench" are keys too.
func (r *Row) Get(key string) (string, bool) {
	switch key {
	case "procs":
		return strconv.Itoa(r.Procs), true
	case "bench":
		return r.Base, true
	}
	for _, p := range r.Pairs {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

// Name returns base/key=value/…, the name without the processors.
func (r *Row) Name() string { return joinName(r.Base, r.Pairs) }

func joinName(base string, pairs []Pair) string {
	var text strings.Builder
	text.WriteString(base)
	for _, p := range pairs {
		text.WriteString("/" + p.Key + "=" + p.Value)
	}
	return text.String()
}

// ID tells rows apart.
func (r *Row) ID() string { return fmt.Sprintf("%s-%d %s", r.Name(), r.Procs, r.Unit) }

// With returns the identity of the row that differs from r in the given keys.
// A key that r's name does not have makes a name that no row has.
func (r *Row) With(changes []Pair) string {
	other := Row{Base: r.Base, Pairs: slices.Clone(r.Pairs), Procs: r.Procs, Unit: r.Unit}
	for _, change := range changes {
		at := slices.IndexFunc(other.Pairs, func(p Pair) bool { return p.Key == change.Key })
		switch {
		case change.Key == "bench":
			other.Base = change.Value
		case change.Key == "procs":
			other.Procs, _ = strconv.Atoi(change.Value)
		case at >= 0:
			other.Pairs[at].Value = change.Value
		default:
			other.Pairs = append(other.Pairs, change)
		}
	}
	return other.ID()
}

// Read groups the results of files into rows, in the order of their first
// appearance.
func Read(files *benchfmt.Files) ([]*Row, error) {
	var rows []*Row
	byID := map[string]*Row{}
	for files.Scan() {
		result, ok := files.Result().(*benchfmt.Result)
		if !ok {
			continue // unit metadata, or a line that only looks like a result
		}
		for _, value := range result.Values {
			next := newRow(result.Name, value)
			known := byID[next.ID()]
			if known == nil {
				known = next
				byID[next.ID()] = next
				rows = append(rows, next)
			}
			known.Values = append(known.Values, original(value))
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
func newRow(name benchfmt.Name, value benchfmt.Value) *Row {
	base, parts := name.Parts()
	r := &Row{Base: string(base), Procs: 1, Unit: value.Unit}
	if value.OrigUnit != "" {
		r.Unit = value.OrigUnit
	}
	for _, part := range parts {
		text := string(part)
		if procs, found := strings.CutPrefix(text, "-"); found {
			r.Procs, _ = strconv.Atoi(procs)
			continue
		}
		key, val, found := strings.Cut(strings.TrimPrefix(text, "/"), "=")
		if !found {
			key, val = "", key
		}
		r.Pairs = append(r.Pairs, Pair{key, val})
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

// FloorName is the limiter of the floor's rows.
const FloorName = "floor"
