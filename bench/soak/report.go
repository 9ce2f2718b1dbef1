package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// report is what came of a run.
type report struct {
	Machine    string       `json:"machine"`
	Note       string       `json:"note,omitempty"`
	Began      time.Time    `json:"began"`
	Seconds    float64      `json:"seconds"`
	Workers    int          `json:"workers"`
	Waiters    int          `json:"waiters"`
	KeysEach   int          `json:"keys_of_each_lane"`
	Seed       uint64       `json:"seed"`
	Calls      uint64       `json:"calls"`
	PerSecond  float64      `json:"calls_per_s"`
	Latency    latency      `json:"latency"`
	Lanes      []laneReport `json:"lanes"`
	Did        disturbances `json:"disturbances"`
	Violations []string     `json:"violations"`
	Samples    []sample     `json:"samples"`
}

// latency is how long calls took, in nanoseconds, the two readings of the clock included.
type latency struct {
	P50   uint64 `json:"p50_ns"`
	P99   uint64 `json:"p99_ns"`
	P999  uint64 `json:"p99_9_ns"`
	P9999 uint64 `json:"p99_99_ns"`
	Max   uint64 `json:"max_ns"`
	Count uint64 `json:"count"`
}

// laneReport is one limiter's part.
type laneReport struct {
	Name    string      `json:"name"`
	Limits  string      `json:"limits"`
	Calls   uint64      `json:"calls"`
	Allowed uint64      `json:"allowed"`
	Laws    []lawReport `json:"laws"`
}

// lawReport is how a ledger found one limit kept.
type lawReport struct {
	Permits    int64   `json:"permits_that_acted"`
	Checks     uint64  `json:"checks"`
	Sharp      uint64  `json:"sharp_checks"`
	Worst      float64 `json:"largest_part_of_the_bound"`
	Violations uint64  `json:"violations"`
}

func newReport(cfg config, s *sampler, did disturbances, violations []string) *report {
	seconds := s.last.Sub(s.began).Seconds()
	r := &report{
		Machine: machine(), Began: s.began.UTC().Truncate(time.Second), Seconds: seconds,
		Workers: cfg.workers, Waiters: cfg.waiters, KeysEach: cfg.keys, Seed: cfg.seed,
		Calls: s.calls, PerSecond: float64(s.calls) / seconds, Did: did, Violations: violations, Samples: s.samples,
	}
	h := &s.all
	r.Latency = latency{h.Quantile(0.5), h.Quantile(0.99), h.Quantile(0.999), h.Quantile(0.9999), h.Max(), h.Total()}
	for _, l := range s.lanes {
		part := laneReport{Name: l.name, Limits: l.limits, Calls: l.calls.Load(), Allowed: l.allowed.Load()}
		for _, g := range l.ledgers {
			part.Laws = append(part.Laws, lawReport{g.permits(), g.checks.Load(), g.sharp.Load(), g.worstRatio(), g.violations.Load()})
		}
		r.Lanes = append(r.Lanes, part)
	}
	return r
}

// save writes the report to stem.md, stem.json and stem.svg.
func (r *report) save(stem string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	plot := filepath.Base(stem) + ".svg"
	for name, content := range map[string]string{
		".json": string(text) + "\n", ".md": r.markdown(plot), ".svg": r.plot(),
	} {
		if err := os.WriteFile(stem+name, []byte(content), 0o600); err != nil {
			return fmt.Errorf("soak: writing the report: %w; name another place by -report", err)
		}
	}
	return nil
}

// markdown is the report for people; plot is the name of the file with the curves.
func (r *report) markdown(plot string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Soak of %s\n\n", r.Began.Format("2006-01-02"))
	fmt.Fprintf(&b, "%v of mixed load: %s. Workers %d, waiters %d, keys of each lane %d, seed %d.\n",
		time.Duration(r.Seconds*float64(time.Second)).Round(time.Second), r.Machine, r.Workers, r.Waiters, r.KeysEach, r.Seed)
	if r.Note != "" {
		fmt.Fprintf(&b, "%s.\n", strings.TrimSuffix(r.Note, "."))
	}
	fmt.Fprintf(&b, "\n%s\n\n![Throughput, latency and memory over the run](%s)\n\n", verdict(r.Violations), plot)
	fmt.Fprintf(&b, "%d calls, %.0f a second.\n\n", r.Calls, r.PerSecond)
	l := r.Latency
	fmt.Fprint(&b, "| latency of | p50 | p99 | p99.9 | p99.99 | max |\n|---|---|---|---|---|---|\n")
	fmt.Fprintf(&b, "| %d calls | %s | %s | %s | %s | %s |\n\n",
		l.Count, nanos(l.P50), nanos(l.P99), nanos(l.P999), nanos(l.P9999), nanos(l.Max))
	r.writeLanes(&b)
	r.writeCourse(&b)
	return b.String()
}

// verdict says whether all was lawful.
func verdict(violations []string) string {
	if len(violations) == 0 {
		return "**No violation.**"
	}
	return "**Violations:**\n\n- " + strings.Join(violations, "\n- ")
}

func (r *report) writeLanes(w io.Writer) {
	fmt.Fprint(w, "What an independent ledger of every key found: checks are made at each admission, and sharp are those that\n"+
		"one permit too many would fail. The bound is the burst and what the rate earned.\n\n"+
		"| lane | limit | calls | permits | checks | sharp | largest part of the bound | violations |\n|---|---|---|---|---|---|---|---|\n")
	for _, l := range r.Lanes {
		for i, law := range l.Laws {
			name := l.Name
			if i > 0 {
				name += ", second limit"
			}
			fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %d | %.9f | %d |\n",
				name, l.Limits, l.Calls, law.Permits, law.Checks, law.Sharp, law.Worst, law.Violations)
		}
	}
	d := r.Did
	fmt.Fprintf(w, "\nMeanwhile: %d changes of the limit, %d forced sweeps, %d forced collections, "+
		"%d steps of the clock ahead (up to %v) and %d back (up to %v), %d changes of which keys are busy.\n\n",
		d.LimitChanges, d.Sweeps, d.Collections, d.StepsAhead, d.LongestAhead, d.StepsBack, d.LongestBehind, d.Turns)
}

// courseRows is how many samples the table of the course has, at most.
const courseRows = 20

func (r *report) writeCourse(w io.Writer) {
	fmt.Fprint(w, "| at | calls/s | p50 | p99 | p99.9 | max | heap | resident | goroutines | keys |\n"+
		"|---|---|---|---|---|---|---|---|---|---|\n")
	step := max(1, (len(r.Samples)+courseRows-1)/courseRows)
	for i := step - 1; i < len(r.Samples); i += step {
		x := r.Samples[i]
		fmt.Fprintf(w, "| %.0f s | %.0f | %s | %s | %s | %s | %s | %s | %d | %d |\n", x.At, x.PerSecond,
			nanos(x.P50), nanos(x.P99), nanos(x.P999), nanos(x.Max), bytesText(x.Heap), bytesText(x.RSS), x.Goroutines, x.Keys)
	}
}
