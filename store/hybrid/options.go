package hybrid

import (
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// Defaults of a [Limiter].
const (
	// DefaultSlack admits a tenth of the burst more in an interval than the limit says.
	DefaultSlack = 0.1
	// DefaultNegativeCache is how long a refusal of the store is answered from memory at most: whoever
	// waits for a key that was reset elsewhere waits this much longer.
	DefaultNegativeCache = time.Second
	// DefaultMaxKeys is how many keys are kept in mind at most.
	DefaultMaxKeys = 100_000
)

const (
	// maxLife bounds a lease's life: more saves no call that counts, and strands more permits.
	maxLife = time.Second
	// maxSlack bounds the slack at a second burst.
	maxSlack = 1.0
)

// Option changes how a [Limiter] is made.
type Option func(*options)

type options struct {
	slack    float64
	maxLease int64 // 0: as many as the slack allows
	negative time.Duration
	maxKeys  int
	clock    engine.Clock

	zeroLease, nilClock bool
}

// WithSlack sets by how much an interval may exceed the limit, as a share of the burst, 0 to 1:
// [DefaultSlack] if not given. A lease lives for what the rate needs to earn that share, s*B/R, and a
// second at most. The longer it lives the fewer calls reach the store: a life below twice the round
// trip is of no use. 0 is the synchronous mode: every decision is the store's, exactly; only
// refusals are kept in mind, see [WithNegativeCache].
func WithSlack(s float64) Option { return func(o *options) { o.slack = s } }

// WithMaxLease sets how many permits of a key this process may hold, leases on their way included:
// as many as the slack comes to, s*B, if not given. Where the number N of processes is known, s*B/N
// bounds the excess by s*B even if clocks fail, see docs/stores-hybrid.md.
func WithMaxLease(permits int64) Option {
	return func(o *options) { o.maxLease, o.zeroLease = permits, permits == 0 }
}

// WithNegativeCache sets how long a refusal of the store is answered from memory at most:
// [DefaultNegativeCache] if not given. It never outlives the refusal's own retry-after. 0 asks the
// store each time.
func WithNegativeCache(d time.Duration) Option { return func(o *options) { o.negative = d } }

// WithMaxKeys sets how many keys are kept in mind: [DefaultMaxKeys] if not given. While they are that
// many, calls for others are decided by the store, one by one.
func WithMaxKeys(n int) Option { return func(o *options) { o.maxKeys = n } }

// WithClock makes the limiter measure the life of leases by c in place of the process's monotonic
// clock. It should run while the machine sleeps, if that is of concern, and must not run slower than
// time does. A step back counts as no time passed. Now is called under the lock of a key, so it must not
// call the limiter.
func WithClock(c engine.Clock) Option {
	return func(o *options) { o.clock, o.nilClock = c, c == nil }
}

// gather applies opts to the defaults and checks them all.
func gather(shared *store.Shared, opts []Option) (*options, error) {
	o := &options{slack: DefaultSlack, negative: DefaultNegativeCache, maxKeys: DefaultMaxKeys}
	for _, opt := range opts {
		if opt != nil {
			opt(o)
		}
	}
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: hybrid: "+format, append([]any{store.ErrOption}, args...)...))
	}
	if shared == nil {
		bad("New(nil): pass a limiter of store.Backend.Limiter")
	}
	if !(o.slack >= 0 && o.slack <= maxSlack) { // so that NaN is refused as well
		bad("WithSlack(%v): use 0 to %v", o.slack, maxSlack)
	}
	if o.maxLease < 0 || o.zeroLease {
		bad("WithMaxLease(%d): use 1 or more, or WithSlack(0) to hold nothing", o.maxLease)
	}
	if o.negative < 0 {
		bad("WithNegativeCache(%v): use 0 or more", o.negative)
	}
	if o.maxKeys < 1 {
		bad("WithMaxKeys(%d): use 1 or more", o.maxKeys)
	}
	if o.nilClock {
		bad("WithClock(nil): pass a clock, or leave the option out for the monotonic one")
	}
	return o, errors.Join(errs...)
}
