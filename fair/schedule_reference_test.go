package fair

import (
	"math/big"
	"slices"
	"time"

	"github.com/penstock-go/penstock/internal/oracle"
)

// reference is the simplest fair limiter: slices that are searched, integers without bounds, and a
// token bucket of rational numbers. It answers what a Limiter with a clock that visits every instant
// has to.
type reference struct {
	now      int64
	bucket   *oracle.TokenBucket
	capacity int64
	hold     int64

	virtual *big.Int // in units of 2^-64
	orders  int
	weight  int64
	weights map[int]int64
	tenants map[int]*share
	granted []grant
}

// share is a tenant of the reference.
type share struct {
	start, rest *big.Int
	weight      int64
	order       int
	queue       []request
	claim       int64
	until       int64
}

type request struct {
	id int
	n  int64
}

// grant is a call of Wait that was granted.
type grant struct {
	id int
	at int64
}

func newReference(tokens int64, per time.Duration, burst int64, hold time.Duration) *reference {
	return &reference{
		bucket: oracle.NewTokenBucket(tokens, per, burst), capacity: burst, hold: int64(hold),
		virtual: new(big.Int), weight: 1, weights: map[int]int64{}, tenants: map[int]*share{},
	}
}

func (r *reference) quiet() bool {
	for _, s := range r.tenants {
		if len(s.queue) > 0 || s.claim > 0 {
			return false
		}
	}
	return true
}

// clean forgets claims that have lapsed and tenants that ask for nothing and owe nothing, and begins
// anew when nobody asks.
func (r *reference) clean() {
	for _, s := range r.tenants {
		if s.claim > 0 && s.until < r.now {
			s.claim = 0
		}
	}
	if h := r.head(); h != nil && r.virtual.Cmp(h.start) < 0 {
		r.virtual = h.start
	}
	if r.quiet() {
		r.tenants, r.virtual = map[int]*share{}, new(big.Int)
	}
	for key, s := range r.tenants {
		if len(s.queue) == 0 && s.claim == 0 && s.start.Cmp(r.virtual) <= 0 {
			delete(r.tenants, key)
		}
	}
}

func (r *reference) weightOf(key int) int64 {
	if w, ok := r.weights[key]; ok {
		return w
	}
	return r.weight
}

func (r *reference) of(key int) *share {
	s := r.tenants[key]
	if s == nil {
		s = &share{start: new(big.Int), rest: new(big.Int), weight: r.weightOf(key)}
		r.tenants[key] = s
	}
	return s
}

// head returns the tenant whose waiter is next.
func (r *reference) head() *share {
	var all []*share
	for _, s := range r.tenants {
		if len(s.queue) > 0 {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b *share) int {
		if c := a.start.Cmp(b.start); c != 0 {
			return c
		}
		return a.order - b.order
	})
}

// claimed is how much tenants other than not claim before a tag.
func (r *reference) claimed(before *big.Int, not *share) (sum int64) {
	for _, s := range r.tenants {
		if s != not && s.claim > 0 && s.start.Cmp(before) < 0 {
			sum += s.claim
		}
	}
	return sum
}

func (r *reference) begin(s *share) {
	if s.start.Cmp(r.virtual) < 0 {
		s.start, s.rest = r.virtual, new(big.Int)
	}
	r.orders++
	s.order = r.orders
}

func (r *reference) charge(s *share, n int64) {
	if r.virtual.Cmp(s.start) < 0 {
		r.virtual = s.start
	}
	cost := new(big.Int).Lsh(big.NewInt(n), 64)
	cost.Add(cost, s.rest)
	step, rest := new(big.Int).DivMod(cost, big.NewInt(s.weight), new(big.Int))
	s.start, s.rest = step.Add(step, s.start), rest
	r.orders++
	s.order = r.orders
}

// take is Limiter.Take.
func (r *reference) take(key int, n int64) bool {
	ok := r.try(key, n, true)
	r.serve()
	return ok
}

// try takes n permits if the tenant may have them now, and else notes the claim if asked to.
func (r *reference) try(key int, n int64, claim bool) bool {
	r.clean()
	quiet, s := r.quiet(), r.of(key)
	keeps := s.claim > 0 && n <= s.claim
	start := s.start
	if !keeps && start.Cmp(r.virtual) < 0 {
		start = r.virtual
	}
	ahead, h := r.claimed(start, s), r.head()
	behind := h != nil && start.Cmp(h.start) >= 0
	if behind {
		ahead += h.queue[0].n
	}
	if pass, _ := r.bucket.Peek(r.now, n+ahead); pass && !behind {
		r.bucket.Take(r.now, n)
		if !quiet {
			if !keeps {
				r.begin(s)
			}
			r.charge(s, n)
			s.claim = 0
		}
		return true
	}
	if claim && n <= r.capacity && len(s.queue) == 0 {
		if !keeps {
			r.begin(s)
		}
		s.claim, s.until = n, r.now+max(1, r.retry(n+ahead))+r.hold
	}
	return false
}

// retry is when the bucket will have earned n permits, which may be more than it holds.
func (r *reference) retry(n int64) int64 {
	_, retry := r.bucket.Peek(r.now, min(n, r.capacity))
	if n > r.capacity {
		retry += (n - r.capacity) * referencePer / referenceTokens
	}
	return retry
}

// wait is Limiter.Wait, and reports whether it was granted or queued.
func (r *reference) wait(key, id int, n int64) {
	if r.try(key, n, false) {
		r.granted = append(r.granted, grant{id, r.now})
		r.serve()
		return
	}
	s := r.of(key)
	if len(s.queue) == 0 {
		r.begin(s)
	}
	s.claim = 0
	s.queue = append(s.queue, request{id, n})
	r.serve()
}

// serve grants what can be granted now, and returns when to look again.
func (r *reference) serve() (next int64, waits bool) {
	for {
		r.clean()
		h := r.head()
		if h == nil {
			return 0, false
		}
		n, ahead := h.queue[0].n, r.claimed(h.start, nil)
		if ok, _ := r.bucket.Peek(r.now, n+ahead); !ok {
			next = r.now + r.retry(n+ahead)
			for _, s := range r.tenants {
				if ahead > 0 && s.claim > 0 {
					next = min(next, s.until+1)
				}
			}
			return next, true
		}
		r.bucket.Take(r.now, n)
		r.granted = append(r.granted, grant{h.queue[0].id, r.now})
		h.queue = h.queue[1:]
		r.charge(h, n)
	}
}

// cancel takes a waiter out, wherever it is.
func (r *reference) cancel(id int) {
	for _, s := range r.tenants {
		s.queue = slices.DeleteFunc(s.queue, func(q request) bool { return q.id == id })
	}
	r.serve()
}

// setWeight changes a weight; a debt stays so many permits.
func (r *reference) setWeight(key int, w int64) {
	r.clean()
	r.weights[key] = w
	if s := r.tenants[key]; s != nil && s.weight != w {
		if debt := new(big.Int).Sub(s.start, r.virtual); debt.Sign() > 0 {
			debt.Mul(debt, big.NewInt(s.weight))
			debt.Div(debt, big.NewInt(w))
			s.start = debt.Add(debt, r.virtual)
		}
		s.weight, s.rest = w, new(big.Int)
	}
	r.serve()
}

// moveTo moves time on, instant by instant.
func (r *reference) moveTo(to int64) {
	for {
		next, waits := r.serve()
		if !waits || next > to {
			break
		}
		r.now = max(next, r.now+1)
	}
	r.now = to
	r.serve()
}
