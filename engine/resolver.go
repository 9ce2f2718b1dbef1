package engine

import (
	"errors"

	"github.com/penstock-go/penstock/internal/sched"
)

// Resolver finds the limit of a key. It is asked at every call, outside every lock, so it should
// answer from memory; it must be safe for concurrent use. ok is false for a key it does not know.
// A key that it does not know, an invalid limit and a panic get the limiter's default limit and
// are counted in [Stats]. When a key's limit changes, what it has used stays used.
type Resolver[K comparable] interface {
	// Resolve returns the limit of key.
	Resolve(key K) (l Limit, ok bool)
}

// ResolverFunc is a function as a [Resolver].
type ResolverFunc[K comparable] func(key K) (Limit, bool)

// Resolve calls f.
func (f ResolverFunc[K]) Resolve(key K) (Limit, bool) { return f(key) }

// WithResolver gives keys limits of their own. K must be the limiter's type of keys.
func WithResolver[K comparable](r Resolver[K]) Option {
	return func(o *options) { o.resolver = r }
}

// resolved counts what a resolver could not answer.
type resolved struct {
	unknown, broken *sched.Counter
}

// ruleOf returns the rule of a key.
func (m *Limiter[K]) ruleOf(key K) *rule {
	if m.resolver == nil {
		return m.rule.Load()
	}
	return m.resolve(key)
}

// resolve asks the resolver for the rule of a key.
func (m *Limiter[K]) resolve(key K) *rule {
	r := m.rule.Load()
	l, ok, panicked := m.ask(key)
	switch {
	case panicked:
		m.resolved.broken.Inc()
		return r
	case !ok:
		m.resolved.unknown.Inc()
		return r
	case l == r.limit:
		return r
	}
	own, met := m.book.find(l)
	if !met {
		own = m.book.learn(l, m.table)
	}
	if own == nil {
		m.resolved.broken.Inc()
		return r
	}
	return own
}

// ask calls the resolver and survives it.
func (m *Limiter[K]) ask(key K) (l Limit, ok, panicked bool) {
	defer func() {
		if recover() != nil {
			l, ok, panicked = Limit{}, false, true
		}
	}()
	l, ok = m.resolver.Resolve(key)
	return l, ok, false
}

// SetLimit changes the default limit, of all keys at once and at no cost a key: each is converted
// at its next call. What a key has used and not earned back stays used, also beyond the new
// capacity, at the old rate up to that call and at the new rate from then on. Errors: those of
// [Limit.Validate], and [ErrOption] if this limiter has met too many different limits (65,536).
func (m *Limiter[K]) SetLimit(l Limit) error {
	if err := errors.Join(l.Validate(), m.book.check(l)); err != nil {
		return err
	}
	r := m.book.learn(l, m.table)
	if r == nil {
		return errTooManyLimits
	}
	m.rule.Store(r)
	return nil
}

// Limit returns the default limit.
func (m *Limiter[K]) Limit() Limit { return m.rule.Load().limit }

// Tiers is a [Resolver] for keys that belong to tiers, such as free, pro, unlimited and blocked,
// each with a limit, and for single keys with limits of their own. All of it may change at any
// time, from any goroutine. Cost: one call of the function that finds the tier and a look-up or
// two, without a lock and without garbage.
type Tiers[K comparable] struct {
	tierOf    func(K) string
	mu        sched.Mutex // guards changes of tiers
	tiers     sched.Pointer[map[string]Limit]
	overrides *sched.MapOf[K, Limit]
}

// NewTiers returns tiers without limits; tierOf finds the tier of a key, and must be quick and
// safe for concurrent use.
func NewTiers[K comparable](tierOf func(K) string) *Tiers[K] {
	t := &Tiers[K]{tierOf: tierOf, overrides: sched.NewMapOf[K, Limit]()}
	t.tiers.Store(&map[string]Limit{})
	return t
}

// Resolve returns the key's own limit, or that of its tier; ok is false if there is neither.
func (t *Tiers[K]) Resolve(key K) (l Limit, ok bool) {
	if l, ok = t.overrides.Load(key); ok {
		return l, true
	}
	l, ok = (*t.tiers.Load())[t.tierOf(key)]
	return l, ok
}

// Set gives a tier its limit. It returns the error of [Limit.Validate], and then changes nothing.
func (t *Tiers[K]) Set(tier string, l Limit) error {
	if err := l.Validate(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	tiers := map[string]Limit{tier: l}
	for name, limit := range *t.tiers.Load() {
		if name != tier {
			tiers[name] = limit
		}
	}
	t.tiers.Store(&tiers)
	return nil
}

// Override gives a key a limit of its own, whatever its tier. It returns the error of
// [Limit.Validate], and then changes nothing.
func (t *Tiers[K]) Override(key K, l Limit) error {
	if err := l.Validate(); err != nil {
		return err
	}
	t.overrides.Store(key, l)
	return nil
}

// Remove takes a key's own limit away: it is under its tier's again.
func (t *Tiers[K]) Remove(key K) { t.overrides.Delete(key) }
