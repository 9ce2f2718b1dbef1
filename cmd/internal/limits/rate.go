// Package limits turns what a user writes (a rate, a burst, the name of an
// algorithm) into a limit of the engine.
package limits

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// Rate is a rate as the user wrote it: Tokens per Per, both at least 1.
type Rate struct {
	Tokens int64
	Per    time.Duration
}

// String writes the rate so that ParseRate reads it back.
func (r Rate) String() string { return fmt.Sprintf("%d/%s", r.Tokens, FormatDuration(r.Per)) }

// Engine returns the rate as the engine takes it.
func (r Rate) Engine() engine.Rate { return engine.Rate{Tokens: r.Tokens, Per: r.Per} }

// ParseRate reads N/DURATION: whole tokens per duration, as in 10/1s, 100/1m
// or 1/1w. A single unit may stand for one of it: 10/s.
func ParseRate(text string) (Rate, error) {
	count, period, found := strings.Cut(text, "/")
	if !found {
		return Rate{}, fmt.Errorf("%q has no period; write N/DURATION, for example 10/1s", text)
	}
	tokens, err := parseCount(count)
	if err != nil {
		return Rate{}, fmt.Errorf("%q: the number of requests %w, for example 10/1s", text, err)
	}
	if period != "" && (period[0] < '0' || period[0] > '9') && period[0] != '-' && period[0] != '.' {
		period = "1" + period
	}
	per, err := ParseDuration(period)
	if err == nil && per == 0 {
		err = fmt.Errorf("the period must be longer than 0")
	}
	if err != nil {
		return Rate{}, fmt.Errorf("%q: %w, for example 10/1s, 100/1m or 1/1w", text, err)
	}
	return Rate{tokens, per}, nil
}

func parseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil && allDigits(text):
		return 0, fmt.Errorf("%q is larger than %d", text, int64(math.MaxInt64))
	case err != nil || text[0] == '+':
		return 0, fmt.Errorf("%q is not a whole number", text)
	case n < 1:
		return 0, fmt.Errorf("%q must be 1 or more", text)
	}
	return n, nil
}

func allDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// units are the units of a duration, longest first.
var units = []struct {
	name string
	size time.Duration
}{
	{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute},
	{"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", time.Nanosecond},
}

// ParseDuration reads whole numbers with units, largest or smallest first, as
// in 90s, 1h30m or 1w. The units are ns, us, ms, s, m, h, d (24 hours) and w.
// The result is never negative. "0" needs no unit.
func ParseDuration(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	if text == "" {
		return 0, fmt.Errorf("the duration is missing; write a whole number and a unit")
	}
	var sum time.Duration
	for rest := text; rest != ""; {
		part, tail, err := parsePart(rest)
		if err != nil {
			return 0, fmt.Errorf("the duration %q %w", text, err)
		}
		if sum += part; sum < 0 {
			return 0, errTooLong(text)
		}
		rest = tail
	}
	return sum, nil
}

func errTooLong(text string) error {
	return fmt.Errorf("the duration %q is longer than 292 years", text)
}

// parsePart reads one number and its unit.
func parsePart(text string) (time.Duration, string, error) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	number, rest := text[:digits], text[digits:]
	letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzµ"))
	unit, rest := rest[:letters], rest[letters:]
	if digits == 0 || unit == "" {
		return 0, "", fmt.Errorf("is not a whole number and a unit (ns, us, ms, s, m, h, d, w)")
	}
	size, ok := unitSize(unit)
	if !ok {
		return 0, "", fmt.Errorf("has the unknown unit %q (known: ns, us, ms, s, m, h, d, w)", unit)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n > math.MaxInt64/int64(size) {
		return 0, "", fmt.Errorf("is longer than 292 years")
	}
	return time.Duration(n) * size, rest, nil
}

func unitSize(name string) (time.Duration, bool) {
	if name == "µs" {
		return time.Microsecond, true
	}
	for _, u := range units {
		if u.name == name {
			return u.size, true
		}
	}
	return 0, false
}

// FormatDuration writes d, which must not be negative, in the units of
// ParseDuration, without those that are zero: 1w, 1h30m, 500ms.
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	for _, u := range units {
		if n := d / u.size; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d %= u.size
		}
	}
	return b.String()
}
