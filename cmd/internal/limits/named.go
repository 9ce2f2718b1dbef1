package limits

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	// Example is a limit as ParseLimit reads it.
	Example = "name=per-ip key=client_ip rate=10/1s burst=20 algorithm=token_bucket"

	// DefaultKey is the key of a limit that names none.
	DefaultKey = "client_ip"

	maxName = 64 // bytes
)

// Named is a limit with its name and what its key is made of.
type Named struct {
	Spec
	Name string
	Key  string // as it was written; what it may be is not looked at here
	// BurstGiven tells whether a burst was written; if not, it is the rate's N.
	BurstGiven bool
}

// String writes the limit so that ParseLimit reads it back.
func (n Named) String() string {
	text := fmt.Sprintf("name=%s key=%s rate=%s algorithm=%s", n.Name, n.Key, Rate{n.Tokens, n.Per}, n.Algorithm)
	if n.BurstGiven {
		text += fmt.Sprintf(" burst=%d", n.Burst)
	}
	return text
}

// words is the one list of the words of a limit: to add one, add a line.
var words = []struct {
	name string
	read func(n *Named, value string) error
}{
	{"name", readName},
	{"key", readKey},
	{"rate", readRate},
	{"burst", readBurst},
	{"algorithm", readAlgorithm},
}

// ParseLimit reads a limit as words with a space between them, in any order:
// name=NAME and rate=N/DURATION, and if wanted key=FIELDS (client_ip if not
// given), burst=N (the N of the rate) and algorithm=NAME (token_bucket).
func ParseLimit(text string) (Named, error) {
	limit := Named{Key: DefaultKey, Spec: Spec{Algorithm: TokenBucket}}
	seen := map[string]bool{}
	for _, part := range strings.Fields(text) {
		if err := readWord(&limit, part, seen); err != nil {
			return Named{}, fmt.Errorf("%q: %w (a whole limit: %s)", text, err, Example)
		}
	}
	for _, needed := range []string{"name", "rate"} {
		if !seen[needed] {
			return Named{}, fmt.Errorf("%q: %s= is missing (a whole limit: %s)", text, needed, Example)
		}
	}
	if limit.BurstGiven = seen["burst"]; !limit.BurstGiven {
		limit.Burst = limit.Tokens
	}
	return limit, nil
}

func readWord(limit *Named, part string, seen map[string]bool) error {
	name, value, found := strings.Cut(part, "=")
	if !found {
		return fmt.Errorf("%q is not of the form word=value", part)
	}
	for _, w := range words {
		if w.name != name {
			continue
		}
		if seen[name] {
			return fmt.Errorf("%s= stands there twice", name)
		}
		seen[name] = true
		return w.read(limit, value)
	}
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = w.name
	}
	return fmt.Errorf("there is no word %q (words: %s)", name, strings.Join(names, ", "))
}

func readName(n *Named, value string) error {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	if value == "" || len(value) > maxName || strings.ContainsFunc(value, odd) {
		return fmt.Errorf("the name %q is not 1 to %d letters, digits, dots, dashes or underscores", value, maxName)
	}
	n.Name = value
	return nil
}

func readKey(n *Named, value string) error {
	if value == "" {
		return fmt.Errorf("the key is missing")
	}
	n.Key = value
	return nil
}

func readRate(n *Named, value string) error {
	rate, err := ParseRate(value)
	if err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	n.Tokens, n.Per = rate.Tokens, rate.Per
	return nil
}

func readBurst(n *Named, value string) error {
	burst, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return fmt.Errorf("burst: %q is not a whole number that fits in 64 bits", value)
	}
	if err := CheckBurst(burst); err != nil {
		return fmt.Errorf("burst: %w", err)
	}
	n.Burst = burst
	return nil
}

// CheckBurst says what is wrong with a burst that lets nothing pass.
func CheckBurst(burst int64) error {
	if burst < 1 {
		return fmt.Errorf("%d is less than 1, so no request could ever pass; "+
			"give the number of requests that may come at once, for example 20", burst)
	}
	return nil
}

func readAlgorithm(n *Named, value string) error {
	if find(value) == nil {
		return &UnknownError{value}
	}
	n.Algorithm = value
	return nil
}

// Twice returns the first name that an earlier limit of the list has too, ""
// if there is none.
func Twice(list []Named) string {
	for i, limit := range list {
		if slices.ContainsFunc(list[:i], func(other Named) bool { return other.Name == limit.Name }) {
			return limit.Name
		}
	}
	return ""
}
