package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/accesslog"
	"github.com/penstock-go/penstock/cmd/internal/input"
	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/cmd/internal/replay"
)

// replayCmd is penstock replay. The help of its flags is in replayHelp.
type replayCmd struct {
	Logs []string `arg:"" name:"log" help:"Access logs, plain or gzip, merged by time; - is standard input."`

	Rate      string `required:"true" placeholder:"N/DURATION" help:"${help_rate}"`
	Burst     *whole `placeholder:"N" help:"${help_burst}"`
	Algorithm string `default:"token_bucket" help:"${help_algorithm}"`

	Key        string `default:"client_ip" help:"${help_key}"`
	IPv6Prefix whole  `name:"ipv6-prefix" default:"64" placeholder:"BITS" help:"${help_ipv6_prefix}"`

	Format        string `default:"auto" enum:"auto,common,combined" help:"${help_format}"`
	ReorderWindow string `default:"1h" placeholder:"DURATION" help:"${help_reorder_window}"`
	ReorderLines  whole  `default:"4000000" placeholder:"N" help:"${help_reorder_lines}"`

	JSON bool  `name:"json" help:"Print one JSON object instead of a table."`
	Top  whole `default:"10" placeholder:"N" help:"Show the N keys that were denied most (default 10)."`
}

// whole is a flag that takes a whole number.
type whole int64

// UnmarshalText reads the number; the error says what the flag takes.
func (n *whole) UnmarshalText(text []byte) error {
	value, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number that fits in 64 bits, for example 20", text)
	}
	*n = whole(value)
	return nil
}

// Run replays the logs and prints the report.
func (c *replayCmd) Run(env Env) error {
	options, heading, err := c.options(env)
	if err != nil {
		return err
	}
	bar := newProgress(env.Stderr, c.Logs)
	if bar != nil {
		options.Progress = bar.add
	}
	rep, err := replay.Run(options)
	bar.finish()
	if err != nil {
		return err
	}
	write := rep.WriteTable
	if c.JSON {
		write = rep.WriteJSON
	}
	if rep.Lines > 0 || c.JSON {
		if err := write(env.Stdout, heading, int(c.Top)); err != nil {
			return fmt.Errorf("cannot write the report: %w", err)
		}
	}
	return c.verdict(env, rep)
}

// verdict says on stderr what kept the replay from being complete.
func (c *replayCmd) verdict(env Env, rep *replay.Report) error {
	for _, problem := range rep.Problems {
		fmt.Fprintf(env.Stderr, "penstock: %v\n", problem)
	}
	if rep.Requests == 0 && rep.Lines > 0 {
		fmt.Fprintf(env.Stderr, "penstock: none of the %d lines counts (first: %s:%d: %s); "+
			"are the logs in the common or combined format?\n", rep.Lines, rep.Skipped[0].File, rep.Skipped[0].Line, rep.Skipped[0].Reason)
	} else if rep.Requests == 0 && len(rep.Problems) == 0 {
		fmt.Fprintln(env.Stderr, "penstock: the logs are empty")
	}
	if rep.Requests == 0 || len(rep.Problems) > 0 {
		return errFailed
	}
	return nil
}

// options turns the flags into what to replay, with an error that names the
// flag.
func (c *replayCmd) options(env Env) (replay.Options, replay.Heading, error) {
	spec, heading, err := c.limit()
	if err != nil {
		return replay.Options{}, heading, err
	}
	limit, err := limits.Build(spec)
	var notBuilt *limits.NotBuiltError
	switch {
	case errors.As(err, &notBuilt):
		return replay.Options{}, heading, usageError("--%w", err)
	case err != nil:
		return replay.Options{}, heading, usageError("--rate %q with --burst %d cannot be enforced: %w", c.Rate, spec.Burst, err)
	}
	if !limit.Exact() {
		fmt.Fprintf(env.Stderr, "penstock: note: the nearest slower rate is used; it differs by a factor of %.1e\n", limit.Error())
	}
	if c.Burst != nil && !limits.HasBurst(c.Algorithm) {
		fmt.Fprintf(env.Stderr, "penstock: note: --burst is not used by %s; its limit is %s\n", c.Algorithm, heading.Limit)
	}
	if c.IPv6Prefix < 1 || c.IPv6Prefix > 128 {
		return replay.Options{}, heading, usageError("--ipv6-prefix: %d is not from 1 to 128, for example 64", c.IPv6Prefix)
	}
	key, err := replay.ParseKey(c.Key, int(c.IPv6Prefix))
	if err != nil {
		return replay.Options{}, heading, usageError("--key: %w", err)
	}
	heading.Key = c.keyInWords(key)
	window, err := c.reading()
	return replay.Options{
		Limit: limit, Key: key, Format: formats[c.Format], Files: c.Logs, Stdin: env.Stdin,
		ReorderWindow: window, ReorderLines: int(c.ReorderLines),
	}, heading, err
}

var formats = map[string]accesslog.Format{
	"auto": accesslog.Auto, "common": accesslog.Common, "combined": accesslog.Combined,
}

// limit reads the flags that make the limit.
func (c *replayCmd) limit() (limits.Spec, replay.Heading, error) {
	heading := replay.Heading{Algorithm: c.Algorithm}
	rate, err := limits.ParseRate(c.Rate)
	if err != nil {
		return limits.Spec{}, heading, usageError("--rate: %w", err)
	}
	spec := limits.Spec{Algorithm: c.Algorithm, Tokens: rate.Tokens, Per: rate.Per, Burst: rate.Tokens}
	if c.Burst != nil {
		spec.Burst = int64(*c.Burst)
	}
	if spec.Burst < 1 {
		return spec, heading, usageError("--burst: %d is less than 1, so no request could ever pass; "+
			"give the number of requests that may come at once, for example 20", spec.Burst)
	}
	if limits.HasBurst(c.Algorithm) {
		heading.Limit = fmt.Sprintf("%s burst %d", rate, spec.Burst)
	} else {
		heading.Limit = fmt.Sprintf("%d in any %s", rate.Tokens, limits.FormatDuration(rate.Per))
	}
	return spec, heading, nil
}

// reading checks the flags about how the logs are read.
func (c *replayCmd) reading() (window time.Duration, err error) {
	if window, err = limits.ParseDuration(c.ReorderWindow); err != nil {
		return 0, usageError("--reorder-window: %w, for example 5m", err)
	}
	if c.ReorderLines < 1 {
		return 0, usageError("--reorder-lines: %d is less than 1, for example 1000000", c.ReorderLines)
	}
	if c.Top < 0 {
		return 0, usageError("--top: %d is less than 0, for example 10", c.Top)
	}
	if first := slices.Index(c.Logs, input.Stdin); first >= 0 && slices.Contains(c.Logs[first+1:], input.Stdin) {
		return 0, usageError("- is named twice, but standard input can be read only once")
	}
	return window, nil
}

func (c *replayCmd) keyInWords(key replay.KeySpec) string {
	text := key.String()
	if key.Has("client_ip") {
		text += fmt.Sprintf(" (IPv6 by /%d)", c.IPv6Prefix)
	}
	return text
}
