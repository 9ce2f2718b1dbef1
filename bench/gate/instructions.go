package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The lengths of the two runs, in calls: the difference of their instructions by
// that of their calls is what a call costs, whatever comes before the first.
const (
	shortRun = 20_480
	longRun  = 225_280
)

// countedKeys is the number of keys at which instructions are counted: they hardly
// depend on it, and filling many keys takes minutes in an emulator.
const countedKeys = "1k"

// counter runs a program and counts its instructions.
type counter struct {
	name  string
	args  []string       // before the program
	count *regexp.Regexp // finds the number in what was printed
}

var counters = []counter{
	{"perf", []string{"stat", "-x", ",", "-e", "instructions:u"}, regexp.MustCompile(`(?m)^(\d+),[^,]*,instructions:u`)},
	{"valgrind", []string{"--tool=callgrind", "--callgrind-out-file=/dev/null"}, regexp.MustCompile(`Collected : (\d+)`)},
}

// countRows counts the instructions of the rows at one number of keys, and returns
// why not if it could not.
func countRows(ctx context.Context, rep *report, base, head string, progress io.Writer) (note string) {
	counted := slices.DeleteFunc(slices.Clone(rep.rows), func(row *comparison) bool {
		return !strings.HasSuffix(row.name, "/keys="+countedKeys)
	})
	if len(counted) == 0 {
		return fmt.Sprintf("-keys has no %s, at which instructions are counted: add it", countedKeys)
	}
	c, err := findCounter(ctx, head)
	if err != nil {
		return err.Error()
	}
	for _, row := range counted {
		fmt.Fprintf(progress, "gate: instructions of %s by %s\n", row.name, c.name)
		if row.baseCount, err = c.perCall(ctx, base, row.name); err != nil {
			return err.Error()
		}
		if row.headCount, err = c.perCall(ctx, head, row.name); err != nil {
			return err.Error()
		}
	}
	return ""
}

// findCounter returns the first counter that works here, tried on a program that
// does nothing much.
func findCounter(ctx context.Context, program string) (counter, error) {
	for _, c := range counters {
		if _, err := exec.LookPath(c.name); err != nil {
			continue
		}
		if _, err := c.run(ctx, program, "-test.run", "^$"); err == nil {
			return c, nil
		}
	}
	return counter{}, fmt.Errorf("neither perf nor valgrind counts instructions here: install valgrind, or allow perf its counters")
}

// perCall returns the instructions of a call in the row, those of the floor that
// takes turns with it included.
func (c counter) perCall(ctx context.Context, binary, row string) (float64, error) {
	pattern := "^Benchmark" + strings.ReplaceAll(regexp.QuoteMeta(row), "/", "$/^") + "$"
	var counts [2]int64
	for i, calls := range []int{shortRun, longRun} {
		var err error
		counts[i], err = c.run(ctx, binary, "-test.run", "^$", "-test.bench", pattern, "-test.cpu", "1",
			"-test.benchtime", strconv.Itoa(calls)+"x")
		if err != nil {
			return 0, err
		}
	}
	return float64(counts[1]-counts[0]) / (longRun - shortRun), nil
}

// run returns how many instructions program took. It is to run on one thread
// without a collection or preemption by signals, which some emulators do not bear.
func (c counter) run(ctx context.Context, program string, args ...string) (int64, error) {
	all := append(append([]string{}, c.args...), program)
	command := exec.CommandContext(ctx, c.name, append(all, args...)...) //nolint:gosec // one of the counters, on a binary built here
	command.Env = append(os.Environ(), "GOGC=off", "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", "PENSTOCK_BENCH_KEYS="+countedKeys)
	printed, err := command.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s failed: %w\n%s", c.name, err, printed)
	}
	match := c.count.FindSubmatch(printed)
	if match == nil {
		return 0, fmt.Errorf("%s did not print a number of instructions", c.name)
	}
	return strconv.ParseInt(string(match[1]), 10, 64)
}
