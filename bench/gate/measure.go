package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/penstock-go/penstock/bench/internal/samples"
)

// minRounds is how many rounds an interval needs. The widest one, from the least of the
// ratios to the greatest, misses the median if all are on one side of it: of 12 with
// 2 * 2^-12 = 2^-11, which is what the level leaves to each of up to 102 rows.
const minRounds = 12

// revision is one of the two that are compared.
type revision struct {
	label  string // base or head, in the names of its files
	name   string
	folder string // the top of its tree
	binary string // its benchmarks
	output string // what they printed
}

// measure builds both, runs them in turns, and judges.
func measure(ctx context.Context, opts options, progress io.Writer) (*report, error) {
	top, err := command(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "penstock-gate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // a folder that stays behind harms nothing
	base := &revision{label: "base", name: opts.base, folder: filepath.Join(scratch, "base")}
	head := &revision{label: "head", name: "working tree", folder: strings.TrimSpace(top)}
	if err := checkOut(ctx, head.folder, base.folder, opts.base); err != nil {
		return nil, err
	}
	for _, r := range []*revision{base, head} {
		r.binary = filepath.Join(scratch, r.label+".test")
		r.output = r.binary + ".txt"
		if err := r.build(ctx); err != nil {
			return nil, err
		}
	}
	if err := runRounds(ctx, opts, base, head, progress); err != nil {
		return nil, err
	}
	rep, err := judgeFiles(opts, base.output, head.output)
	if err != nil {
		return nil, err
	}
	if opts.instructions {
		rep.note = countRows(ctx, rep, base.binary, head.binary, progress)
		rep.judge()
	}
	return rep, nil
}

// checkOut writes the tree of the revision into folder, with the benchmarks of the
// working tree in the place of its own: both have to be measured by the same code.
func checkOut(ctx context.Context, top, folder, revision string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	archive := folder + ".tar"
	if _, err := command(ctx, top, "git", "archive", "--format=tar", "-o", archive, revision); err != nil {
		return err
	}
	if _, err := command(ctx, folder, "tar", "-xf", archive); err != nil {
		return err
	}
	bench := filepath.Join(folder, "bench")
	if err := os.RemoveAll(bench); err != nil {
		return err
	}
	return os.CopyFS(bench, os.DirFS(filepath.Join(top, "bench")))
}

func (r *revision) build(ctx context.Context) error {
	if _, err := command(ctx, r.folder, "go", "test", "-c", "-o", r.binary, "./bench"); err != nil {
		return fmt.Errorf("the benchmarks of the working tree do not build over %s, so that it cannot be compared: %w", r.name, err)
	}
	return nil
}

// runRounds appends what each binary prints to its output, round by round.
func runRounds(ctx context.Context, opts options, base, head *revision, progress io.Writer) error {
	for round := range opts.rounds {
		fmt.Fprintf(progress, "gate: round %d of %d\n", round+1, opts.rounds)
		order := []*revision{base, head}
		if round%2 == 1 {
			order = []*revision{head, base}
		}
		for _, r := range order {
			if err := r.run(ctx, opts); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *revision) run(ctx context.Context, opts options) error {
	args := []string{
		"-test.run", "^$", "-test.bench", "^BenchmarkGate$", "-test.cpu", "1",
		"-test.benchtime", opts.benchtime, "-test.timeout", "0",
	}
	run := exec.CommandContext(ctx, r.binary, args...) //nolint:gosec // a binary built here
	run.Dir = filepath.Dir(r.binary)
	run.Env = append(os.Environ(), "PENSTOCK_BENCH_KEYS="+opts.keys)
	printed, err := run.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the benchmarks over %s failed: %w\n%s", r.name, err, printed)
	}
	file, err := os.OpenFile(r.output, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(printed)
	return errors.Join(err, file.Close())
}

// judgeFiles compares what the two binaries printed.
func judgeFiles(opts options, base, head string) (*report, error) {
	before, err := samples.Read(&benchfmt.Files{Paths: []string{base}})
	if err != nil {
		return nil, err
	}
	after, err := samples.Read(&benchfmt.Files{Paths: []string{head}})
	if err != nil {
		return nil, err
	}
	return newReport(before, after, opts.threshold)
}

// command runs a program in folder and returns what it printed; its error has that.
func command(ctx context.Context, folder, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...) //nolint:gosec // the names are constants
	c.Dir = folder
	c.Env = append(os.Environ(), "GOWORK=off")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}
