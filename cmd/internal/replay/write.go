package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Heading is what a written report says about the question it answers.
type Heading struct {
	Algorithm string
	Limit     string // in words
	Key       string
}

// jsonReport fixes the names and the order of the fields; all are always there.
type jsonReport struct {
	Algorithm  string     `json:"algorithm"`
	Limit      string     `json:"limit"`
	Lines      int        `json:"lines"`
	Requests   int        `json:"requests"`
	Skipped    int        `json:"skipped"`
	Reordered  int        `json:"reordered"`
	Late       int        `json:"late"`
	Allowed    int        `json:"allowed"`
	Denied     int        `json:"denied"`
	Keys       int        `json:"keys"`
	KeysDenied int        `json:"keys_denied"`
	First      *time.Time `json:"first"` // null without a request
	Last       *time.Time `json:"last"`
	Top        []KeyTally `json:"top"`
}

// WriteJSON writes the report as one JSON object, with the top keys that were
// denied most often.
func (r *Report) WriteJSON(w io.Writer, h Heading, top int) error {
	out := jsonReport{
		Algorithm: h.Algorithm, Limit: h.Limit,
		Lines: r.Lines, Requests: r.Requests, Skipped: r.SkippedLines(),
		Reordered: r.Reordered, Late: r.Late,
		Allowed: r.Allowed, Denied: r.Denied,
		Keys: r.Keys(), KeysDenied: r.KeysDenied(),
		Top: r.Top(top),
	}
	if first, last, ok := r.Span(); ok {
		out.First, out.Last = &first, &last
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// WriteTable writes the report for people, with the top keys that were denied
// most often.
func (r *Report) WriteTable(w io.Writer, h Heading, top int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, by %s\n\n", h.Algorithm, h.Limit, h.Key)
	r.writeCounts(&b)
	writeTop(&b, r.Top(top), r.KeysDenied())
	r.writeSkipped(&b)
	fmt.Fprintf(&b, "\nAn open-loop upper bound: the log shows what clients sent without this limit; denied ones might have slowed down.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeCounts(b *strings.Builder) {
	row := func(name string, n int, note string) {
		fmt.Fprintf(b, "%-12s %12d%s\n", name, n, note)
	}
	row("requests", r.Requests, "")
	row("allowed", r.Allowed, percent(r.Allowed, r.Requests))
	row("denied", r.Denied, percent(r.Denied, r.Requests))
	row("keys", r.Keys(), "")
	row("keys denied", r.KeysDenied(), percent(r.KeysDenied(), r.Keys()))
	if first, last, ok := r.Span(); ok {
		fmt.Fprintf(b, "%-12s %s\n", "first", first.Format(time.RFC3339))
		fmt.Fprintf(b, "%-12s %s\n", "last", last.Format(time.RFC3339))
	}
	row("lines", r.Lines, "")
	row("skipped", r.SkippedLines(), percent(r.SkippedLines(), r.Lines))
	row("reordered", r.Reordered, "")
	row("late", r.Late, lateNote(r.Late))
}

func lateNote(late int) string {
	if late == 0 {
		return ""
	}
	return "   counted at the time reached; a longer --reorder-window puts them in place"
}

func writeTop(b *strings.Builder, top []KeyTally, denied int) {
	if len(top) == 0 {
		return
	}
	width := len("top denied keys")
	for _, t := range top {
		width = max(width, utf8.RuneCountInString(short(t.Key)))
	}
	fmt.Fprintf(b, "\n%-*s %12s %12s\n", width, "top denied keys", "requests", "denied")
	for _, t := range top {
		fmt.Fprintf(b, "%-*s %12d %12d%s\n", width, short(t.Key), t.Requests, t.Denied, percent(t.Denied, t.Requests))
	}
	if more := denied - len(top); more > 0 {
		fmt.Fprintf(b, "and %d more; --top shows more\n", more)
	}
}

func (r *Report) writeSkipped(b *strings.Builder) {
	if len(r.Skipped) == 0 {
		return
	}
	fmt.Fprintf(b, "\nskipped lines (%d of %d)\n", len(r.Skipped), r.SkippedLines())
	for _, s := range r.Skipped {
		fmt.Fprintf(b, "  %s:%d: %s\n", s.File, s.Line, s.Reason)
	}
}

// short cuts a key that is too wide for a table.
func short(key string) string {
	const widest = 60
	if utf8.RuneCountInString(key) <= widest {
		return key
	}
	return string([]rune(key)[:widest-1]) + "…"
}

func percent(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf(" %8.2f %%", 100*float64(part)/float64(whole))
}
