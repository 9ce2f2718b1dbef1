package hybrid

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/evict"
	"github.com/penstock-go/penstock/store"
)

// Limiter is a [store.Limiter] that spends what it has charged to a shared one before. See the package
// comment for the bound. Make one with [New]; it must not be copied.
//
// Cost: a call that is served from a lease looks its key up, reads the clock and writes one word; it
// takes no lock, allocates nothing and waits for nothing. One that is refused from memory writes
// nothing. Calls for a hot key that find neither share one request to the store. A cold key costs what it
// costs on the shared limiter.
//
// All methods are safe for concurrent use. Goroutines run only while leases are asked for ahead of
// need, and none after Close. Every Limiter counts as a process in the bound.
type Limiter struct {
	shared   *store.Shared
	capacity int64
	perNano  float64       // the rate, in permits
	linear   bool          // permits are earned evenly
	tick     time.Duration // resolution of the store's clock
	life     int64         // of a lease in nanoseconds; 0: nothing is leased
	maxLease int64
	negative time.Duration
	plain    bool // every call is the store's
	maxKeys  int64

	time      timeline
	table     *table
	sweeper   *evict.Sweeper[table, *table]
	roundTrip roundTrip
	refills   refills
	counters  counters
	closed    atomic.Bool
}

var _ store.Limiter = (*Limiter)(nil)

// New returns a limiter over shared, which stays the caller's to close, after this one. Errors:
// [store.ErrOption], all that apply, joined.
//
// Nothing is leased, and every decision is the store's, where that would make no sense: under a
// LeakyQueue, which gives each permit a time of its own; under a rate of 0, where an unspent permit is
// lost for ever; and where the slack comes to less than two permits.
func New(shared *store.Shared, opts ...Option) (*Limiter, error) {
	o, err := gather(shared, opts)
	if err != nil {
		return nil, err
	}
	l := &Limiter{shared: shared, negative: o.negative, maxKeys: int64(o.maxKeys), plain: true}
	l.time.init(o.clock)
	l.refills.init()
	l.table = newTable(l)
	l.sweeper = evict.New(l.table, maxLife)
	if law := shared.Law(); law != nil {
		l.compile(law, o)
	}
	return l, nil
}

// compile derives life and size of leases from the limit.
func (l *Limiter) compile(law *store.Law, o *options) {
	limit, numbers := law.Limit(), law.Numbers()
	l.capacity, l.tick, l.linear = numbers.Limit, numbers.Tick, numbers.Kind == store.KindBucket
	rate := limit.Effective()
	l.perNano = float64(rate.Tokens) / float64(rate.Per)
	l.maxLease = int64(o.slack * float64(l.capacity))
	if o.maxLease > 0 {
		l.maxLease = min(l.maxLease, o.maxLease)
	}
	if rate.Tokens > 0 && l.maxLease >= coldPermits && limit.Algorithm() != engine.AlgorithmLeakyQueue {
		l.life = int64(min(math.Floor(o.slack*float64(l.capacity)/l.perNano), float64(maxLife)))
	}
	l.plain = l.life == 0 && l.negative == 0
}

// Slack returns how long a lease lives and how many permits of a key this process may hold: the E and
// L of the bound, 0 if nothing is leased.
func (l *Limiter) Slack() (life time.Duration, permits int64) {
	if l.life == 0 {
		return 0, 0
	}
	return time.Duration(l.life), l.maxLease
}

// Take takes n permits of key, all or none, see [store.Limiter]: from a lease if there is one. The
// decision is then of [store.SourceLease]: its Remaining is what is left of the lease and what the store
// had left when it was asked last, others' calls since then not counted; the same is true of ResetAfter.
// A refusal from memory is of [store.SourceNegative]. The RetryAfter of a hot key counts to the time
// at which this process asks the store again, which may be up to a quarter of a lease's life later than
// the store would say.
func (l *Limiter) Take(ctx context.Context, key string, n int64) (d store.Decision, err error) {
	e, ok := l.table.entries.Load(key)
	if ok && n > 0 && ctx.Err() == nil && l.fromMemory(&d, e, n) {
		return d, nil
	}
	return l.takeSlowly(ctx, key, n)
}

// fromMemory answers a call from the current lease or the last refusal, if it can.
func (l *Limiter) fromMemory(d *store.Decision, e *entry, n int64) bool {
	if a := e.current.Load(); a != nil {
		now := l.time.now() // after the lease was found, see take
		if left, ok := a.take(n, now); ok {
			if left <= a.low {
				l.ahead(e, now)
			}
			a.describe(d, l.capacity, left, now)
			return true
		}
	}
	if r := e.refusal.Load(); r != nil && l.refuse(d, r, n, l.time.now()) {
		return true
	}
	return false
}

// Peek returns what Take(ctx, key, 1) would answer, and charges nothing.
func (l *Limiter) Peek(ctx context.Context, key string) (d store.Decision, err error) {
	e, ok := l.table.entries.Load(key)
	if !ok || ctx.Err() != nil {
		return l.shared.Peek(ctx, key)
	}
	now := l.time.now()
	if a := e.current.Load(); a != nil && now < a.until {
		if left := a.left.Load(); left > 0 {
			a.describe(&d, l.capacity, left, now)
			return d, nil
		}
	}
	if r := e.refusal.Load(); r != nil && l.refuse(&d, r, 1, now) {
		return d, nil
	}
	return l.shared.Peek(ctx, key)
}

// Reset makes key equal to a new one in the store, and drops what this process holds of it. Others
// spend what they hold until it ends.
func (l *Limiter) Reset(ctx context.Context, key string) error {
	err := l.shared.Reset(ctx, key)
	if e, ok := l.table.entries.Load(key); ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.resets++
		l.drop(e)
	}
	return err
}

// Close drops what is held, gives nothing back, and ends all goroutines; it waits for those. Calls
// from then on are decided by the store, one by one. The shared limiter stays open.
func (l *Limiter) Close() error {
	l.closed.Store(true)
	l.sweeper.Close()
	l.refills.close()
	l.table.clear()
	return nil
}
