package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/cmd/internal/storebench"
	"github.com/penstock-go/penstock/cmd/internal/stores"
)

// benchStoreCmd is penstock bench-store.
type benchStoreCmd struct {
	URL string `arg:"" name:"url" help:"The store: redis://host:6379 and so on, see below."`

	Callers []int  `default:"1,16,128" placeholder:"N,..." example:"1,16,128" help:"Callers at once, a table for each (default 1,16,128)."`
	For     string `default:"5s" placeholder:"DURATION" example:"5s" help:"How long each row is measured (default 5s)."`
	Limit   string `default:"rate=1000000/1s burst=1000000" placeholder:"WORDS" help:"${help_bench_limit}"`
	JSON    bool   `name:"json" help:"Print one JSON object instead of a table."`
}

// benchHelp is the help of the longer flags of penstock bench-store, by flag.
var benchHelp = kong.Vars{
	"help_bench_limit": "The limit of the calls that pass, in the words of penstock replay --limit " +
		"(default 'rate=1000000/1s burst=1000000').",
}

// maxCallers bounds the callers at once.
const maxCallers = 4096

// Help is the text below the flags of penstock bench-store --help.
func (*benchStoreCmd) Help() string {
	return `Stores: ` + stores.Forms + `;
penstock check --help lists the options of a URL.

Rows, which take turns so that what else happens on the machine happens to all:

  raw PING, raw EVALSHA         the floor of Redis: a PING, and a script that is no more than
                                "return 1", by the same client
  raw UpdateItem, raw GetItem   the floor of DynamoDB: an update without a condition, a consistent
                                read
  allow                         a decision that passes
  deny                          a decision on a key that is used up, and was seen to be
  hybrid                        the same limit decided in this process, on leases of the store

Each is called on 1000 keys in turn, hybrid on 10: leases are for keys that are called for often.
A latency includes reading the clock twice. All keys begin with penstock-bench- and are removed
afterwards, also on Ctrl-C. On DynamoDB every call but most of those of hybrid is a request, which
AWS bills; on Redis the user also needs PING and INFO.

Exit codes:
  0  all rows were measured
  1  the store could not be reached, of a row more calls failed than one in a hundred, or it was stopped
  2  wrong usage

Examples:
  penstock bench-store redis://127.0.0.1:6379
  penstock bench-store --callers 1,64 --for 2s --limit 'rate=100000/1s algorithm=sliding_window' \
    redis-cluster://127.0.0.1:7401,127.0.0.1:7402`
}

// Run measures and prints the table.
func (c *benchStoreCmd) Run(env Env) error {
	options, err := c.options(env)
	if err != nil {
		return err
	}
	address, err := stores.Parse(c.URL)
	if err != nil {
		return usageError("%w", err)
	}
	ctx, stop := untilInterrupt()
	defer stop()
	open := func(ctx context.Context) (stores.Target, error) { return openStore(ctx, address, "bench") }
	rep, err := storebench.Run(ctx, address, open, options)
	if rep == nil || len(rep.Rows) == 0 && err != nil {
		return err
	}
	write := rep.WriteTable
	if c.JSON {
		write = func(w io.Writer) error { return writeJSON(w, rep) }
	}
	if err := write(env.Stdout); err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	return errors.Join(rep.Failed(), err)
}

// options checks the flags.
func (c *benchStoreCmd) options(env Env) (o storebench.Options, err error) {
	if o.For, err = limits.ParseDuration(c.For); err != nil || o.For == 0 {
		if err == nil {
			err = fmt.Errorf("it must be longer than 0")
		}
		return o, usageError("--for: %w, for example 5s", err)
	}
	for _, n := range c.Callers {
		if n < 1 || n > maxCallers {
			return o, usageError("--callers: %d is not from 1 to %d, for example 1,16,128", n, maxCallers)
		}
	}
	if o.Concurrency = c.Callers; len(o.Concurrency) == 0 {
		return o, usageError("--callers: give a number at least, for example 1,16,128")
	}
	if o.Limit, err = benchLimit(c.Limit); err != nil {
		return o, usageError("--limit: %w", err)
	}
	o.Began = func(callers, rows int) {
		fmt.Fprintf(env.Stderr, "penstock: callers %d: %d rows of %s each\n", callers, rows, c.For)
	}
	return o, nil
}

// benchLimit reads a limit, whose name may be left out and which has no key.
func benchLimit(text string) (limits.Spec, error) {
	words := strings.Fields(text)
	has := func(name string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, name+"=") })
	}
	if has("key") {
		return limits.Spec{}, fmt.Errorf("%q: key= has no meaning here: the keys are made up", text)
	}
	if !has("name") {
		text = "name=bench " + text
	}
	named, err := limits.ParseLimit(text)
	if err != nil {
		return limits.Spec{}, err
	}
	if _, err := limits.Build(named.Spec); err != nil {
		return limits.Spec{}, fmt.Errorf("%q cannot be enforced: %w", text, err)
	}
	return named.Spec, nil
}
