package replay

import (
	"encoding/json"
	"io"
	"time"
)

// jsonReport fixes the names and the order of the fields; all are always
// there. What is not of a limit is of all together, but Algorithm, Limit, Rate,
// Burst and Key, which are the first limit's, and Keys, KeysDenied and Top, which
// go by its key.
type jsonReport struct {
	Algorithm  string      `json:"algorithm"`
	Limit      string      `json:"limit"`
	Rate       string      `json:"rate"`
	Burst      *int64      `json:"burst"` // null if the algorithm has none
	Key        string      `json:"key"`
	IPv6Prefix int         `json:"ipv6_prefix"`
	Lines      int         `json:"lines"`
	Requests   int         `json:"requests"`
	Skipped    int         `json:"skipped"`
	Reordered  int         `json:"reordered"`
	Late       int         `json:"late"`
	Allowed    int         `json:"allowed"`
	Denied     int         `json:"denied"`
	Keys       int         `json:"keys"`
	KeysDenied int         `json:"keys_denied"`
	First      *time.Time  `json:"first"` // null without a request
	Last       *time.Time  `json:"last"`
	Top        []KeyTally  `json:"top"`
	Limits     []jsonLimit `json:"limits"`

	SkippedReasons []Skipped `json:"skipped_reasons"` // the first few
	Incomplete     bool      `json:"incomplete"`      // a log could not be read to its end
}

// jsonLimit is the part of one limit.
type jsonLimit struct {
	Name       string `json:"name"`
	Limit      string `json:"limit"`
	Rate       string `json:"rate"`
	Burst      *int64 `json:"burst"`
	Algorithm  string `json:"algorithm"`
	Key        string `json:"key"`
	Denied     int    `json:"denied"`
	Keys       int    `json:"keys"`
	KeysDenied int    `json:"keys_denied"`
	*jsonDelays
	Top []KeyTally `json:"top"`
}

// jsonDelays is there for a queue alone.
type jsonDelays struct {
	Delayed        int   `json:"delayed"`
	MaxDelayNanos  int64 `json:"max_delay_ns"`
	MeanDelayNanos int64 `json:"mean_delay_ns"`
}

// WriteJSON writes the report as one JSON object, with the top keys that were
// denied most often.
func (r *Report) WriteJSON(w io.Writer, top int) error {
	first := &r.Limits[0]
	out := jsonReport{
		Algorithm: string(first.Engine.Algorithm()), Limit: first.Words, Rate: first.Rate, Burst: first.Burst,
		Key: first.Key.String(), IPv6Prefix: first.Key.ipv6Bits,
		Lines: r.Lines, Requests: r.Requests, Skipped: r.SkippedLines(),
		Reordered: r.Reordered, Late: r.Late,
		Allowed: r.Allowed, Denied: r.Denied,
		Keys: r.Keys(), KeysDenied: r.KeysDenied(),
		Top:            r.Top(top),
		SkippedReasons: append([]Skipped{}, r.Skipped...),
		Incomplete:     len(r.Problems) > 0,
	}
	if from, to, ok := r.Span(); ok {
		out.First, out.Last = &from, &to
	}
	for i := range r.Limits {
		out.Limits = append(out.Limits, r.Limits[i].json(top))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func (l *LimitReport) json(top int) jsonLimit {
	out := jsonLimit{
		Name: l.Name, Limit: l.Words, Rate: l.Rate, Burst: l.Burst, Algorithm: string(l.Engine.Algorithm()), Key: l.Key.String(),
		Denied: l.Denied, Keys: l.Keys(), KeysDenied: l.KeysDenied(), Top: l.Top(top),
	}
	if l.queues() {
		out.jsonDelays = &jsonDelays{l.Delayed, int64(l.Max), int64(l.Mean())}
	}
	return out
}
