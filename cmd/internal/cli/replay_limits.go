package cli

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/cmd/internal/replay"
)

// limits makes the limits of the flags: either each --limit, or the one of
// --rate and the flags beside it. Notes go to stderr.
func (c *replayCmd) limits(env Env) ([]replay.Limit, error) {
	short := c.shortFlag()
	switch {
	case short != "" && len(c.Limit) > 0:
		return nil, usageError("--limit and %s cannot be used together; write all of a limit in its --limit, for example --limit '%s'",
			short, limits.Example)
	case c.Rate == nil && len(c.Limit) == 0:
		return nil, usageError("replay needs --rate N/DURATION, for example --rate 10/1s, or --limit, for example --limit '%s'",
			limits.Example)
	case c.Rate != nil:
		one, err := c.oneLimit(env)
		return []replay.Limit{one}, err
	}
	return c.severalLimits(env)
}

// shortFlag returns the first flag given of those that make a limit without
// --limit, "" if there is none.
func (c *replayCmd) shortFlag() string {
	for _, flag := range []struct {
		name  string
		given bool
	}{{"--rate", c.Rate != nil}, {"--burst", c.Burst != nil}, {"--algorithm", c.Algorithm != nil}, {"--key", c.Key != nil}} {
		if flag.given {
			return flag.name
		}
	}
	return ""
}

// oneLimit makes the limit of --rate and the flags beside it.
func (c *replayCmd) oneLimit(env Env) (replay.Limit, error) {
	rate, err := limits.ParseRate(*c.Rate)
	if err != nil {
		return replay.Limit{}, usageError("--rate: %w", err)
	}
	named := limits.Named{
		Spec: limits.Spec{Algorithm: limits.TokenBucket, Tokens: rate.Tokens, Per: rate.Per, Burst: rate.Tokens},
		Name: replay.OnlyLimit, Key: limits.DefaultKey, BurstGiven: c.Burst != nil,
	}
	if c.Algorithm != nil {
		named.Algorithm = *c.Algorithm
	}
	if c.Key != nil {
		named.Key = *c.Key
	}
	if c.Burst != nil {
		named.Burst = int64(*c.Burst)
		if err := limits.CheckBurst(named.Burst); err != nil {
			return replay.Limit{}, usageError("--burst: %w", err)
		}
	}
	key, err := replay.ParseKey(named.Key, int(c.IPv6Prefix))
	if err != nil {
		return replay.Limit{}, usageError("--key: %w", err)
	}
	limit, err := buildLimit(env, named, key, "")
	var unknown *limits.UnknownError
	switch {
	case errors.As(err, &unknown):
		return limit, usageError("--%w", err)
	case err != nil:
		return limit, usageError("--rate: %s, %s cannot be enforced: %w", named.Algorithm, named.Spec, err)
	}
	return limit, nil
}

// severalLimits makes the limits of each --limit.
func (c *replayCmd) severalLimits(env Env) ([]replay.Limit, error) {
	all := make([]limits.Named, len(c.Limit))
	for i, text := range c.Limit {
		var err error
		if all[i], err = limits.ParseLimit(text); err != nil {
			return nil, usageError("--limit: %w", err)
		}
	}
	if name := limits.Twice(all); name != "" {
		return nil, usageError("--limit: two limits have the name %q; give each its own, for example name=%[1]s and name=%[1]s-2", name)
	}
	out := make([]replay.Limit, len(all))
	for i, named := range all {
		key, err := replay.ParseKey(named.Key, int(c.IPv6Prefix))
		if err != nil {
			return nil, usageError("--limit %s: key: %w", named.Name, err)
		}
		if out[i], err = buildLimit(env, named, key, named.Name+": "); err != nil {
			return nil, usageError("--limit %s: %s, %s cannot be enforced: %w", named.Name, named.Algorithm, named.Spec, err)
		}
	}
	return out, nil
}

// buildLimit makes a limit; of what is not as it was written it says so on
// stderr, after the prefix.
func buildLimit(env Env, named limits.Named, key replay.KeySpec, prefix string) (replay.Limit, error) {
	limit, err := limits.Build(named.Spec)
	if err != nil {
		return replay.Limit{}, err
	}
	if !limit.Exact() {
		fmt.Fprintf(env.Stderr, "penstock: note: %sthe nearest slower rate is used; it differs by a factor of %.1e\n",
			prefix, limit.Error())
	}
	if named.BurstGiven && !limits.HasBurst(named.Algorithm) {
		fmt.Fprintf(env.Stderr, "penstock: note: %sthe burst is not used by %s; its limit is %s\n", prefix, named.Algorithm, named.Spec)
	}
	out := replay.Limit{
		Name: named.Name, Engine: limit, Words: named.Spec.String(), Key: key,
		Rate: limits.Rate{Tokens: named.Tokens, Per: named.Per}.String(),
	}
	if limits.HasBurst(named.Algorithm) {
		out.Burst = &named.Burst
	}
	return out, nil
}
