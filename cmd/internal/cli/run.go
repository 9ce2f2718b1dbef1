// Package cli is the penstock command: one file a verb.
package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// The exit codes of all verbs.
const (
	exitOK     = 0
	exitFailed = 1 // the work was done and found something wrong, or could not be done in full
	exitUsage  = 2 // the command was called in a way that cannot work
)

// Env is what the command touches of the outside world.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// grammar is the command line. Kong reads it from the tags.
type grammar struct {
	Demo    demoCmd          `cmd:"" help:"Show a token bucket and a sliding window at work."`
	Check   checkCmd         `cmd:"" help:"Run call-by-call cases and compare every answer; also on a store of yours."`
	Replay  replayCmd        `cmd:"" help:"Replay access logs against a limit: who would have been denied?"`
	Plot    plotCmd          `cmd:"" help:"Draw how each algorithm answers the same load, as SVG files."`
	Bench   benchStoreCmd    `cmd:"" name:"bench-store" help:"Measure limits on a store of yours, beside what it does without them."`
	Version kong.VersionFlag `help:"Print the version and stop."`
}

const description = `Exact rate limits, tried out before they are enforced.

Exit codes: 0 all well, 1 something failed or could not be read, 2 wrong usage.`

// exitError ends the command with a code. Its message, if it has one, goes to
// stderr.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usageError says that a flag's value cannot be used.
func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// errFailed ends the command with exitFailed after it has said why.
var errFailed = &exitError{exitFailed, nil}

// Run runs the command with its arguments, without the program's name, and
// returns the exit code. It does not end the process.
func Run(args []string, env Env) int {
	stopped := false // by --help or --version
	parser, err := kong.New(&grammar{},
		kong.Name("penstock"),
		kong.Description(description),
		kong.Writers(env.Stdout, env.Stderr),
		kong.Exit(func(int) { stopped = true }),
		kong.Vars{"version": version()}, replayHelp, checkHelp, benchHelp,
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return report(env, err)
	}
	args = asFlags(args)
	verb := verbIn(parser.Model.Node, args)
	args, err = prepare(verb, args)
	if err != nil {
		return report(env, seeHelp(err, verb))
	}
	ctx, err := parser.Parse(args)
	if stopped {
		return exitOK
	}
	if err != nil {
		return report(env, seeHelp(explain(err), verb))
	}
	return report(env, ctx.Run(env))
}

// seeHelp is a usage error that points to the help of the verb.
func seeHelp(err error, verb *kong.Node) error {
	name := ""
	if verb.Type == kong.CommandNode {
		name = verb.Name + " "
	}
	return usageError("%w; see penstock %s--help", err, name)
}

// report says on stderr what went wrong and returns the exit code for it.
func report(env Env, err error) int {
	if err == nil {
		return exitOK
	}
	exit := &exitError{exitFailed, err}
	errors.As(err, &exit)
	if exit.err != nil {
		fmt.Fprintf(env.Stderr, "penstock: %v\n", err)
	}
	return exit.code
}

func version() string {
	number := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		number = info.Main.Version
	}
	return fmt.Sprintf("penstock %s (%s)", number, runtime.Version())
}
