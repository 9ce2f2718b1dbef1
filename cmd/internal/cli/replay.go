package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/accesslog"
	"github.com/penstock-go/penstock/cmd/internal/input"
	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/cmd/internal/replay"
)

// replayCmd is penstock replay. The help of its flags is in replayHelp.
type replayCmd struct {
	Logs []string `arg:"" name:"log" help:"Access logs, plain or gzip, merged by time; - is standard input."`

	Rate      *string  `placeholder:"N/DURATION" example:"10/1s" help:"${help_rate}"`
	Burst     *whole   `placeholder:"N" example:"20" help:"${help_burst}"`
	Algorithm *string  `placeholder:"NAME" example:"token_bucket" help:"${help_algorithm}"`
	Key       *string  `placeholder:"FIELDS" example:"client_ip" help:"${help_key}"`
	Limit     []string `sep:"none" placeholder:"WORDS" help:"${help_limit}"`

	IPv6Prefix whole `name:"ipv6-prefix" default:"64" placeholder:"BITS" example:"64" help:"${help_ipv6_prefix}"`

	Format        string `default:"auto" enum:"auto,common,combined,vhost_common,vhost_combined" example:"combined" help:"${help_format}"`
	ReorderWindow string `default:"1h" placeholder:"DURATION" example:"5m" help:"${help_reorder_window}"`
	ReorderLines  whole  `default:"4000000" placeholder:"N" example:"1000000" help:"${help_reorder_lines}"`

	JSON bool  `name:"json" help:"Print one JSON object instead of a table."`
	Top  whole `default:"10" placeholder:"N" example:"10" help:"Show the N keys that were denied most (default 10)."`
}

// Run replays the logs and prints the report.
func (c *replayCmd) Run(env Env) error {
	options, err := c.options(env)
	if err != nil {
		return err
	}
	noteTwice(env.Stderr, c.Logs)
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
		if err := write(env.Stdout, int(c.Top)); err != nil {
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
			"are the logs in the common or combined format, and does --format say so?\n",
			rep.Lines, rep.Skipped[0].File, rep.Skipped[0].Line, rep.Skipped[0].Reason)
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
func (c *replayCmd) options(env Env) (replay.Options, error) {
	if c.IPv6Prefix < 1 || c.IPv6Prefix > 128 {
		return replay.Options{}, usageError("--ipv6-prefix: %d is not from 1 to 128, for example 64", c.IPv6Prefix)
	}
	enforced, err := c.limits(env)
	if err != nil {
		return replay.Options{}, err
	}
	window, err := c.reading()
	return replay.Options{
		Limits: enforced, Format: formats[c.Format], Files: c.Logs, Stdin: env.Stdin,
		ReorderWindow: window, ReorderLines: int(c.ReorderLines),
	}, err
}

var formats = map[string]accesslog.Format{
	"auto": accesslog.Auto, "common": accesslog.Common, "combined": accesslog.Combined,
	"vhost_common": accesslog.VHostCommon, "vhost_combined": accesslog.VHostCombined,
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
