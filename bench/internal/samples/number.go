package samples

import (
	"math"
	"strconv"
)

// Number prints four significant digits, never an exponent.
func Number(value float64) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return "?" // a ratio to zero
	}
	if value == 0 || math.Abs(value) >= 1_000 {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	digits := 3 - int(math.Floor(math.Log10(math.Abs(value))))
	return strconv.FormatFloat(value, 'f', min(digits, 6), 64)
}

// Interval prints the interval, or that there are too few samples for one.
func (s Summary) Interval() string {
	if !s.Closed() {
		return "[n<6]"
	}
	return "[" + Number(s.Lo) + ", " + Number(s.Hi) + "]"
}
