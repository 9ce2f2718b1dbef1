package main

import (
	"fmt"
	"math"
	"strings"
)

// curve is one line of a panel, and panel a diagram over the time of the run.
type curve struct {
	name, colour string
	value        func(sample) float64
}

type panel struct {
	title  string
	log    bool // its axis: decades
	curves []curve
}

// panels are what the plot shows, in units that their titles name.
var panels = []panel{
	{"thousand calls a second", false, []curve{
		{"", "#1f77b4", func(x sample) float64 { return x.PerSecond / 1e3 }},
	}},
	{"latency, microseconds", true, []curve{
		{"p50", "#2ca02c", func(x sample) float64 { return float64(x.P50) / 1e3 }},
		{"p99", "#ff7f0e", func(x sample) float64 { return float64(x.P99) / 1e3 }},
		{"p99.9", "#d62728", func(x sample) float64 { return float64(x.P999) / 1e3 }},
	}},
	{"memory, MiB", false, []curve{
		{"heap", "#9467bd", func(x sample) float64 { return float64(x.Heap) / (1 << 20) }},
		{"resident", "#8c564b", func(x sample) float64 { return float64(x.RSS) / (1 << 20) }},
	}},
}

// Sizes in pixels.
const (
	plotWidth, panelHeight  = 800, 180
	marginLeft, marginRight = 70, 80
	marginTop, marginBelow  = 30, 20
)

// plot draws the course of the run.
func (r *report) plot() string {
	var b strings.Builder
	height := panelHeight*len(panels) + marginBelow
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		plotWidth, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, height)
	for i, p := range panels {
		p.draw(&b, r.Samples, float64(i*panelHeight))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%.0f s</text>`+"\n</svg>\n", plotWidth-marginRight, height-5, r.Seconds)
	return b.String()
}

// draw draws a panel with its upper edge at y.
func (p panel) draw(b *strings.Builder, samples []sample, y float64) {
	low, high := p.span(samples)
	bottom, top := y+panelHeight, y+marginTop
	place := func(v float64) float64 {
		if p.log {
			v = math.Log10(max(v, low))
			return bottom - (v-math.Log10(low))/(math.Log10(high)-math.Log10(low))*(bottom-top)
		}
		return bottom - (v-low)/(high-low)*(bottom-top)
	}
	fmt.Fprintf(b, `<text x="%d" y="%.0f">%s</text>`+"\n", marginLeft, top-10, p.title)
	for _, v := range []float64{low, high} {
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ccc"/><text x="%d" y="%.1f" text-anchor="end">%.4g</text>`+"\n",
			marginLeft, plotWidth-marginRight, place(v), place(v), marginLeft-5, place(v)+4, v)
	}
	for i, c := range p.curves {
		fmt.Fprintf(b, `<text x="%d" y="%.0f" fill="%s">%s</text>`+"\n", plotWidth-marginRight+5, top+15*float64(i+1), c.colour, c.name)
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" points="`, c.colour)
		for _, x := range samples {
			across := marginLeft + x.At/samples[len(samples)-1].At*(plotWidth-marginLeft-marginRight)
			fmt.Fprintf(b, "%.1f,%.1f ", across, place(c.value(x)))
		}
		fmt.Fprint(b, `"/>`+"\n")
	}
}

// span returns the ends of a panel's axis: from 0, or decades.
func (p panel) span(samples []sample) (low, high float64) {
	low = math.Inf(1)
	for _, c := range p.curves {
		for _, x := range samples {
			low, high = min(low, c.value(x)), max(high, c.value(x))
		}
	}
	if !p.log {
		return 0, max(high*1.05, 1)
	}
	low = math.Pow(10, math.Floor(math.Log10(max(low, 1e-3))))
	return low, max(low*10, math.Pow(10, math.Ceil(math.Log10(max(high, 1e-3)))))
}
