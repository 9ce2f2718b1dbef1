package fair

import (
	"cmp"
	"math"
)

// schedule is the order of shares: start-time fair queueing over tenants. It knows no limit and no
// clock, only who asks for how much and who was granted what.
//
// Virtual time is now: the start tag of the request whose turn it is, or was last. A tenant that
// begins to ask starts at the later of now and its own finish tag; a grant of n moves that to
// start + n/weight. When nobody asks, the schedule is new: nobody is in debt, and it is time 0.
//
// For every tenant: waiting and claiming ones are in the map; indebted ones are, and
// their start is after now; there are no others. No waiting tenant starts before now.
type schedule[T comparable] struct {
	now     tag
	tenants map[T]*tenant[T]
	peak    int    // most tenants that the present map has held
	orders  uint64 // given so far

	waiting  heap[T]   // by start
	claims   claims[T] // by start
	lapsing  heap[T]   // the claims by the time at which they lapse
	indebted heap[T]   // by start

	weights    map[T]uint64 // those set by SetWeight
	weight     uint64       // of all others
	maxTenants int          // that can be held, 0 for any number
}

// keepDebts is how many tenants may be in debt, besides as many as ask. Beyond, the one that is least in
// debt is forgiven: it may be served one request early. While ever new tenants ask for one request
// each, virtual time stands still, and all that were ever served would be in debt.
const keepDebts = 1024

// keepPeak is up to how many tenants a map and its heaps may have grown to be used again: beyond,
// their memory is given back when nobody asks.
const keepPeak = 1024

func (s *schedule[T]) init(o *options) {
	byStart := func(t *tenant[T]) *int { return &t.place }
	s.waiting = heap[T]{less: earlier[T], place: byStart}
	s.indebted = heap[T]{less: earlier[T], place: byStart}
	s.lapsing = heap[T]{
		less:  func(a, b *tenant[T]) bool { return cmp.Less(a.untilNanos, b.untilNanos) },
		place: func(t *tenant[T]) *int { return &t.lapse },
	}
	s.tenants, s.weights = map[T]*tenant[T]{}, map[T]uint64{}
	s.weight, s.maxTenants = uint64(o.weight), o.maxTenants
}

// quiet reports whether nobody asks for anything: no caller waits and no claim is alive.
func (s *schedule[T]) quiet() bool { return len(s.waiting.items) == 0 && s.claims.root == nil }

// rest makes the schedule new if nobody asks. It takes out one by one as many tenants as came in.
func (s *schedule[T]) rest() {
	if !s.quiet() {
		return
	}
	s.now, s.orders = tag{}, 0
	if s.peak > keepPeak {
		s.tenants, s.peak = map[T]*tenant[T]{}, 0
		s.waiting.items, s.lapsing.items, s.indebted.items = nil, nil, nil
	}
	for s.indebted.top() != nil {
		last := s.indebted.items[len(s.indebted.items)-1]
		s.move(last, apart)
	}
}

// forgive forgets the tenant that is least in debt, and reports whether there was one.
func (s *schedule[T]) forgive() bool {
	t := s.indebted.top()
	if t != nil {
		s.move(t, apart)
	}
	return t != nil
}

// hold returns the tenant of a key, a new one if none is held; nil if there is no room for one more,
// because as many ask as may be held.
func (s *schedule[T]) hold(key T) *tenant[T] {
	if t := s.tenants[key]; t != nil {
		return t
	}
	if s.maxTenants > 0 && len(s.tenants) >= s.maxTenants && !s.forgive() {
		return nil
	}
	t := &tenant[T]{key: key, weight: s.weightOf(key)}
	s.tenants[key] = t
	s.peak = max(s.peak, len(s.tenants))
	return t
}

// detach takes a tenant out of the order, so that its tag may change.
func (s *schedule[T]) detach(t *tenant[T]) {
	switch t.standing {
	case waiting:
		s.waiting.remove(t)
	case claiming:
		s.claims.remove(t)
		s.lapsing.remove(t)
	case indebted:
		s.indebted.remove(t)
	case apart:
	}
	t.standing = apart
}

// move gives a tenant another standing. One without debt that asks for nothing is forgotten.
func (s *schedule[T]) move(t *tenant[T], to standing) {
	s.detach(t)
	if to == indebted && !s.now.before(t.start) {
		to = apart
	}
	t.standing = to
	switch to {
	case waiting:
		s.waiting.push(t)
		s.follow()
	case claiming:
		s.claims.add(t)
		s.lapsing.push(t)
	case indebted:
		s.indebted.push(t)
		if len(s.indebted.items) > keepDebts+len(s.waiting.items)+len(s.lapsing.items) {
			s.forgive()
		}
	case apart:
		delete(s.tenants, t.key)
	}
}

// begin starts a tenant's next request now, or when it has paid for those before.
func (s *schedule[T]) begin(t *tenant[T]) {
	if t.start.before(s.now) {
		t.start, t.rest = s.now, 0
	}
	s.orders++
	t.order = s.orders
}

