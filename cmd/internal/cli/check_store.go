package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/cases"
	"github.com/penstock-go/penstock/cmd/internal/storecheck"
	"github.com/penstock-go/penstock/cmd/internal/stores"
)

const (
	// storeRandom is how many random calls a store is checked with if nothing
	// else was asked for.
	storeRandom = 2000
	// openTimeout is how long a store may take to be reached; making a table
	// takes its time.
	openTimeout = 3 * time.Minute
	// mostStoreFailures bounds what is said about one check.
	mostStoreFailures = 10
)

// untilInterrupt returns a context that ends when the user wants to stop.
func untilInterrupt() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt)
}

// openStore reaches a store, and makes sure that it decides; name is of its keys.
func openStore(ctx context.Context, address *stores.Address, name string) (stores.Target, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	target, err := stores.Open(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := stores.Try(ctx, address, target, name); err != nil {
		return nil, errors.Join(err, target.Close())
	}
	return target, nil
}

// onStore checks a store of the user's.
func (c *checkCmd) onStore(env Env) error {
	options, malformed, err := c.storeOptions(env)
	if err != nil {
		return err
	}
	address, err := stores.Parse(c.Store)
	if err != nil {
		return usageError("--store: %w", err)
	}
	ctx, stop := untilInterrupt()
	defer stop()
	target, err := openStore(ctx, address, "check")
	if err != nil {
		return err
	}
	defer target.Close()
	out := bufio.NewWriter(env.Stdout)
	if !c.JSON {
		fmt.Fprintf(out, "%s: %s, in ticks of %v\n", address, target.About(), target.Storage().Info().Tick)
		options.Done = func(check storecheck.Check) { writeCheck(out, check) }
	}
	for _, line := range malformed {
		fmt.Fprintln(out, line)
	}
	rep, leftBehind := storecheck.Run(ctx, address.String(), target, options)
	rep.Failed += len(malformed)
	write := writeSum
	if c.JSON {
		write = writeJSON[storecheck.Report]
	}
	if err := errors.Join(write(out, rep), out.Flush()); err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	switch {
	case leftBehind != nil:
		return leftBehind
	case rep.Unfinished != "":
		return errors.New(rep.Unfinished)
	case rep.Failed > 0:
		return errFailed
	}
	return nil
}

// storeOptions gathers what is to be checked; malformed says which lines are no
// cases.
func (c *checkCmd) storeOptions(env Env) (o storecheck.Options, malformed []string, err error) {
	o = storecheck.Options{Orders: int(c.Interleave), Random: int(c.Random), Seed: c.seed()}
	if len(c.Files) == 0 {
		if o.Random == 0 {
			o.Random = storeRandom
		}
		o.Cases, err = cases.Recorded()
		return o, nil, err
	}
	for _, name := range c.Files {
		readErr := readCases(name, env.Stdin, func(one cases.Case) { o.Cases = append(o.Cases, one) },
			func(file string, number int, err error) { malformed = append(malformed, notACase(file, number, err)) })
		err = errors.Join(err, readErr)
	}
	switch {
	case err != nil:
		err = &exitError{exitUsage, err}
	case len(o.Cases)+len(malformed) == 0:
		err = usageError("there is no case in the input; write one JSON object a line, see penstock check --help")
	}
	return o, malformed, err
}

// writeCheck writes what came of one check, as soon as it is known.
func writeCheck(out *bufio.Writer, c storecheck.Check) {
	if c.Passed+c.Failed+len(c.NotRun) == 0 {
		return
	}
	fmt.Fprintf(out, "  %-13s %d passed", c.Name, c.Passed)
	if c.Failed > 0 {
		fmt.Fprintf(out, ", %d failed", c.Failed)
	}
	if len(c.NotRun) > 0 {
		fmt.Fprintf(out, ", %d not run", len(c.NotRun))
	}
	if c.Note != "" {
		fmt.Fprintf(out, ": %s", c.Note)
	}
	fmt.Fprintln(out)
	for _, n := range storecheck.Together(c.NotRun) {
		fmt.Fprintf(out, "    not run: %s: %s\n", n.What, n.Why)
	}
	for i, failure := range c.Failures {
		if i == mostStoreFailures {
			fmt.Fprintf(out, "FAIL %s: and %d more\n", c.Name, len(c.Failures)-mostStoreFailures)
			break
		}
		fmt.Fprintln(out, failure)
	}
	_ = out.Flush() // the last Flush tells
}

func writeSum(out io.Writer, rep *storecheck.Report) error {
	_, err := fmt.Fprintf(out, "removed all %d keys that began with %s\n%d passed, %d failed, %d not run\n",
		rep.Removed, rep.Prefix, rep.Passed, rep.Failed, rep.NotRun)
	return err
}

func writeJSON[T any](out io.Writer, rep *T) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(rep)
}
