package cases

import (
	"fmt"
	"time"

	"github.com/penstock-go/penstock/cmd/internal/limits"
	"github.com/penstock-go/penstock/engine"
)

// farEnd is the last time of a limiter whose clock is coarse: 2^53 microseconds,
// the largest integers that stores may be left with.
const farEnd = time.Duration(1<<53) * time.Microsecond

// player makes the calls of one run on one limiter and judges the answers.
//
// Where the limiter's clock is coarser than the times of the case, a call that
// is to pass is made at the next tick, and one that is not at the tick before.
// What was charged late is due late, so that a call that is to pass and is told
// to wait for one tick more is made again a tick later. A wait may be longer by
// less than a tick, never shorter; by less than two once a call was made late.
type player struct {
	limiter Limiter
	spec    limits.Spec
	tick    time.Duration
	begin   time.Duration // the limiter's time at which the case begins
	latest  time.Duration // of the calls as they were made, since begin: time never moves back
	newest  time.Duration // of the calls as the case has them
	late    bool          // a call was made later than the case says
	err     error         // of the last call
}

func newPlayer(c Case, spec limits.Spec, in Setting, limiter Limiter) *player {
	p := &player{limiter: limiter, spec: spec, tick: max(in.Tick, 1)}
	if p.tick > 1 {
		p.begin = in.Origin
		if last := c.last(); last > farEnd-in.Origin {
			p.begin = max(0, farEnd-last-24*time.Hour)
		}
		p.begin -= p.begin % spec.Per
		p.latest, p.newest = c.first(), c.first()
	}
	return p
}

// OnTicks tells whether all times of the case are whole ticks.
func (c *Case) OnTicks(tick time.Duration) bool {
	for _, call := range c.Calls {
		if tick > 1 && *call.AtNanos%int64(tick) != 0 {
			return false
		}
	}
	return true
}

// first returns the time of the first call, rounded down to seconds, and last
// that of the latest.
func (c *Case) first() time.Duration {
	return wholeTicks(time.Duration(*c.Calls[0].AtNanos), time.Second)
}

func (c *Case) last() (at time.Duration) {
	for _, call := range c.Calls {
		at = max(at, time.Duration(*call.AtNanos))
	}
	return at
}

// play makes a call of a case under a key and judges the answer.
func (p *player) play(c Call, key string) (got, want string, ok bool) {
	at := time.Duration(*c.AtNanos)
	if p.tick == 1 {
		return p.judge(c, p.take(at, key, *c.N), 0)
	}
	whole := wholeTicks(at, p.tick)
	if whole < at && *c.WantAllow {
		whole, p.late = whole+p.tick, true
	}
	p.latest, p.newest = max(p.latest, whole), max(p.newest, time.Duration(*c.AtNanos))
	d := p.take(p.latest, key, *c.N)
	if p.late && *c.WantAllow && !d.Allowed && d.RetryAfter == p.tick {
		p.latest += p.tick
		d = p.take(p.latest, key, *c.N)
	}
	return p.judge(c, d, max(0, p.latest-p.newest))
}

// wholeTicks rounds a time down to ticks.
func wholeTicks(at, tick time.Duration) time.Duration {
	rest := at % tick
	if rest < 0 {
		rest += tick
	}
	return at - rest
}

func (p *player) take(at time.Duration, key string, n int64) engine.Decision {
	d := p.limiter.TakeAt(p.begin+at, key, n)
	if failing, ok := p.limiter.(Failing); ok {
		p.err = failing.Err()
	}
	return d
}

// judge tells whether an answer is right, and which would have been. The call
// was made late by so much.
func (p *player) judge(c Call, d engine.Decision, late time.Duration) (got, want string, ok bool) {
	got = answer(d.Allowed, d.RetryAfter)
	switch {
	case p.err != nil:
		return p.err.Error(), "an answer", false
	case *c.WantAllow:
		return got, answer(true, 0), d.Allowed && d.RetryAfter == 0
	case c.WantRetryAfterNanos != nil:
		exact := time.Duration(*c.WantRetryAfterNanos)
		return got, p.wanted(exact), !d.Allowed && p.near(d.RetryAfter, exact, late)
	}
	longest := limits.LongestWait(p.spec, *c.N)
	if longest == engine.Never {
		return got, answer(false, engine.Never), !d.Allowed && d.RetryAfter == engine.Never
	}
	return got, fmt.Sprintf("denied, retry-after from %v to %v", p.tick, longest+p.tick-1),
		!d.Allowed && d.RetryAfter >= p.tick && d.RetryAfter-longest < p.tick
}

// near tells whether a wait is the one wanted, up to the ticks of the clock.
func (p *player) near(got, want, late time.Duration) bool {
	if want == engine.Never || p.tick == 1 {
		return got == want
	}
	slack := p.tick
	if p.late {
		slack *= 2
	}
	return got >= want-late && got-(want-late) < slack
}

func (p *player) wanted(exact time.Duration) string {
	text := answer(false, exact)
	if p.tick > 1 && exact != engine.Never {
		text += fmt.Sprintf(" in ticks of %v", p.tick)
	}
	return text
}
