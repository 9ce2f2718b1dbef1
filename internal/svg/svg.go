// Package svg holds what the pictures in the documents have in common: exact
// lengths, so that a picture is the same bytes on every machine, and one set of
// colours for light and dark pages. Everything is a value; nothing is shared.
package svg

import "strconv"

// Length is a length or position in tenths of a pixel.
type Length int

// String returns the length in pixels.
func (l Length) String() string {
	sign, n := "", int(l)
	if n < 0 {
		sign, n = "-", -n
	}
	if n%10 == 0 {
		return sign + strconv.Itoa(n/10)
	}
	return sign + strconv.Itoa(n/10) + "." + strconv.Itoa(n%10)
}

// Px converts pixels.
func Px(n int) Length { return Length(10 * n) }

// Theme is the style of text (soft, middle, end), paper, grid and base lines on
// light pages; a picture adds its own rules after it.
const Theme = `text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #24292f; }
.paper { fill: #ffffff; }
.name { font-size: 20px; font-weight: 700; }
.soft { fill: #57606a; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.grid { stroke: #d0d7de; stroke-width: 1; }
.base { stroke: #57606a; stroke-width: 1; }
`

// DarkTheme is the same on dark pages, for the rules of a media query.
const DarkTheme = `text { fill: #e6edf3; }
.paper { fill: #0d1117; }
.soft { fill: #a3adb8; }
.grid { stroke: #30363d; }
.base { stroke: #a3adb8; }
`
