package main

import (
	"path"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/internal/samples"
)

// chart is what a chart shows, and from what it is drawn.
type chart struct {
	name, title string
	draw        func(r *results, title string) []byte // nil if there is nothing to draw
}

// chartList is every chart.
func chartList() []chart {
	return []chart{
		{"allow", "Time of a call of Allow by number of keys, one processor", lines("Allow", "ns/op", "ns a call", 1)},
		{"allow-2", "Time of a call of Allow by number of keys, two processors", lines("Allow", "ns/op", "ns a call", 2)},
		{"memory", "Bytes a key by number of keys", lines("Memory", "B/key", "bytes a key", 2)},
		{"gc", "Time of a full collection with 4M live keys", bars("GC", "gc-ns", "ms", 1e-6)},
		{"tail", "99.9th percentile of a take while 4M keys are inserted", bars("Tail", "p99.9-ns", "us", 1e-3,
			samples.Pair{Key: "takes", Value: "all"}, samples.Pair{Key: "inserts", Value: "same"})},
		{"scaling", "Decisions of two processors by those of one, 1M keys", speedUp("1M")},
	}
}

// charts draws every chart that there are results for.
func (r *results) charts() []file {
	var files []file
	for _, c := range chartList() {
		if drawn := c.draw(r, c.title); drawn != nil {
			files = append(files, file{path.Join(chartFolder, c.name+".svg"), drawn})
		}
	}
	return files
}

// lines draws medians by the number of keys, both on logarithmic axes, a line for
// each limiter.
func lines(base, unit, yLabel string, procs int) func(*results, string) []byte {
	return func(r *results, title string) []byte {
		var all []series
		for _, row := range r.find(base, unit, procs) {
			keys, _ := row.Get("keys")
			count, err := bench.ParseCount(keys)
			if err != nil {
				continue // keys=all
			}
			all = addPoint(all, label(row.Row), point{float64(count), samples.Summarize(row.Values).Median})
		}
		if len(all) == 0 {
			return nil
		}
		return lineChart(title, "keys", yLabel, all)
	}
}

// bars draws a median for each limiter, times scale, in the unit shown, on a logarithmic
// axis.
func bars(base, unit, unitShown string, scale float64, fixed ...samples.Pair) func(*results, string) []byte {
	return func(r *results, title string) []byte {
		var all []bar
		for _, row := range r.find(base, unit, 2, fixed...) {
			all = append(all, bar{label(row.Row), scale * samples.Summarize(row.Values).Median})
		}
		if len(all) == 0 {
			return nil
		}
		return barChart(title, unitShown, all)
	}
}

// speedUp draws, for each limiter, decisions a second on two processors by those on one.
func speedUp(keys string) func(*results, string) []byte {
	return func(r *results, title string) []byte {
		var all []bar
		for _, one := range r.find("Allow", "ns/op", 1, samples.Pair{Key: "keys", Value: keys}) {
			id := one.With([]samples.Pair{{Key: "procs", Value: "2"}})
			for _, two := range one.from.rows {
				if two.ID() == id {
					all = append(all, bar{label(one.Row), samples.RatioOf(one.Values, two.Values).Median})
				}
			}
		}
		if len(all) == 0 {
			return nil
		}
		return barChart(title, "times", all)
	}
}

func addPoint(all []series, name string, p point) []series {
	for i := range all {
		if all[i].name == name {
			all[i].points = append(all[i].points, p)
			return all
		}
	}
	return append(all, series{name, []point{p}})
}
