// Command soak keeps limiters under mixed load for a long time and holds them to their laws: Zipf
// distributed keys, floods of new keys against a cap, changes of limits, several limits, refunds,
// reservations, cancellations, waits, forced sweeps and garbage collections, and a clock that steps
// ahead and back. Beside the limiters an independent ledger of every key checks each admission.
//
// Usage:
//
//	soak [-duration d] [-calls n] [-workers n] [-waiters n] [-keys n] [-seed n] [-progress d] [-report stem] [-note text]
//
// It prints a line of progress now and then and the report at the end, which it also writes to
// stem.md, stem.json and stem.svg. An interrupt ends it early, with its report.
//
// Exit codes: 0; 1 for a violation, or if the report could not be written; 2 for bad usage.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"time"
)

const (
	exitViolated = 1
	exitUsage    = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], honest, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main on limiters from which permits are taken by take.
func run(ctx context.Context, args []string, how take, stdout, stderr io.Writer) int {
	cfg := config{take: how}
	var stem, note string
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.DurationVar(&cfg.duration, "duration", time.Minute, "end after this `time`")
	flags.IntVar(&cfg.calls, "calls", math.MaxInt, "end after this `number` of calls of each worker")
	flags.IntVar(&cfg.workers, "workers", 2*runtime.GOMAXPROCS(0), "`number` of goroutines that call without a pause")
	flags.IntVar(&cfg.waiters, "waiters", 8, "`number` of goroutines that wait for permits")
	flags.IntVar(&cfg.keys, "keys", 100_000, "`number` of keys of each limiter")
	flags.Uint64Var(&cfg.seed, "seed", 1, "`seed` of the load")
	flags.DurationVar(&cfg.progress, "progress", 5*time.Second, "`time` between two lines of progress")
	flags.StringVar(&stem, "report", "", "write the report to `stem`.md, .json and .svg")
	flags.StringVar(&note, "note", "", "a `sentence` for the report, such as what else the machine did")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if cfg.duration <= 0 || cfg.calls < 1 || cfg.workers < 1 || cfg.waiters < 0 || cfg.keys < 2 || cfg.progress <= 0 || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "soak: every number must be above 0, keys above 1, and there are no arguments besides the flags")
		return exitUsage
	}
	r := soak(ctx, cfg, stdout)
	r.Note = note
	fmt.Fprintf(stdout, "\n%s", r.markdown("report.svg"))
	if stem != "" {
		if err := r.save(stem); err != nil {
			fmt.Fprintln(stderr, err)
			return exitViolated
		}
	}
	if len(r.Violations) > 0 {
		return exitViolated
	}
	return 0
}