// charge charges a tenant n permits at its start tag. It must not be in the order.
func (s *schedule[T]) charge(t *tenant[T], n int64) {
	s.advance(t.start)
	t.start, t.rest = t.start.after(n, t.weight, t.rest)
	s.orders++
	t.order = s.orders
}

// follow moves virtual time to the start of whoever's turn it is.
func (s *schedule[T]) follow() {
	if t := s.waiting.top(); t != nil {
		s.advance(t.start)
	}
}

// advance moves virtual time to a tag, if that is later, and forgets whose debt that pays.
func (s *schedule[T]) advance(to tag) {
	if !s.now.before(to) {
		return
	}
	s.now = to
	for t := s.indebted.top(); t != nil && !s.now.before(t.start); t = s.indebted.top() {
		s.forgive()
	}
	if s.now.whole >= maxCost {
		s.rebase()
	}
}

// rebase moves the origin of virtual time up to the earliest tag. Only differences of tags count.
func (s *schedule[T]) rebase() {
	base := s.now
	if t := s.claims.first(); t != nil && t.start.before(base) {
		base = t.start
	}
	s.now = s.now.minus(base)
	for _, t := range s.tenants {
		t.start = t.start.minus(base)
	}
}

// startOf returns where a call of Take for n permits would start: a claim that it repeats keeps
// its place. t is nil for a tenant that is not held.
func (s *schedule[T]) startOf(t *tenant[T], n int64) tag {
	if t == nil || !repeats(t, n) && t.start.before(s.now) {
		return s.now
	}
	return t.start
}

// repeats reports whether a call for n permits is the one whose refusal made the tenant's claim, or
// asks for less.
func repeats[T comparable](t *tenant[T], n int64) bool {
	return t.standing == claiming && n <= t.claim
}

// claimedBefore returns how many permits are claimed by tenants that start before at, t not counted.
func (s *schedule[T]) claimedBefore(at tag, t *tenant[T]) int64 {
	sum := s.claims.before(at)
	if t != nil && t.standing == claiming && t.start.before(at) && sum < math.MaxInt64 {
		sum -= t.claim
	}
	return sum
}

// pass charges a call of Take that passed.
func (s *schedule[T]) pass(key T, n int64) {
	t := s.hold(key)
	if t == nil {
		return
	}
	kept := repeats(t, n)
	s.detach(t)
	if !kept {
		s.begin(t)
	}
	s.charge(t, n)
	s.move(t, indebted)
}

// claim notes a refused call of Take for n permits, until it lapses.
func (s *schedule[T]) claim(key T, n, untilNanos int64) {
	t := s.hold(key)
	if t == nil || t.standing == waiting {
		return
	}
	kept := repeats(t, n)
	s.detach(t)
	if !kept {
		s.begin(t)
	}
	t.claim, t.untilNanos = n, untilNanos
	s.move(t, claiming)
}

// lapse ends the claims that were alive until before nowNanos.
func (s *schedule[T]) lapse(nowNanos int64) {
	t := s.lapsing.top()
	if t == nil || t.untilNanos >= nowNanos {
		return
	}
	for ; t != nil && t.untilNanos < nowNanos; t = s.lapsing.top() {
		s.move(t, indebted)
	}
	s.rest()
}

// enter adds a waiter to a tenant's queue. A claim of the tenant ends.
func (s *schedule[T]) enter(t *tenant[T], w *waiter[T]) {
	t.push(w)
	if t.standing != waiting {
		s.detach(t)
		s.begin(t)
		s.move(t, waiting)
	}
}

// leave takes a waiter out of its tenant's queue, ungranted.
func (s *schedule[T]) leave(w *waiter[T]) {
	t := w.tenant
	t.remove(w)
	if t.first == nil {
		s.move(t, indebted)
		s.follow()
	}
}

// grant takes the first waiter out of the queue of the first waiting tenant and charges it.
func (s *schedule[T]) grant(t *tenant[T]) *waiter[T] {
	w := t.first
	t.remove(w)
	s.detach(t)
	s.charge(t, w.n)
	if t.first != nil {
		s.move(t, waiting)
	} else {
		s.move(t, indebted)
	}
	s.follow()
	return w
}

func (s *schedule[T]) weightOf(key T) uint64 {
	if w, set := s.weights[key]; set {
		return w
	}
	return s.weight
}

// reweigh gives a tenant that is held the weight it has now. What it is in debt stays so many permits.
func (s *schedule[T]) reweigh(key T) {
	t, weight := s.tenants[key], s.weightOf(key)
	if t == nil || t.weight == weight {
		return
	}
	to := t.standing
	s.detach(t)
	if s.now.before(t.start) {
		t.start = s.now.plus(t.start.minus(s.now).scaled(t.weight, weight))
	}
	t.weight, t.rest = weight, 0
	s.move(t, to)
	s.follow()
}
