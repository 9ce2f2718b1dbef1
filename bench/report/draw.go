package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/internal/samples"
	"github.com/penstock-go/penstock/internal/svg"
)

// The sizes of a line chart, in pixels.
const (
	chartWidth  = 900
	chartHeight = 480
	plotLeft    = 64
	plotTop     = 56
	plotWidth   = 600
	plotHeight  = 360
	legendLeft  = plotLeft + plotWidth + 16
	lineHeight  = 20
)

// The sizes of a bar chart, in pixels.
const (
	barLeft  = 180
	barWidth = 560
)

type point struct{ x, y float64 }

// series is a line of a chart.
type series struct {
	name   string
	points []point
}

// bar is a bar of a chart.
type bar struct {
	name  string
	value float64
}

// colours are those of the limiters beside penstock and the floor, for light pages
// and dark ones alike.
var colours = []string{
	"#d55e00", "#009e73", "#cc79a7", "#e69f00", "#8c6bb1", "#b15928", "#56b4e9", "#7f7f7f", "#b2b200", "#e7298a", "#1b9e9e", "#a05195",
}

// ownColour is that of penstock.
const ownColour = "#0072b2"

const chartStyle = `.line { fill: none; stroke-width: 1.6; }
.own { stroke-width: 3.2; }
.bound { stroke-dasharray: 6 4; }
`

// head writes what every chart begins with.
func head(out *bytes.Buffer, width, height int, title, description string) {
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" `+
		`role="img" aria-labelledby="title desc">
<title id="title">%s</title>
<desc id="desc">%s</desc>
<style>
%s%s@media (prefers-color-scheme: dark) {
%s}
</style>
<rect class="paper" width="%d" height="%d"/>
<text class="name" x="%d" y="32">%s</text>
`, width, height, width, height, html.EscapeString(title), html.EscapeString(description), svg.Theme, chartStyle, svg.DarkTheme,
		width, height, plotLeft, html.EscapeString(title))
}

// axis maps values to positions by their logarithms.
type axis struct {
	low, high  float64 // powers of ten
	start, len svg.Length
}

// newAxis makes an axis over whole powers of ten that hold the values.
func newAxis(values []float64, start, length int) axis {
	low, high := math.Floor(math.Log10(slices.Min(values))), math.Ceil(math.Log10(slices.Max(values)))
	return axis{low, max(high, low+1), svg.Px(start), svg.Px(length)}
}

func (a axis) at(value float64) svg.Length {
	share := (math.Log10(value) - a.low) / (a.high - a.low)
	return a.start + svg.Length(math.Round(share*float64(a.len)))
}

// ticks are the powers of ten.
func (a axis) ticks() []float64 {
	var ticks []float64
	for power := a.low; power <= a.high; power++ {
		ticks = append(ticks, math.Pow(10, power))
	}
	return ticks
}

