package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

var marker = regexp.MustCompile(`(?s)<!-- begin: ([a-z0-9-]+) -->\n.*?<!-- end: ([a-z0-9-]+) -->`)

// fill replaces what stands between the markers of a document.
func fill(text string, blocks map[string]string) (string, error) {
	var err error
	filled := marker.ReplaceAllStringFunc(text, func(old string) string {
		names := marker.FindStringSubmatch(old)
		block, known := blocks[names[1]]
		if !known || names[1] != names[2] {
			err = fmt.Errorf("the marker %q to %q: want one of %s, the same at both ends",
				names[1], names[2], strings.Join(namesOf(blocks), ", "))
			return old
		}
		return fmt.Sprintf("<!-- begin: %s -->\n%s<!-- end: %s -->", names[1], block, names[1])
	})
	if err == nil && filled == text && !marker.MatchString(text) {
		err = fmt.Errorf("no marker: want <!-- begin: name --> and <!-- end: name -->")
	}
	return filled, err
}

func namesOf(blocks map[string]string) []string {
	var names []string
	for name := range blocks {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// tables are the blocks that are one table each.
func tables() map[string]table {
	ns := []string{"ns/op"}
	quantiles := []string{"p50-ns", "p99-ns", "p99.9-ns", "p99.99-ns", "max-ns", "pair-p50-ns"}
	same := []samples.Pair{{Key: "takes", Value: "all"}, {Key: "inserts", Value: "same"}}
	other := []samples.Pair{{Key: "takes", Value: "all"}, {Key: "inserts", Value: "other"}}
	waits := []string{"waits/M-takes", "wait-p50-ns", "wait-p99-ns", "wait-p99.9-ns", "wait-max-ns", "take-p50-ns", "take-p99.9-ns"}
	at := func(keys string) []samples.Pair { return []samples.Pair{{Key: "keys", Value: keys}} }
	on := func(machine string) []samples.Pair { return []samples.Pair{{Key: "machine", Value: machine}} }
	return map[string]table{
		"allow-1": {base: "Allow", units: ns, column: "keys", procs: 1}, "allow-2": {base: "Allow", units: ns, column: "keys", procs: 2},
		"deny-1": {base: "Deny", units: ns, column: "keys", procs: 1}, "deny-2": {base: "Deny", units: ns, column: "keys", procs: 2},
		"zipf-1": {base: "Zipf", units: ns, column: "keys", procs: 1}, "zipf-2": {base: "Zipf", units: ns, column: "keys", procs: 2},
		"zipf-deny-1":  {base: "ZipfDeny", units: ns, column: "keys", procs: 1},
		"hot-1":        {base: "Hot", units: ns, column: "goroutines", procs: 1},
		"hot-2":        {base: "Hot", units: ns, column: "goroutines", procs: 2},
		"latency-1k":   {base: "Latency", units: quantiles, procs: 1, fixed: at("1k")},
		"latency-1m":   {base: "Latency", units: quantiles, procs: 1, fixed: at("1M")},
		"memory":       {base: "Memory", units: []string{"worst-B/key", "mean-B/key"}, procs: 2},
		"gc":           {base: "GC", units: []string{"gc-ns"}, procs: 2},
		"gcload":       {base: "GCLoad", units: []string{"gc-cpu-%", "ns/decision"}, procs: 2},
		"insert":       {base: "Insert", units: []string{"cpu-ns/key", "wall-ns/key", "allocs/key"}, procs: 2},
		"tail":         {base: "Tail", units: quantiles, procs: 2, fixed: same},
		"tail-control": {base: "Tail", units: quantiles, procs: 2, fixed: other},
		"await-idle":   {base: "Await", units: waits, procs: 2, fixed: on("idle")},
		"await-busy":   {base: "Await", units: waits, procs: 2, fixed: on("busy")},
		"calls":        {base: "Call", units: ns, column: "keys", procs: 1},
		"batch":        {base: "Batch", units: ns, column: "keys", procs: 1, fixed: []samples.Pair{{Key: "answer", Value: "allow"}}},
		"length-1k":    {base: "KeyLength", units: ns, column: "bytes", procs: 1, fixed: at("1k")},
		"length-1m":    {base: "KeyLength", units: ns, column: "bytes", procs: 1, fixed: at("1M")},
		"paired":       {base: "Gate", units: []string{"x-floor"}, column: "keys", procs: 1},
		"neighbours":   {base: "Neighbours", units: ns, column: "slots", procs: 2},
	}
}

// blocks returns what stands between the markers, by name. The block of a
// chart that nothing was measured for is empty.
func (r *results) blocks(charts []file) map[string]string {
	blocks := map[string]string{
		"files": r.fileTable(), "losses": r.missedList(), "parts": r.partTable(), "summary": r.summary(),
	}
	for name, t := range tables() {
		blocks[name] = t.markdown(r)
	}
	for _, c := range chartList() {
		block := ""
		if slices.ContainsFunc(charts, func(f file) bool { return f.name == path.Join(chartFolder, c.name+".svg") }) {
			block = fmt.Sprintf("![%s](img/performance/%s.svg)\n", c.title, c.name)
		}
		blocks["chart-"+c.name] = block
	}
	return blocks
}

// fileTable lists the files and under what each was measured.
func (r *results) fileTable() string {
	var text strings.Builder
	text.WriteString("| file | measured | processor | load before | command |\n|---|---|---|---|---|\n")
	for _, f := range r.files {
		fmt.Fprintf(&text, "| [%s](../bench/results/%s) | %s at %s | %s | %s | `%s` |\n", f.name, f.name, f.header["date"],
			f.header["commit"], f.header["cpu"], f.header["load"], strings.ReplaceAll(f.header["command"], "|", `\|`))
	}
	return text.String()
}

// missedList lists the targets that are missed beyond the noise.
func (r *results) missedList() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d judgements: %d met, %d missed, %d unproven (the noise is wider than the distance), "+
		"%d without a row to compare with.\n",
		r.judged[samples.Met]+r.judged[samples.Missed]+r.judged[samples.Unproven]+r.judged[samples.Absent],
		r.judged[samples.Met], r.judged[samples.Missed], r.judged[samples.Unproven], r.judged[samples.Absent])
	if len(r.missed) == 0 {
		return text.String()
	}
	text.WriteString("\n| missed | processors | measured | wanted |\n|---|--:|---|---|\n")
	for _, j := range r.missed {
		sign := "<="
		if j.Target.Strict {
			sign = "<"
		}
		wanted := fmt.Sprintf("%s %g", sign, j.Target.Bound)
		if j.Other != nil {
			wanted += " x " + label(j.Other)
			if j.Other.Base != j.Row.Base {
				wanted += " (" + j.Other.Base + ")"
			}
			if call, has := j.Other.Get("call"); has {
				wanted += " " + call
			}
		}
		fmt.Fprintf(&text, "| %s %s | %d | %s %s | %s |\n", j.Row.Name(), j.Row.Unit, j.Row.Procs,
			samples.Number(j.Got.Median), j.Got.Interval(), wanted)
	}
	return text.String()
}

