package replay

import (
	"cmp"
	"slices"
	"time"
)

// firstReasons is how many skipped lines a report names.
const firstReasons = 5

// Report is what a replay found.
type Report struct {
	Lines     int // read, whether they count or not
	Requests  int // lines that count
	Reordered int // lines put in their place in time
	Late      int // lines too late for that, counted at the time reached
	Allowed   int
	Denied    int
	Skipped   []Skipped // the first few lines that do not count
	Problems  []error   // files that could not be read, or not to their end

	first, last int64 // seconds since 1970; valid if Requests > 0
	seen        bool
	names       []string // by key number
	tallies     []tally  // by key number
}

// Skipped is a line that does not count.
type Skipped struct {
	File   string
	Line   int // from 1
	Reason string
}

type tally struct{ requests, denied int }

// KeyTally is one key's part in a report.
type KeyTally struct {
	Key      string `json:"key"`
	Requests int    `json:"requests"`
	Denied   int    `json:"denied"`
}

// SkippedLines is how many lines do not count.
func (r *Report) SkippedLines() int { return r.Lines - r.Requests }

// Keys is how many different keys the requests had.
func (r *Report) Keys() int { return len(r.tallies) }

// KeysDenied is how many keys were denied at least once.
func (r *Report) KeysDenied() int {
	n := 0
	for _, t := range r.tallies {
		if t.denied > 0 {
			n++
		}
	}
	return n
}

// Span returns the earliest and the latest time of a request, as the log says
// it, in UTC; ok is false if there is no request.
func (r *Report) Span() (first, last time.Time, ok bool) {
	return time.Unix(r.first, 0).UTC(), time.Unix(r.last, 0).UTC(), r.seen
}

// Top returns the n keys that were denied most often, most first, then by key.
// Keys that were never denied are not among them. It is never nil.
func (r *Report) Top(n int) []KeyTally {
	top := []KeyTally{}
	for i, t := range r.tallies {
		if t.denied > 0 {
			top = append(top, KeyTally{r.names[i], t.requests, t.denied})
		}
	}
	slices.SortFunc(top, func(a, b KeyTally) int {
		return cmp.Or(cmp.Compare(b.Denied, a.Denied), cmp.Compare(a.Key, b.Key))
	})
	return top[:min(n, len(top))]
}

// see notes the time of a line that counts.
func (r *Report) see(unix int64) {
	if !r.seen {
		r.first, r.last, r.seen = unix, unix, true
	}
	r.first, r.last = min(r.first, unix), max(r.last, unix)
}

// count notes the decision on a request.
func (r *Report) count(key uint32, allowed bool) {
	for int(key) >= len(r.tallies) {
		r.tallies = append(r.tallies, tally{})
	}
	r.Requests++
	t := &r.tallies[key]
	t.requests++
	if allowed {
		r.Allowed++
		return
	}
	r.Denied++
	t.denied++
}

func (r *Report) skip(file string, line int, reason error) {
	if len(r.Skipped) < firstReasons {
		r.Skipped = append(r.Skipped, Skipped{file, line, reason.Error()})
	}
}

func (r *Report) fail(err error) {
	if err != nil {
		r.Problems = append(r.Problems, err)
	}
}