// lineChart draws lines over two logarithmic axes.
func lineChart(title, xLabel, yLabel string, all []series) []byte {
	var xs, ys []float64
	for i := range all {
		slices.SortFunc(all[i].points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		for _, p := range all[i].points {
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
	}
	// Upwards: an axis that starts at the bottom and has a negative length.
	x, y := newAxis(xs, plotLeft, plotWidth), newAxis(ys, plotTop+plotHeight, -plotHeight)
	var out bytes.Buffer
	head(&out, chartWidth, chartHeight, title, describe(all, xLabel, yLabel))
	for _, tick := range y.ticks() {
		fmt.Fprintf(&out, `<path class="grid" d="M%d %sH%d"/><text class="soft end" x="%d" y="%s">%s</text>`+"\n",
			plotLeft, y.at(tick), plotLeft+plotWidth, plotLeft-8, y.at(tick)+svg.Px(4), tickText(tick))
	}
	for _, tick := range x.ticks() {
		fmt.Fprintf(&out, `<path class="grid" d="M%s %dV%d"/><text class="soft middle" x="%s" y="%d">%s</text>`+"\n",
			x.at(tick), plotTop, plotTop+plotHeight, x.at(tick), plotTop+plotHeight+18, tickText(tick))
	}
	fmt.Fprintf(&out, `<text class="soft" x="%d" y="%d">%s</text><text class="soft end" x="%d" y="%d">%s</text>`+"\n",
		plotLeft, plotTop-8, yLabel, plotLeft+plotWidth, plotTop+plotHeight+40, xLabel)
	for i, s := range all {
		drawLine(&out, s, stroke(i, s.name), x, y)
	}
	legend(&out, all)
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func drawLine(out *bytes.Buffer, s series, style string, x, y axis) {
	fmt.Fprintf(out, `<path %s d="`, style)
	for i, p := range s.points {
		verb := "L"
		if i == 0 {
			verb = "M"
		}
		fmt.Fprintf(out, "%s%s %s", verb, x.at(p.x), y.at(p.y))
	}
	out.WriteString("\"/>\n")
}

// stroke is the look of the i-th line.
func stroke(i int, name string) string {
	class, colour := "line", colours[i%len(colours)]
	if isOwn(name) {
		class, colour = "line own", ownColour
	}
	if strings.Contains(name, "coarse") || strings.HasPrefix(name, samples.FloorName) {
		class += " bound"
	}
	return fmt.Sprintf("class=%q stroke=%q", class, colour)
}

// legend names the lines, the highest at their right end first.
func legend(out *bytes.Buffer, all []series) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	last := func(i int) float64 { return all[i].points[len(all[i].points)-1].y }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(last(b), last(a)) })
	for place, i := range order {
		top := plotTop + 8 + place*lineHeight
		fmt.Fprintf(out, `<path %s d="M%d %dH%d"/><text x="%d" y="%d">%s %s</text>`+"\n", stroke(i, all[i].name),
			legendLeft, top-4, legendLeft+24, legendLeft+32, top, html.EscapeString(all[i].name), samples.Number(last(i)))
	}
}

// describe tells a line chart in words.
func describe(all []series, xLabel, yLabel string) string {
	parts := make([]string, 0, len(all))
	for _, s := range all {
		p := s.points[len(s.points)-1]
		parts = append(parts, fmt.Sprintf("%s: %s %s at %s %s", s.name, samples.Number(p.y), yLabel, bench.FormatCount(int(p.x)), xLabel))
	}
	return strings.Join(parts, "; ") + "."
}

func tickText(value float64) string {
	if value >= 1_000 {
		return bench.FormatCount(int(value))
	}
	return fmt.Sprintf("%g", value)
}

// barChart draws a bar for each value, the shortest first, on a logarithmic axis
// that starts at the power of ten below all.
func barChart(title, unit string, all []bar) []byte {
	slices.SortStableFunc(all, func(a, b bar) int { return cmp.Compare(a.value, b.value) })
	values := make([]float64, len(all))
	words := make([]string, len(all))
	for i, b := range all {
		values[i] = b.value
		words[i] = fmt.Sprintf("%s: %s %s", b.name, samples.Number(b.value), unit)
	}
	x := newAxis(values, barLeft, barWidth)
	bottom := plotTop + lineHeight*len(all)
	var out bytes.Buffer
	head(&out, chartWidth, bottom+40, title, strings.Join(words, "; ")+".")
	for _, tick := range x.ticks() {
		fmt.Fprintf(&out, `<path class="grid" d="M%s %dV%d"/><text class="soft middle" x="%s" y="%d">%s</text>`+"\n",
			x.at(tick), plotTop, bottom, x.at(tick), bottom+18, tickText(tick))
	}
	for i, b := range all {
		top := plotTop + i*lineHeight
		colour := "#8c959f"
		if isOwn(b.name) {
			colour = ownColour
		}
		fmt.Fprintf(&out, `<text class="end" x="%d" y="%d">%s</text>`+"\n", barLeft-8, top+14, html.EscapeString(b.name))
		fmt.Fprintf(&out, `<path fill="%s" d="M%d %dH%sv12H%dZ"/><text x="%s" y="%d">%s %s</text>`+"\n",
			colour, barLeft, top+4, x.at(b.value), barLeft, x.at(b.value)+svg.Px(6), top+14, samples.Number(b.value), unit)
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}