// partUnits are the units of BenchmarkParts, in the order of the steps.
var partUnits = []string{
	"key-ns", "fingerprint-ns", "find-ns", "clock-ns", "transition-ns", "cas-ns", "rest-ns", "allow-ns", "line-ns", "floor-ns",
}

// partTable is what each step of Allow adds, by number of keys.
func (r *results) partTable() string {
	var g grid
	for _, unit := range partUnits {
		for _, row := range r.find("Parts", unit, 1) {
			keys, _ := row.Get("keys")
			g.set(strings.TrimSuffix(unit, "-ns"), keys, samples.Number(samples.Summarize(row.Values).Median))
		}
	}
	return g.markdown("ns by keys")
}

// summary is what stands in the README.
func (r *results) summary() string {
	text := table{base: "Allow", units: []string{"ns/op"}, column: "keys", procs: 1}.markdown(r)
	own := samples.Pair{Key: "limiter", Value: "penstock"}
	if found := r.find("Memory", "mean-B/key", 2, own); len(found) == 1 {
		text += fmt.Sprintf("\nA key takes %s bytes on average.", r.cell(found[0]))
	}
	if found := r.find("GC", "gc-ns", 2, own, samples.Pair{Key: "keys", Value: "4M"}); len(found) == 1 {
		ms := samples.Summarize(found[0].Values).Median / 1e6
		text += fmt.Sprintf("\nA full collection with 4M live keys takes %s ms.", samples.Number(ms))
	}
	return text + "\nIn brackets is the ratio to the floor, the least that such a limiter can cost; a † marks what\nmisses its target.\n"
}
