package engine

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/penstock-go/penstock/evict"
)

// CapPolicy says what happens to a new key when the cap on keys is reached and the call finds
// no room: a held key that equals a new one may keep its place until the next sweep
// ([Limiter.Sweep], [WithSweepInterval]). Keys that are held already are never affected.
type CapPolicy uint8

const (
	// CapShared lets all new keys share one bucket of the limit until there is room. A key may then
	// take from that and, once there is room, from its own.
	CapShared CapPolicy = iota
	// CapDeny refuses new keys until there is room.
	CapDeny
	// CapAllow admits new keys uncounted until there is room.
	CapAllow
)

// Clock is a source of time for [WithClock]. Now returns the time since an origin of its
// choice. It must be safe for concurrent use. It need not be monotonic: a step back counts
// as no time passed. The latest reading is kept in a word that all calls share: a clock that
// progresses in ticks, such as a cached time, is written there once a tick, one that progresses
// at each reading at each call.
// Time stands still until the clock has made up the step; RetryAfter and ResetAfter count
// from then.
type Clock interface {
	// Now returns the time since the clock's origin.
	Now() time.Duration
}

// Waker is a [Clock] that can wake whoever waits for its time to come, such as a fake one in tests
// (enginetest.Clock). A [Limiter] whose clock is not a Waker waits by the process's timers, and
// asks the clock again when they end.
type Waker interface {
	Clock
	// AfterFunc calls f once, on any goroutine, when Now has progressed by d or more; at once, even
	// before it returns, if d is 0 or less. f does not block. stop keeps f from being called and
	// reports whether it did. Both are safe for concurrent use.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Option changes how a limiter is made.
type Option func(*options)

// options are the settings of a limiter.
type options struct {
	clock         Clock
	tick          time.Duration
	coarse        bool
	maxKeys       int
	capPolicy     CapPolicy
	sweepInterval time.Duration
	stats         bool
	also          []Limit
	resolver      any // a Resolver of the limiter's keys
	nilClock      bool
	zeroKeys      bool
	maxWait       time.Duration
	queue         queueBounds
}

// queueBounds are those of [WithQueue].
type queueBounds struct {
	permits int64
	calls   int
}

// ErrOption reports an option with an unusable value; test with errors.Is.
var ErrOption = errors.New("engine: invalid option")

// WithClock makes the limiter read c in place of the monotonic clock.
func WithClock(c Clock) Option {
	return func(o *options) { o.clock, o.nilClock = c, isNil(c) }
}

// WithCoarseClock makes the limiter read a time that a background goroutine updates every
// tick (1 ms is usual; at least 10 us) in place of the monotonic clock, which costs more than
// the rest of a decision. Every law holds on that time; in real time an interval may admit
// what the rate earns in one tick more. A call is never refused on coarse time: the exact
// clock is read first. If the goroutine is kept from running, time stands still until it
// runs or a call is about to be refused.
func WithCoarseClock(tick time.Duration) Option {
	return func(o *options) { o.tick, o.coarse = tick, true }
}

// WithMaxKeys caps the keys held at n, at 44 bytes of memory each at most (12 KiB if there
// are few), and sets the policy for new keys beyond. A key that does not equal a new one is
// never dropped to make room, so a flood of keys resets nobody's limit. A key counts once for each
// of its limits (WithAlso), and keys under a sliding log are capped apart from the others, at n
// too. Without this option
// there is no cap; what equals new is still dropped. The bytes do not hold for a
// [SlidingLog], see there. With [CapDeny], the RetryAfter of a new key that finds no room is an
// estimate: when there will be room depends on the keys that are held.
func WithMaxKeys(n int, p CapPolicy) Option {
	return func(o *options) { o.maxKeys, o.capPolicy, o.zeroKeys = n, p, n == 0 }
}

// WithSweepInterval sets the pause between two background sweeps, 10 s by default. A limit
// with a rate that needs it is swept more often.
func WithSweepInterval(d time.Duration) Option {
	return func(o *options) { o.sweepInterval = d }
}

// WithStats counts calls, allowed and denied, in striped counters. It costs each call some
// nanoseconds, so it is off by default; what [Stats] says of keys and sweeps is free.
func WithStats() Option {
	return func(o *options) { o.stats = true }
}

// WithAlso puts every key under more limits at once, such as 10 a second and 1000 an hour: a call
// passes all of them or takes nothing. The answer is that of the strictest limit, and
// Decision.Rule says which. At most 7 limits besides the main one.
func WithAlso(limits ...Limit) Option {
	return func(o *options) { o.also = append(o.also, limits...) }
}

// WithMaxWait bounds how long a reservation may have to wait: [Limiter.Reserve] and [Limiter.Wait]
// refuse at once what would come later than d from now. Without it, only what a word can tell is a
// bound: an eighth of the limit's horizon, which is 9 years for a rate of one token per a whole
// number of nanoseconds, and 4 s at least.
func WithMaxWait(d time.Duration) Option {
	return func(o *options) { o.maxWait = d }
}

// WithQueue bounds what waits for its time on each key: so many permits, in so many reservations,
// those of [Limiter.Wait] among them. What finds no place is refused at once. A place is free again
// when its time has come or it is given up. With it a reservation costs nothing more. 0 of either
// lets nothing wait: then Wait passes at once or fails. What passes a [LeakyQueue] in its turn waits
// too, and counts in both bounds.
func WithQueue(permits int64, reservations int) Option {
	return func(o *options) { o.queue = queueBounds{permits, reservations} }
}

// isNil reports whether a clock is nil or a nil pointer in an interface.
func isNil(c Clock) bool {
	if c == nil {
		return true
	}
	v := reflect.ValueOf(c)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// gather applies opts to the defaults and checks them all.
func gather(opts []Option) (*options, error) {
	o := &options{
		sweepInterval: evict.DefaultInterval,
		maxWait:       math.MaxInt64,
		queue:         queueBounds{math.MaxInt64, math.MaxInt},
	}
	for _, opt := range opts {
		if opt != nil {
			opt(o)
		}
	}
	err := o.validate()
	return o, err
}

// minTick is the shortest tick of a coarse clock: below it the ticking costs more than it
// saves.
const minTick = 10 * time.Microsecond

// fitsTick reports a limit whose words the coarse clock, if there is one, could not read.
func (o *options) fitsTick(l Limit) error {
	law := l.law()
	if !o.coarse || law == nil || int64(o.tick) <= law.Horizon()/maxTickShare {
		return nil
	}
	return fmt.Errorf("%w: WithCoarseClock(%v): use at most %v with the limit %v",
		ErrOption, o.tick, time.Duration(law.Horizon()/maxTickShare), l)
}

func (o *options) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrOption}, args...)...))
	}
	if o.maxKeys < 0 || o.zeroKeys {
		bad("WithMaxKeys(%d): use 1 or more, or leave the option out for no cap", o.maxKeys)
	}
	if o.nilClock {
		bad("WithClock(nil): pass a clock, or leave the option out for the monotonic one")
	}
	if len(o.also) >= maxRules {
		bad("WithAlso of %d limits: use at most %d", len(o.also), maxRules-1)
	}
	for i, l := range o.also {
		if err := errors.Join(l.Validate(), o.fitsTick(l)); err != nil {
			errs = append(errs, fmt.Errorf("engine: WithAlso, limit %d: %w", i+1, err))
		}
	}
	if o.capPolicy > CapAllow {
		bad("WithMaxKeys policy %d: use CapShared, CapDeny or CapAllow", o.capPolicy)
	}
	if o.sweepInterval <= 0 {
		bad("WithSweepInterval(%v): use a duration above 0", o.sweepInterval)
	}
	if o.maxWait < 0 {
		bad("WithMaxWait(%v): use 0 or more", o.maxWait)
	}
	if o.queue.permits < 0 || o.queue.calls < 0 {
		bad("WithQueue(%d, %d): use 0 or more", o.queue.permits, o.queue.calls)
	}
	if o.coarse && o.tick < minTick {
		bad("WithCoarseClock(%v): use %v or more", o.tick, minTick)
	}
	if o.coarse && o.clock != nil {
		bad("WithCoarseClock and WithClock: use one of them")
	}
	return errors.Join(errs...)
}
