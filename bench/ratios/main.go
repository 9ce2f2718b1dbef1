// Command ratios reads benchmark results of package bench, prints each row's
// median with its confidence interval and its ratio to the floor measured in the
// same results, and judges targets.
//
// Usage:
//
//	ratios [-targets file] [-units regexp] [-json] [-enforce [-all]] [results...]
//
// Without files, and for the name "-", it reads standard input. Results are what
// go test -bench prints; repeated runs are samples of one row. Medians, intervals
// (95 %) and their assumptions are those of benchstat.
//
// Exit codes: 0; 1 when -enforce finds a target missed beyond the noise (with
// -all also when a target could not be judged); 2 for bad usage, unreadable
// results or a bad targets file.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"

	"golang.org/x/perf/benchfmt"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

const (
	exitMissed = 1
	exitUsage  = 2
)

// options are the command line's.
type options struct {
	targets string
	units   *regexp.Regexp
	json    bool
	enforce bool
	all     bool
	paths   []string
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stderr)
	if err != nil {
		return exitUsage
	}
	report, err := makeReport(opts)
	if err != nil {
		fmt.Fprintln(stderr, "ratios:", err)
		return exitUsage
	}
	write := writeText
	if opts.json {
		write = writeJSON
	}
	if err := write(stdout, report); err != nil {
		fmt.Fprintln(stderr, "ratios:", err)
		return exitUsage
	}
	if opts.enforce && report.fails(opts.all) {
		return exitMissed
	}
	return 0
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("ratios", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&opts.targets, "targets", "", "judge the targets in this `file`")
	units := flags.String("units", `ns|B/key|allocs/key`, "print rows of units that match this `regexp`; targets are judged on all units")
	flags.BoolVar(&opts.json, "json", false, "print JSON")
	flags.BoolVar(&opts.enforce, "enforce", false, "exit with 1 when a target is missed beyond the noise")
	flags.BoolVar(&opts.all, "all", false, "with -enforce: also when a target is samples.Absent or unproven")
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	var err error
	if opts.units, err = regexp.Compile(*units); err != nil {
		fmt.Fprintln(stderr, "ratios: -units:", err)
		return opts, err
	}
	opts.paths = flags.Args()
	return opts, nil
}

// makeReport reads the results and judges the targets.
func makeReport(opts options) (*report, error) {
	var targets []samples.Target
	if opts.targets != "" {
		file, err := os.Open(opts.targets)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if targets, err = samples.ParseTargets(file, opts.targets); err != nil {
			return nil, err
		}
	}
	rows, err := samples.Read(&benchfmt.Files{Paths: opts.paths, AllowStdin: true})
	if err != nil {
		return nil, err
	}
	return newReport(rows, targets, opts.units), nil
}
