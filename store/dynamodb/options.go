package dynamodb

import (
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

const (
	// DefaultMaxSkew is how far the clock may be from the server's: far more than a clock that is kept by
	// NTP ever is, and so little that what it admits in advance is what a limit earns in that time.
	DefaultMaxSkew = time.Second
	// MostSkew is the largest bound that [WithMaxSkew] takes. Words have to be readable for clocks
	// that differ by twice as much, see store.NewLaw.
	MostSkew = 30 * time.Second
	// AnySkew switches the check of the clock off, see [WithMaxSkew].
	AnySkew time.Duration = -1
)

// Option changes how a [Store] is made.
type Option func(*Store)

// WithMaxSkew bounds how far this process's clock may be from the server's: [DefaultMaxSkew] if not given,
// at most [MostSkew]. Beyond it nothing is decided. [AnySkew] switches the check off: then a clock
// that is an hour ahead admits in advance what a limit earns in an hour.
func WithMaxSkew(d time.Duration) Option { return func(s *Store) { s.skew.most = d } }

// WithClock sets the clock, for tests: c tells the time since 1970-01-01 UTC. Unless it tells the
// server's time the check of it has to be switched off, see [WithMaxSkew].
func WithClock(c engine.Clock) Option { return func(s *Store) { s.clock = c } }

// WithFloatNumbers says that the server computes in floats, as some emulators do: exact below 2^53 only.
// Limits whose numbers would come above that before the year 2050 then go by compare-and-swap.
// DynamoDB itself needs no such thing.
func WithFloatNumbers() Option { return func(s *Store) { s.floats = true } }

// WithParallel sets how many ops of one Apply are on their way at once: 16 if not given. DynamoDB has no
// conditional batch, so that each op is a request.
func WithParallel(n int) Option { return func(s *Store) { s.parallel = n } }

const defaultParallel = 16

func (s *Store) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: dynamodb: "+format, append([]any{store.ErrOption}, args...)...))
	}
	if s.client == nil {
		bad("the client is nil: pass one of aws-sdk-go-v2/service/dynamodb")
	}
	if s.table == "" {
		bad("the table has no name")
	}
	if s.clock == nil {
		bad("WithClock(nil): pass a clock, or leave it out for that of the system")
	}
	if most := s.skew.most; most != AnySkew && (most <= 0 || most > MostSkew) {
		bad("WithMaxSkew(%v): use up to %v, or AnySkew", most, MostSkew)
	}
	if s.parallel < 1 {
		bad("WithParallel(%d): use 1 or more", s.parallel)
	}
	return errors.Join(errs...)
}
