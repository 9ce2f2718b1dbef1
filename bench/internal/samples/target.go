package samples

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Target is one line of a targets file:
//
//	<benchmark>[/<key>=<value>[,<value>...]]... <unit> <=|< <number> [x <key>=<value>[,<key>=<value>...]]
//
// It is about every row of the benchmark and unit that has one of the named
// values for each named key ("procs" is a key). Without x the row's median is
// compared with the number. With x it is the ratio to another row: the one whose
// name differs from the row's in the keys given ("bench" changes the benchmark),
// and limiter=* stands for every limiter except the row's own and the floor, one
// judgement each.
//
// "<= n" is met when the median is, and missed when the whole interval is above
// n. "< n" asks for more, faster beyond noise: met when the whole interval is
// below n.
type Target struct {
	Line     int // in the file
	Text     string
	base     string
	selects  []selector
	unit     string
	Strict   bool // "<"
	Bound    float64
	Relative []Pair // empty: absolute
}

// selector allows some values of one key.
type selector struct {
	key    string
	values []string
}

// matches reports whether the target is about r.
func (t *Target) matches(r *Row) bool {
	if r.Base != t.base || r.Unit != t.unit {
		return false
	}
	for _, s := range t.selects {
		if value, has := r.Get(s.key); !has || !slices.Contains(s.values, value) {
			return false
		}
	}
	return true
}

// ParseTargets reads a targets file; # starts a comment.
func ParseTargets(in io.Reader, name string) ([]Target, error) {
	var targets []Target
	scanner := bufio.NewScanner(in)
	for line := 1; scanner.Scan(); line++ {
		text, _, _ := strings.Cut(scanner.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		t, err := parseTarget(fields)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		t.Line = line
		targets = append(targets, t)
	}
	return targets, scanner.Err()
}

func parseTarget(fields []string) (Target, error) {
	t := Target{Text: strings.Join(fields, " ")}
	if len(fields) != 4 && len(fields) != 6 {
		return t, fmt.Errorf("%q has %d words: want <benchmark> <unit> <=|< <number> [x <key>=<value>,...]", t.Text, len(fields))
	}
	var err error
	if t.base, t.selects, err = parseSelector(fields[0]); err != nil {
		return t, err
	}
	t.unit = fields[1]
	switch fields[2] {
	case "<":
		t.Strict = true
	case "<=":
	default:
		return t, fmt.Errorf("%q is no comparison: want <= or <", fields[2])
	}
	if t.Bound, err = strconv.ParseFloat(fields[3], 64); err != nil {
		return t, fmt.Errorf("%q is no number", fields[3])
	}
	if len(fields) == 4 {
		return t, nil
	}
	if fields[4] != "x" {
		return t, fmt.Errorf("%q after the number: want x", fields[4])
	}
	t.Relative, err = parsePairs(fields[5])
	return t, err
}

func parseSelector(text string) (base string, selects []selector, err error) {
	base, rest, found := strings.Cut(text, "/")
	if !found {
		return base, nil, nil
	}
	for part := range strings.SplitSeq(rest, "/") {
		key, values, found := strings.Cut(part, "=")
		if !found || key == "" || values == "" {
			return "", nil, fmt.Errorf("%q in %q: want <key>=<value>[,<value>...]", part, text)
		}
		selects = append(selects, selector{key, strings.Split(values, ",")})
	}
	return base, selects, nil
}

func parsePairs(text string) ([]Pair, error) {
	var pairs []Pair
	for part := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(part, "=")
		if !found || key == "" || value == "" {
			return nil, fmt.Errorf("%q in %q: want <key>=<value>", part, text)
		}
		pairs = append(pairs, Pair{key, value})
	}
	return pairs, nil
}
