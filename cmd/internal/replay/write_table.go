package replay

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// OnlyLimit is the name of the limit of a replay against a single one that the
// user gave no name; tables leave it out.
const OnlyLimit = "default"

// WriteTable writes the report for people, with the top keys that were denied
// most often.
func (r *Report) WriteTable(w io.Writer, top int) error {
	var b strings.Builder
	if len(r.Limits) == 1 {
		fmt.Fprintf(&b, "%s\n\n", r.Limits[0].heading())
	} else {
		fmt.Fprintf(&b, "%d limits, all or nothing\n\n", len(r.Limits))
	}
	r.writeCounts(&b)
	if len(r.Limits) > 1 {
		r.writeLimits(&b)
	}
	for i := range r.Limits {
		title := "top denied keys"
		if len(r.Limits) > 1 {
			title += " of " + r.Limits[i].Name
		}
		writeTop(&b, title, r.Limits[i].Top(top), r.Limits[i].KeysDenied())
	}
	r.writeSkipped(&b)
	these := "this limit"
	if len(r.Limits) > 1 {
		these = "these limits"
	}
	fmt.Fprintf(&b, "\nAn open-loop upper bound: the log shows what clients sent without %s; denied ones might have slowed down.\n", these)
	_, err := io.WriteString(w, b.String())
	return err
}

// heading names the limit and says what it is.
func (l *LimitReport) heading() string {
	text := fmt.Sprintf("%s, %s, by %s", l.Engine.Algorithm(), l.Words, l.Key.Words())
	if l.Name != OnlyLimit {
		text = l.Name + ": " + text
	}
	return text
}

// writeRow writes a line of the counts.
func writeRow(b *strings.Builder, name string, n int, note string) {
	fmt.Fprintf(b, "%-12s %12d%s\n", name, n, note)
}

func (r *Report) writeCounts(b *strings.Builder) {
	writeRow(b, "requests", r.Requests, "")
	writeRow(b, "allowed", r.Allowed, percent(r.Allowed, r.Requests))
	writeRow(b, "denied", r.Denied, percent(r.Denied, r.Requests))
	if len(r.Limits) == 1 { // else each limit has keys of its own
		r.Limits[0].writeDelays(b, r.Allowed)
		writeRow(b, "keys", r.Keys(), "")
		writeRow(b, "keys denied", r.KeysDenied(), percent(r.KeysDenied(), r.Keys()))
	}
	if first, last, ok := r.Span(); ok {
		fmt.Fprintf(b, "%-12s %s\n", "first", first.Format(time.RFC3339))
		fmt.Fprintf(b, "%-12s %s\n", "last", last.Format(time.RFC3339))
	}
	writeRow(b, "lines", r.Lines, "")
	writeRow(b, "skipped", r.SkippedLines(), percent(r.SkippedLines(), r.Lines))
	writeRow(b, "reordered", r.Reordered, "")
	writeRow(b, "late", r.Late, lateNote(r.Late, r.LateCrowded))
}

// writeDelays says how long a queue, and only that, made requests wait.
func (l *LimitReport) writeDelays(b *strings.Builder, allowed int) {
	if !l.queues() {
		return
	}
	writeRow(b, "delayed", l.Delayed, percent(l.Delayed, allowed))
	fmt.Fprintf(b, "%-12s %12s\n", "  longest", l.Max)
	fmt.Fprintf(b, "%-12s %12s\n", "  mean", l.Mean())
}

// lateNote says what puts the late lines in place.
func lateNote(late, crowded int) string {
	const reached = "   counted at the time reached; "
	switch {
	case late == 0:
		return ""
	case crowded == late:
		return reached + "a larger --reorder-lines puts them in place"
	case crowded == 0:
		return reached + "a longer --reorder-window puts them in place"
	}
	return reached + fmt.Sprintf("a longer --reorder-window puts %d of them in place, a larger --reorder-lines %d", late-crowded, crowded)
}

// writeLimits writes a line a limit, and one more for the waits of a queue.
func (r *Report) writeLimits(b *strings.Builder) {
	width := len("limit")
	for i := range r.Limits {
		width = max(width, len(r.Limits[i].Name))
	}
	fmt.Fprintf(b, "\n%-*s %12s %9s   %12s %12s   %s\n", width, "limit", "denied", "share", "keys", "keys denied", "what")
	for i := range r.Limits {
		l := &r.Limits[i]
		fmt.Fprintf(b, "%-*s %12d %9s   %12d %12d   %s, %s, by %s\n", width, l.Name, l.Denied,
			strings.TrimSpace(percent(l.Denied, r.Requests)), l.Keys(), l.KeysDenied(),
			l.Engine.Algorithm(), l.Words, l.Key.Words())
		if l.queues() {
			fmt.Fprintf(b, "%-*s   %d delayed, longest %v, mean %v\n", width, "", l.Delayed, l.Max, l.Mean())
		}
	}
}

func writeTop(b *strings.Builder, title string, top []KeyTally, denied int) {
	if len(top) == 0 {
		return
	}
	width := len(title)
	for _, t := range top {
		width = max(width, utf8.RuneCountInString(short(t.Key)))
	}
	fmt.Fprintf(b, "\n%-*s %12s %12s\n", width, title, "requests", "denied")
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
