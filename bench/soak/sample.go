package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench"
)

// sample is what was seen in one interval of the run, at its end.
type sample struct {
	At         float64 `json:"at_s"`
	Calls      uint64  `json:"calls"` // of the interval
	PerSecond  float64 `json:"calls_per_s"`
	P50        uint64  `json:"p50_ns"`
	P99        uint64  `json:"p99_ns"`
	P999       uint64  `json:"p99_9_ns"`
	Max        uint64  `json:"max_ns"`
	Heap       uint64  `json:"heap_bytes"`
	RSS        uint64  `json:"rss_bytes"` // 0 where the system does not tell
	Goroutines int     `json:"goroutines"`
	Keys       int     `json:"keys"`
	Violations int     `json:"violations"`
}

// sampler looks at a run from outside.
type sampler struct {
	began   time.Time
	last    time.Time
	workers []*worker
	lanes   []*lane
	calls   uint64
	all     bench.Histogram
	samples []sample
	beyond  []string // caps that did not hold
}

// look takes a sample.
func (s *sampler) look() sample {
	now := time.Now()
	var recent bench.Histogram
	for _, w := range s.workers {
		w.collect(&recent)
	}
	s.all.Add(&recent)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	x := sample{
		At:  now.Sub(s.began).Seconds(),
		P50: recent.Quantile(0.5), P99: recent.Quantile(0.99), P999: recent.Quantile(0.999), Max: recent.Max(),
		Heap: memory.HeapAlloc, RSS: residentBytes(), Goroutines: runtime.NumGoroutine(),
	}
	calls := uint64(0)
	for _, l := range s.lanes {
		calls += l.calls.Load()
		keys := l.limiter.Len()
		x.Keys += keys
		x.Violations += len(l.violations())
		if l.maxKeys > 0 && keys > l.maxKeys {
			s.beyond = append(s.beyond, fmt.Sprintf("%s: %d keys held, at most %d are lawful", l.name, keys, l.maxKeys))
		}
	}
	x.Calls = calls - s.calls
	x.PerSecond = float64(x.Calls) / now.Sub(s.last).Seconds()
	x.Violations += len(s.beyond)
	s.calls, s.last = calls, now
	s.samples = append(s.samples, x)
	return x
}

// writeTo writes a line of progress.
func (x sample) writeTo(w io.Writer) {
	fmt.Fprintf(w, "%8.1f s  %8.0f calls/s  p50 %s  p99 %s  max %s  heap %s  rss %s  %d goroutines  %d keys  %d violations\n",
		x.At, x.PerSecond, nanos(x.P50), nanos(x.P99), nanos(x.Max),
		bytesText(x.Heap), bytesText(x.RSS), x.Goroutines, x.Keys, x.Violations)
}

// nanos is a duration for people.
func nanos(n uint64) string { return time.Duration(n).String() }

// bytesText is a number of bytes for people.
func bytesText(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// residentBytes is the memory of the process that is in use, as Linux tells it, or 0.
func residentBytes() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var total, resident uint64
	if _, err := fmt.Fscan(strings.NewReader(string(text)), &total, &resident); err != nil {
		return 0
	}
	return resident * uint64(os.Getpagesize())
}
