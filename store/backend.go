package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// Backend is a [Storage] in use: with a deadline for each call, a circuit breaker for each of its
// nodes, and any number of limits. Its methods are safe for concurrent use. Make one with [NewBackend].
type Backend struct {
	storage  Storage
	info     Info
	applier  Applier // nil if the storage is none
	sharded  Sharded // nil if the storage is none
	deadline time.Duration
	prefix   string
	breakers breakers
	closed   atomic.Bool
}

// NewBackend puts a storage to use. Errors: [ErrOption], all that apply, joined.
func NewBackend(s Storage, opts ...Option) (*Backend, error) {
	if s == nil {
		return nil, fmt.Errorf("%w: NewBackend(nil): pass a storage", ErrOption)
	}
	b := &Backend{storage: s, info: s.Info(), deadline: DefaultDeadline, prefix: DefaultPrefix}
	b.applier, _ = s.(Applier)
	b.sharded, _ = s.(Sharded)
	for _, opt := range opts {
		if opt != nil {
			opt(b)
		}
	}
	b.breakers.store = b.info.Name
	b.breakers.settings = b.breakers.settings.withDefaults()
	if err := b.validate(); err != nil {
		return nil, err
	}
	return b, nil
}

// Storage returns the storage that NewBackend was given.
func (b *Backend) Storage() Storage { return b.storage }

// Limiter returns a limiter that enforces l on every key, together with all processes that use the
// same storage, prefix and name. Its name, of up to 100 bytes, is a part of the keys. Errors: [ErrOption], those of
// engine.Limit.Validate, and [ErrNotSupported].
//
// When a limit is changed, all processes that share it should change within a short time. The usage
// of windows stays counted if their length stays the same; old and new limits then judge
// one count. After any other change a key starts as new, under a key of its own: until the change is
// made everywhere, and for what was used just before, the old limit and the new one each admit what is
// theirs.
func (b *Backend) Limiter(name string, l engine.Limit, opts ...LimitOption) (*Shared, error) {
	s := &Shared{backend: b, name: name, limit: l, processes: 1}
	for _, opt := range opts {
		if opt != nil {
			opt(s)
		}
	}
	if err := errors.Join(l.Validate(), s.validate()); err != nil {
		return nil, err
	}
	if err := s.init(); err != nil {
		return nil, err
	}
	return s, nil
}

// Info describes the storage.
func (b *Backend) Info() Info { return b.info }

// Close closes the storage. Calls from then on fail with [ErrClosed] and follow their policy. The
// limiters are to be closed before it.
func (b *Backend) Close() error {
	b.closed.Store(true)
	return b.storage.Close()
}

// node returns the name of the node that a full key lives on.
func (b *Backend) node(key string) string {
	if b.sharded == nil {
		return ""
	}
	return b.sharded.Node(key)
}

// Call makes a call that a storage offers besides those of [Storage], as limiters make theirs: within the
// deadline, not at all while the breaker of the node of key, in full, is open, and once more if it returns an
// error that wraps [ErrUnavailable] while the caller still waits.
func (b *Backend) Call(ctx context.Context, key string, call func(context.Context) error) error {
	if err := begun(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.deadline)
	defer cancel()
	return b.guarded(ctx, b.node(key), func() error { return call(ctx) })
}

// guarded makes a call to a node: not at all if its breaker is open, and a second time if the first
// was surely not executed and the caller still waits. ctx has the deadline already.
func (b *Backend) guarded(ctx context.Context, node string, call func() error) error {
	if b.closed.Load() {
		return b.closedError()
	}
	gate := b.breakers.of(node)
	pass, ok := gate.enter(time.Now())
	if !ok {
		return b.openError(node)
	}
	began, err := time.Now(), errPanicked
	defer func() { gate.leave(ctx, pass, b.blame(ctx, err, time.Since(began)), err, time.Now()) }()
	err = call()
	if errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrThrottled) && ctx.Err() == nil {
		err = call()
	}
	return err
}

// closedError is that of a call after Close.
func (b *Backend) closedError() error {
	return fmt.Errorf("%w: %w: the backend of %s was closed before the call", ErrUnavailable, ErrClosed, b.info.Name)
}

// openError is that of a call to a node whose breaker is open.
func (b *Backend) openError(node string) error {
	where := b.info.Name
	if node != "" {
		where += " at " + node
	}
	return fmt.Errorf("%w: %w: the calls before to %s failed: it is asked again within %v",
		ErrUnavailable, ErrBreakerOpen, where, b.breakers.settings.Pause*3/2)
}

// errPanicked stands for the outcome of a call until it has one: a storage that panics fails too.
var errPanicked = fmt.Errorf("%w: the storage panicked", ErrUnknownOutcome)

// verdict is what a call says about its node.
type verdict uint8

const (
	answered verdict = iota // of several, the first that applies
	failed
	nothing // neither: the caller left, or only its key is in trouble
)

// fairShare of the deadline is what a node must have had before a caller's own, shorter deadline
// counts against it.
const fairShare = 4

// blame says whether the outcome of a call counts against the node.
func (b *Backend) blame(ctx context.Context, err error, waited time.Duration) verdict {
	switch {
	case err == nil, errors.Is(err, ErrContended):
		return answered
	case errors.Is(err, ErrThrottled), errors.Is(ctx.Err(), context.Canceled):
		return nothing
	case ctx.Err() != nil && waited < b.deadline/fairShare:
		return nothing
	}
	return failed
}
