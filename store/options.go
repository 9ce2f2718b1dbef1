package store

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Policy says what a limiter answers when its store does not: it is unavailable, lost the race, or
// gave no answer in time.
type Policy uint8

const (
	// LocalShare lets each process enforce its share of the limit on its own, see [WithProcesses]. It
	// starts with nothing used, so that each absence of the store may admit one burst more.
	LocalShare Policy = iota
	// Closed admits nothing: the call returns the error.
	Closed
	// Open admits everything.
	Open
)

// Defaults of a [Backend].
const (
	// DefaultDeadline is how long a call waits for the store: ten times what a healthy one on the same
	// network needs, and little enough to be added to a request.
	DefaultDeadline = 50 * time.Millisecond
	// DefaultPrefix is what all keys begin with.
	DefaultPrefix = "penstock"
)

// Breaker are the settings of circuit breakers, of which each node has one. Zero fields have the
// defaults.
type Breaker struct {
	// Failures is the number of failures one after the other that open the breaker: 5 by default.
	Failures int
	// Share of the calls of one Window that have to fail to open it, once there were MinCalls: by
	// default 0.5 of 20 calls or more in 1 s.
	Share    float64
	MinCalls int           // see Share
	Window   time.Duration // see Share
	// Pause is the time until one call is let through to try: 500 ms by default, 24 h at most, more or less by up
	// to half of it at random, so that processes do not try at one instant.
	Pause time.Duration
}

// maxPause bounds the pause of a breaker.
const maxPause = 24 * time.Hour

// Option changes how a [Backend] is made.
type Option func(*Backend)

// WithDeadline sets how long a call waits for the store, retries included: [DefaultDeadline] if not
// given. The caller's context may end it sooner.
func WithDeadline(d time.Duration) Option { return func(b *Backend) { b.deadline = d } }

// WithBreaker sets when calls to a failing node are given up in advance.
func WithBreaker(settings Breaker) Option { return func(b *Backend) { b.breakers.settings = settings } }

// WithLogger makes the backend write one line for each change of a breaker's state. Without it
// nothing is written.
func WithLogger(l *slog.Logger) Option { return func(b *Backend) { b.breakers.log = l } }

// WithPrefix sets what all keys begin with: [DefaultPrefix] if not given. It must not hold braces, and not be
// longer than 100 bytes.
func WithPrefix(prefix string) Option { return func(b *Backend) { b.prefix = prefix } }

// LimitOption changes how a [Shared] limiter is made.
type LimitOption func(*Shared)

// WithPolicy sets what is answered when the store does not answer: [LocalShare] if not given.
func WithPolicy(p Policy) LimitOption { return func(s *Shared) { s.policy = p } }

// WithProcesses says how many processes use the limit, for [LocalShare]: each admits a share of
// rate/n and burst/n, at least one permit, while the store is away. Without it n is 1: each then admits
// the whole limit.
func WithProcesses(n int) LimitOption { return func(s *Shared) { s.processes = n } }

func (b *Backend) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrOption}, args...)...))
	}
	if info := b.info; info.Tick < 1 || info.Tick > time.Second {
		bad("the storage %q has a resolution of %v: use 1ns to 1s", info.Name, info.Tick)
	}
	if b.deadline <= 0 {
		bad("WithDeadline(%v): use a duration above 0", b.deadline)
	}
	if len(b.prefix) > maxNameBytes {
		bad("WithPrefix of %d bytes: use up to %d", len(b.prefix), maxNameBytes)
	}
	if strings.ContainsAny(b.prefix, "{}") {
		bad("WithPrefix(%q): use no braces: they mark the part of a key that picks the node", b.prefix)
	}
	if s := b.breakers.settings; s.Failures < 1 || !(s.Share > 0 && s.Share <= 1) || s.MinCalls < 1 || s.Window <= 0 ||
		s.Pause <= 0 || s.Pause > maxPause {
		bad("WithBreaker(%+v): use numbers above 0, a share of at most 1, and a pause of at most %v", s, maxPause)
	}
	return errors.Join(errs...)
}

// withDefaults fills in the fields that are zero.
func (s Breaker) withDefaults() Breaker {
	if s.Failures == 0 {
		s.Failures = 5
	}
	if s.Share == 0 {
		s.Share = 0.5
	}
	if s.MinCalls == 0 {
		s.MinCalls = 20
	}
	if s.Window == 0 {
		s.Window = time.Second
	}
	if s.Pause == 0 {
		s.Pause = 500 * time.Millisecond
	}
	return s
}

func (s *Shared) validate() error {
	var errs []error
	if s.name == "" || strings.ContainsAny(s.name, "{}:") {
		errs = append(errs, fmt.Errorf("%w: the limit's name %q: use one without colons and braces", ErrOption, s.name))
	}
	if len(s.name) > maxNameBytes {
		errs = append(errs, fmt.Errorf("%w: the limit's name has %d bytes: use up to %d", ErrOption, len(s.name), maxNameBytes))
	}
	if s.policy > Open {
		errs = append(errs, fmt.Errorf("%w: WithPolicy(%d): use LocalShare, Closed or Open", ErrOption, s.policy))
	}
	if s.processes < 1 {
		errs = append(errs, fmt.Errorf("%w: WithProcesses(%d): use 1 or more", ErrOption, s.processes))
	}
	return errors.Join(errs...)
}
