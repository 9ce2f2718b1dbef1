package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"

	"github.com/penstock-go/penstock/cmd/internal/cases"
	"github.com/penstock-go/penstock/cmd/internal/input"
	"github.com/penstock-go/penstock/cmd/internal/stores"
)

// maxCaseLine is the length from which a case is refused, in bytes.
const maxCaseLine = 64 << 20

// maxRandomMismatches bounds what is said about one random case: after the
// first wrong answer the rest mostly follows from it.
const maxRandomMismatches = 10

type checkCmd struct {
	Files      []string `arg:"" optional:"" name:"file" help:"Files of cases, plain or gzip; - is standard input."`
	Random     whole    `placeholder:"N" example:"100000" help:"Also check N random calls on random limits against exact models."`
	Interleave whole    `default:"4" placeholder:"K" example:"4" help:"${help_interleave}"`
	Seed       *seed    `placeholder:"S" example:"7" help:"Seed of the random calls; from the clock if not given. It is printed."`
	Store      string   `placeholder:"URL" example:"redis://127.0.0.1:6379" help:"${help_store}"`
	JSON       bool     `name:"json" help:"With --store: print one JSON object instead of lines."`
}

// checkHelp is the help of the longer flags of penstock check, by flag.
var checkHelp = kong.Vars{
	"help_interleave": "Run each case also among K copies of itself with other keys, in K orders of their calls; " +
		"0 is off (default 4).",
	"help_store": "Check a store of yours in place of the limiter in this process: " + stores.Forms + ".",
}

// Help is the text below the flags of penstock check --help.
func (*checkCmd) Help() string {
	return `A case is one JSON object on one line:

  {"id": "one", "algorithm": "token_bucket", "also_algorithms": ["gcra"],
   "limit": {"limit": 1, "window_ns": 1000000000, "burst": 1},
   "calls": [{"t_ns": 0, "key": "a", "n": 1, "want_allow": true},
             {"t_ns": 0, "key": "a", "n": 1, "want_allow": false, "want_retry_after_ns": 1000000000}]}

Every case runs on a fresh limiter, through the public API, at the given times. It passes if every
answer is right for each of its algorithms. want_retry_after_ns -1 is never; a denied call without
it must answer more than 0 and no more than the time to earn n from empty. Each wrong answer is a
line; the last line counts the cases: "N passed, N failed". A case whose algorithm is not known,
or that cannot be read, has failed. The windows need no burst.

What passes runs again among K copies of itself, whose keys differ, on one limiter, in K orders of
their calls at the same time: copy after copy, copies reversed, round robin, and shuffled. Each
copy must get the same answers. The line of a failure names the order; it is the first of it.

With --store the cases run on a server of yours (without a file: recorded ones, and random calls):
by the scripts or conditional updates that programs use, at the times of the cases, in the store's
resolution. Beside them: operations on words, calls at the store's own clock, callers that race,
expiry, and answers that are lost. All keys begin with penstock-check- and are removed afterwards,
also on Ctrl-C. The user of a server needs the rights of a program that enforces limits, and INFO.
What cannot run on a store is listed with the reason. The options of a URL:

  redis, rediss   db=N, dial_timeout=5s, addr=HOST:PORT (another node, or sentinel with master_set=NAME),
                  and of rediss skip_verify=true
  dynamodb        region=NAME, endpoint=URL (an emulator), profile=NAME, create=true (make the table),
                  floats=true (the emulator computes in floats); requests to AWS are billed

Exit codes:
  0  all cases passed
  1  a case failed, or the store could not be reached
  2  wrong usage, a file could not be read, or there was no case

Example:
  penstock check cases.jsonl
  penstock check --random 100000 --seed 7
  penstock check --store redis://127.0.0.1:6379`
}

