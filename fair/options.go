package fair

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/penstock-go/penstock/engine"
)

const (
	// MaxWeight is the largest weight. At this weight a permit is 2^32 units of virtual time.
	MaxWeight int64 = 1 << 32
	// DefaultWaiters is how many calls of one tenant may wait unless [WithQueue] says otherwise.
	DefaultWaiters = 1024
	// maxDefaultHold bounds how long a claim outlives its retry-after unless WithHold says so.
	maxDefaultHold = time.Second
)

// Option changes how a limiter is made.
type Option func(*options)

// options are the settings of a limiter.
type options struct {
	weight     int64
	permits    int64
	waiters    int
	clock      engine.Clock
	nilClock   bool
	hold       time.Duration
	holdSet    bool
	maxTenants int
	capSet     bool
}

// WithWeight sets the weight of tenants that have none of their own, from 1 to [MaxWeight]; it is 1
// without this option. See [Limiter.SetWeight].
func WithWeight(w int64) Option { return func(o *options) { o.weight = w } }

// WithQueue bounds the queue of each tenant: at most so many waiters, which together wait for at
// most so many permits; both 0 or more. With 0 of either nothing waits: Wait passes at once or fails.
// Without this option [DefaultWaiters] may wait, for any number of permits.
func WithQueue(permits int64, waiters int) Option {
	return func(o *options) { o.permits, o.waiters = permits, waiters }
}

// WithClock makes the limiter read c in place of the process's monotonic clock. It wakes waiting
// calls by c if that is an [engine.Waker]; its methods are then called with the limiter's lock held, so it
// must not hold a lock of its own when it calls back. If it is not one, waiting calls are woken by the
// process's timers, and the clock is looked at every 1 ms at most.
func WithClock(c engine.Clock) Option {
	return func(o *options) { o.clock, o.nilClock = c, isNil(c) }
}

// WithHold sets how long the claim of a refused [Limiter.Take] outlives its retry-after, 0 or more:
// how late a tenant may come back without losing its place. While a claim is alive the limit may lie
// idle for it, so a claim that nobody comes back for costs at most what is earned in d. Without this
// option it is the time in which the limit's rate earns its capacity, 1 s at most.
func WithHold(d time.Duration) Option {
	return func(o *options) { o.hold, o.holdSet = d, true }
}

// WithMaxTenants caps how many tenants are held, at some 250 bytes each: those that wait or have a
// claim, and as far as there is room those in debt. When as many ask, one more that would have to wait in
// [Limiter.Wait] fails with [ErrTenants], and for [Limiter.Take] it makes no claim. Without this option
// there is no cap on tenants that ask.
func WithMaxTenants(n int) Option {
	return func(o *options) { o.maxTenants, o.capSet = n, true }
}

// gather applies opts to the defaults and checks them all.
func gather(opts []Option) (*options, error) {
	o := &options{weight: 1, permits: math.MaxInt64, waiters: DefaultWaiters}
	for _, opt := range opts {
		if opt != nil {
			opt(o)
		}
	}
	err := o.validate()
	return o, err
}

func (o *options) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrOption}, args...)...))
	}
	if err := checkWeight(o.weight); err != nil {
		errs = append(errs, fmt.Errorf("%w: WithWeight: %w", ErrOption, err))
	}
	if o.permits < 0 || o.waiters < 0 {
		bad("WithQueue(%d, %d): use 0 or more", o.permits, o.waiters)
	}
	if o.nilClock {
		bad("WithClock(nil): pass a clock, or leave the option out for the monotonic one")
	}
	if o.hold < 0 {
		bad("WithHold(%v): use 0 or more", o.hold)
	}
	if o.capSet && o.maxTenants < 1 {
		bad("WithMaxTenants(%d): use 1 or more, or leave the option out for no cap", o.maxTenants)
	}
	return errors.Join(errs...)
}

func checkWeight(w int64) error {
	if w < 1 || w > MaxWeight {
		return fmt.Errorf("%w: %d: use 1 to %d", ErrWeight, w, MaxWeight)
	}
	return nil
}

// isNil reports whether a clock is nil or a nil pointer in an interface.
func isNil(c engine.Clock) bool {
	if c == nil {
		return true
	}
	v := reflect.ValueOf(c)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
