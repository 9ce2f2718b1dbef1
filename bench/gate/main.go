// Command gate measures whether the working tree decides more slowly than another
// revision of the repository.
//
// Usage, from the top of the repository:
//
//	gate -base revision [-rounds n] [-threshold percent] [-keys counts] [-benchtime t] [-instructions=false] [-json]
//
// It builds the benchmarks of the working tree twice, over the engine of the base
// and over its own, and runs the two in turns, round by round, each of them first
// in every other round. What is compared is the ratio to the floor, which BenchmarkGate measures
// in alternation with the calls, so that a machine that slows down slows both. A row has regressed when the median
// over the rounds of head's ratio by base's is above 1 + threshold and the interval
// of that median is above 1: 95 % for all rows together (the level is divided among
// them), without assuming a distribution.
//
// The second witness is the number of instructions a call, by perf or else by
// valgrind's callgrind, from runs of two lengths. Where time is not sure (its
// interval holds both 1 and 1 + threshold), a row whose instructions grew by more
// than the threshold has regressed too; elsewhere they are only reported. They are
// counted at 1k keys. Without either tool, or without 1k in -keys, they are left out,
// with a message.
//
// In the output p is that of the U test over all rounds, for the reader; no verdict
// depends on it. A row is unsure if the noise is too wide to tell; that alone is no
// failure, but the last line says how many are.
//
// Exit codes: 0; 1 when a row has regressed; 2 for bad usage, or when the
// benchmarks could not be built or run.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/penstock-go/penstock/bench"
)

const (
	exitRegressed = 1
	exitError     = 2
)

// options are the command line's.
type options struct {
	base         string
	rounds       int
	threshold    float64 // percent
	keys         string
	benchtime    string
	instructions bool
	json         bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stderr)
	if err != nil {
		return exitError
	}
	report, err := measure(ctx, opts, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "gate:", err)
		return exitError
	}
	write := writeText
	if opts.json {
		write = writeJSON
	}
	if err := write(stdout, report); err != nil {
		fmt.Fprintln(stderr, "gate:", err)
		return exitError
	}
	if report.regressed() {
		return exitRegressed
	}
	return 0
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("gate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&opts.base, "base", "", "compare with this `revision`")
	flags.IntVar(&opts.rounds, "rounds", 20, "run each binary `n` times, at least 12")
	flags.Float64Var(&opts.threshold, "threshold", 3, "what is slower by less is let through, in `percent`")
	flags.StringVar(&opts.keys, "keys", "1,1k,100k", "numbers of keys, such as 1,1k,100k")
	flags.StringVar(&opts.benchtime, "benchtime", "200000x", "of a row in a round, as in go test")
	flags.BoolVar(&opts.instructions, "instructions", true, "count instructions too")
	flags.BoolVar(&opts.json, "json", false, "print JSON")
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	fault := opts.fault()
	if flags.NArg() > 0 {
		fault = fmt.Sprintf("unknown argument %q: the revision goes into -base", flags.Arg(0))
	}
	if fault == "" {
		return opts, nil
	}
	fmt.Fprintln(stderr, "gate:", fault)
	return opts, fmt.Errorf("gate: %s", fault)
}

// fault says what is wrong with the options, or nothing.
func (o options) fault() string {
	for part := range strings.SplitSeq(o.keys, ",") {
		if _, err := bench.ParseCount(strings.TrimSpace(part)); err != nil {
			return fmt.Sprintf("-keys %q: want counts such as 1,1k,100k", o.keys)
		}
	}
	switch {
	case o.base == "":
		return "no -base: name the revision to compare with, such as -base main"
	case o.rounds < minRounds:
		return fmt.Sprintf("-rounds %d: fewer than %d have no interval at this level", o.rounds, minRounds)
	case o.threshold < 0:
		return "-threshold must not be negative"
	}
	return ""
}
