package hybrid

import (
	"math"
	"time"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/store"
)

// refusal is a "no" of the store that is still true, since other calls can only put off the time from
// which a call passes; or one that saves the store from being asked too often. It is immutable.
type refusal struct {
	n       int64 // permits that were asked for; more are refused too
	until   int64 // end, exclusive, of the time in which it is answered: before the call can pass
	retryAt int64 // from when it passes with no other traffic, never before until
	resetAt int64
	left    int64 // permits that the store had
	paced   bool  // the store is not asked for now: it would say yes to other n perhaps
}

// refuse writes the answer to a call of n permits at now, if the refusal answers it.
func (l *Limiter) refuse(d *store.Decision, r *refusal, n, now int64) bool {
	if now >= r.until || n > l.capacity || n < r.n || n > r.n && !l.linear && !r.paced {
		return false
	}
	d.Limit = l.capacity
	d.Remaining = r.left
	d.RetryAfter = after(r.retryAt, now)
	if more := n - r.n; more > 0 && r.retryAt != never {
		d.RetryAfter += l.earn(more)
	}
	d.ResetAfter = after(r.resetAt, now)
	d.Source = store.SourceNegative
	return true
}

// earn returns how long it takes to earn n permits, a tick more at most.
func (l *Limiter) earn(n int64) time.Duration {
	if l.perNano <= 0 {
		return engine.Never
	}
	return time.Duration(min(math.Ceil(float64(n)/l.perNano), math.MaxInt64/4)) + l.tick
}

// refusalOf is the refusal that a decision of the store on n permits amounts to: sent before, answered
// at now; nil if there is none. What counts is that the store cannot say yes before the retry-after is
// over since it said no, which was not before sent; and that nobody is told to come too early, so that
// the wait is counted from now.
func (l *Limiter) refusalOf(d *store.Decision, n, sent, now int64) *refusal {
	end := at(sent, l.negative)
	if d.RetryAfter != engine.Never {
		end = min(end, at(sent, d.RetryAfter))
	}
	if end <= now {
		return nil
	}
	return &refusal{
		n: n, until: end, left: d.Remaining,
		retryAt: at(now, d.RetryAfter), resetAt: at(now, d.ResetAfter),
	}
}

// pacedOf is the refusal of calls of n permits or more that a hot key's lease cannot serve, until the
// store is asked again: after its answer d, which was no or left it short.
func (l *Limiter) pacedOf(d *store.Decision, n, sent, now int64) *refusal {
	r := l.refusalOf(d, n, sent, now)
	if d.Allowed || r == nil {
		r = &refusal{n: n, until: now, retryAt: at(now, d.RetryAfter), resetAt: at(now, d.ResetAfter)}
	}
	if d.Allowed && d.Remaining < n {
		r.retryAt = at(now, l.earn(n-d.Remaining))
	}
	r.until, r.paced = max(r.until, sent+l.pace()), true
	if r.until <= now {
		return nil
	}
	if r.retryAt != never {
		r.retryAt = max(r.retryAt, r.until)
	}
	return r
}