// Run checks all cases and prints what is wrong with them.
func (c *checkCmd) Run(env Env) error {
	if c.Seed != nil && c.Random == 0 && c.Store == "" {
		return usageError("--seed is the seed of the random calls of --random; add --random N, such as --random 100000, or leave it out")
	}
	if len(c.Files) == 0 && c.Random == 0 && c.Store == "" {
		return usageError("check needs a file of cases, - for standard input, --random N, for example --random 100000, or --store URL")
	}
	if c.JSON && c.Store == "" {
		return usageError("--json is for --store; without it each wrong answer is a line")
	}
	if c.Random < 0 {
		return usageError("--random: %d is less than 0, for example 100000", c.Random)
	}
	if c.Interleave < 0 || c.Interleave > cases.MaxOrders {
		return usageError("--interleave: %d is not from 0 (off) to %d, for example 4", c.Interleave, cases.MaxOrders)
	}
	if c.Store != "" {
		return c.onStore(env)
	}
	out := bufio.NewWriter(env.Stdout)
	tally := c.tally(out, cases.Engine)
	var unreadable error
	for _, name := range c.Files {
		if err := tally.file(name, env.Stdin); err != nil {
			unreadable = errors.Join(unreadable, err)
		}
	}
	if c.Random > 0 {
		tally.random(int64(c.Random), c.seed())
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", tally.passed, tally.failed)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	switch {
	case unreadable != nil:
		return &exitError{exitUsage, unreadable}
	case tally.passed+tally.failed == 0:
		return usageError("there is no case in the input; write one JSON object a line, see penstock check --help")
	case tally.failed > 0:
		return errFailed
	}
	return nil
}

func (c *checkCmd) seed() uint64 {
	if c.Seed != nil {
		return uint64(*c.Seed)
	}
	return uint64(time.Now().UnixNano())
}

func (c *checkCmd) tally(out io.Writer, build cases.Build) *checkTally {
	return &checkTally{out: out, build: build, orders: int(c.Interleave)}
}

// checkTally judges cases, prints what is wrong and counts.
type checkTally struct {
	out            io.Writer
	build          cases.Build
	orders         int // of interleaving
	passed, failed int
}

// file checks the cases of a file; the error is about reading it.
func (t *checkTally) file(name string, stdin io.Reader) error {
	return readCases(name, stdin, func(c cases.Case) { t.judge(c, -1) }, t.malformed)
}

// readCases reads the cases of a file, and hands over each, or what is wrong with its line. The
// error is about reading it.
func readCases(name string, stdin io.Reader, read func(cases.Case), malformed func(file string, number int, err error)) error {
	src, err := input.Open(name, stdin, nil)
	if err != nil {
		return err
	}
	lines := input.NewLines(src, maxCaseLine)
	for {
		line, tooLong, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return src.Close()
		}
		if err != nil {
			return errors.Join(err, src.Close())
		}
		switch {
		case tooLong:
			malformed(src.Name, lines.Number(), errors.New("the line is 64 MiB or longer; split the case"))
		case len(line) > 0:
			c, err := cases.Parse(line)
			if err != nil {
				malformed(src.Name, lines.Number(), err)
				continue
			}
			read(c)
		}
	}
}

func (t *checkTally) malformed(file string, number int, err error) {
	t.failed++
	fmt.Fprintln(t.out, notACase(file, number, err))
}

func notACase(file string, number int, err error) string {
	return fmt.Sprintf("FAIL %s:%d: not a case: %v", file, number, err)
}

// judge runs one case and prints its mismatches, no more than most of them (all if negative).
func (t *checkTally) judge(c cases.Case, most int) {
	mismatches := cases.Judge(c, t.build, t.orders)
	if len(mismatches) == 0 {
		t.passed++
		return
	}
	t.failed++
	for i, m := range mismatches {
		if i == most {
			fmt.Fprintf(t.out, "FAIL %s: and %d more\n", c.ID, len(mismatches)-most)
			break
		}
		fmt.Fprintln(t.out, m)
	}
}

func (t *checkTally) random(calls int64, seed uint64) {
	source := cases.NewRandom(seed)
	made := 0
	for left := calls; left > 0; made++ {
		c := source.Next(int(min(left, cases.CallsPerCase)))
		left -= int64(len(c.Calls))
		t.judge(c, maxRandomMismatches)
	}
	fmt.Fprintf(t.out, "random: %d cases, %d calls, seed %d\n", made, calls, seed)
}
