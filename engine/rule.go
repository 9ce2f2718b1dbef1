package engine

import (
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/sched"
	"github.com/penstock-go/penstock/sharded"
)

// verdict tells how a rule decides.
type verdict uint8

const (
	byWord verdict = iota // by its law, on the key's word
	byLog                 // by the key's log
	always                // without a look at the key
	never                 // without a look at the key
)

// rule is a limit made ready. It is immutable.
type rule struct {
	bucket  atomicstate.Bucket // the law, if other is nil: spares an interface call
	other   atomicstate.Law    // the law, if it is not a bucket
	law     atomicstate.Law    // the law, whatever it is; nil unless verdict is byWord
	number  uint32             // of the law in the table
	verdict verdict
	limit   Limit
}

// take charges a word with n >= 1 permits, by the rule's law. tryWord and chargeWord have the same written
// out: it is too large to be inlined.
func (r *rule) take(word uint64, now, n int64) (next uint64, ok bool) {
	if r.other == nil {
		return r.bucket.Take(word, now, n)
	}
	return r.other.Take(word, now, n)
}

// passed is the answer to a call that a bucket let pass, but for the delay of a queue.
func (r *rule) passed(word uint64, now int64) Decision {
	left, reset := r.bucket.Left(word, now)
	return Decision{Allowed: true, Limit: r.limit.burst, Remaining: left, ResetAfter: time.Duration(reset)}
}

// delays reports whether a call that passes may have to wait for its turn.
func (r *rule) delays() bool { return r.limit.algorithm == leakyQueue }

// logLimit is the limit of a rule by log.
func (r *rule) logLimit() sharded.LogLimit {
	return sharded.LogLimit{Limit: r.limit.tokens, WindowNanos: int64(r.limit.period)}
}

// newRule makes a valid limit ready for a table.
func newRule(l Limit, table *sharded.Table) *rule {
	r := &rule{limit: l}
	switch l.algorithm {
	case unlimited:
		r.verdict = always
	case blocked:
		r.verdict = never
	case slidingLog:
		r.verdict = byLog
	default:
		r.law = l.law()
		r.number = table.Register(r.law)
		switch law := r.law.(type) {
		case *atomicstate.Bucket:
			r.bucket = *law
		case *atomicstate.LeakyQueue:
			r.bucket = law.Bucket
		default:
			r.other = law
		}
	}
	return r
}

// maxLimits bounds the different limits that a limiter gets to know in its life: a resolver that
// makes up a new one for each call would otherwise fill the memory.
const maxLimits = 1 << 16

// ruleBook knows the rule of every limit met so far. Looking one up takes no lock and does not
// allocate.
type ruleBook struct {
	known *sched.MapOf[Limit, *rule] // nil rule: the limit is invalid
	check func(Limit) error          // what else, besides the limit's numbers, rules it out
	mu    sched.Mutex                // guards additions
}

// find returns the rule of a limit that was met before.
func (b *ruleBook) find(l Limit) (r *rule, met bool) { return b.known.Load(l) }

// learn returns the rule of l, making it if needed; nil if l is invalid or one limit too many.
func (b *ruleBook) learn(l Limit, table *sharded.Table) *rule {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r, met := b.find(l); met || b.known.Size() >= maxLimits {
		return r
	}
	var r *rule
	if l.Validate() == nil && b.check(l) == nil {
		r = newRule(l, table)
	}
	b.known.Store(l, r)
	return r
}
