package replay

import (
	"time"

	"github.com/penstock-go/penstock/engine"
)

// firstReasons is how many skipped lines a report names.
const firstReasons = 5

// Report is what a replay found.
type Report struct {
	Lines     int // read, whether they count or not
	Requests  int // lines that count
	Reordered int // lines put in their place in time
	Late      int // lines too late for that, counted at the time reached
	// LateCrowded are those of Late for which ReorderLines was too small, not ReorderWindow.
	LateCrowded int
	Allowed     int
	Denied      int       // by any limit
	Skipped     []Skipped // the first few lines that do not count
	Problems    []error   // files that could not be read, or not to their end

	// Tallies count, by the key of the first limit, what any limit denied.
	Tallies
	Limits []LimitReport

	first, last int64 // seconds since 1970; valid if Requests > 0
	seen        bool
}

// LimitReport is the part of one limit in a report. A request that several
// limits refuse counts as denied by each.
type LimitReport struct {
	Limit
	Denied int
	Tallies
	Delays // of a queue; of other limits none
}

// Skipped is a line that does not count.
type Skipped struct {
	File   string `json:"file"`
	Line   int    `json:"line"` // from 1
	Reason string `json:"reason"`
}

func newReport(limits []Limit) *Report {
	rep := &Report{}
	for _, l := range limits {
		rep.Limits = append(rep.Limits, LimitReport{Limit: l})
	}
	return rep
}

// SkippedLines is how many lines do not count.
func (r *Report) SkippedLines() int { return r.Lines - r.Requests }

// Span returns the earliest and the latest time of a request, as the log says
// it, in UTC; ok is false if there is no request.
func (r *Report) Span() (first, last time.Time, ok bool) {
	return time.Unix(r.first, 0).UTC(), time.Unix(r.last, 0).UTC(), r.seen
}

// see notes the time of a line that counts.
func (r *Report) see(unix int64) {
	if !r.seen {
		r.first, r.last, r.seen = unix, unix, true
	}
	r.first, r.last = min(r.first, unix), max(r.last, unix)
}

// count notes what a gate decided on a request with the given key of each
// ring.
func (r *Report) count(g *gate, keys []uint32, allowed bool) {
	r.Requests++
	if allowed {
		r.Allowed++
	} else {
		r.Denied++
	}
	r.Tallies.count(keys[g.rings[0]], allowed)
	for i := range r.Limits {
		r.Limits[i].count(keys[g.rings[i]], g.decisions[i], allowed)
	}
}

// count notes what the limit had to say of a request, which all together
// allowed or not.
func (l *LimitReport) count(key uint32, d engine.Decision, allowed bool) {
	l.Tallies.count(key, d.Allowed)
	if !d.Allowed {
		l.Denied++
	}
	if allowed {
		l.Delays.count(d.Delay)
	}
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
