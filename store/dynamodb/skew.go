package dynamodb

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/penstock-go/penstock/store"
)

const (
	// dateGrain is the resolution of a Date header: the server's time is from it to a second later.
	dateGrain = time.Second
	// skewEvery is how long answers are taken together; those of the period before count too.
	skewEvery = 30 * time.Second
	// skewStale is how long a measurement is good for: after that, an item is read first.
	skewStale = time.Minute
	// skewStep is by how much the clock may differ from a monotonic one since the last answer until it is
	// taken to have been set. Clocks that are slewed differ by 30 ms in a minute.
	skewStep = 100 * time.Millisecond
	// skewAgain is how often a clock that is refused is looked at again.
	skewAgain = time.Second
)

// skew measures how far the clock is ahead of the server's. An answer was made between the sending of its
// request and its arrival, by the clock, and between its Date and a second later, by the server: that
// bounds the difference from both sides, a second and a round trip apart. The bounds of several
// answers hold together, so that the best of each are little more than a round trip apart
// once the Date has changed between two of them.
type skew struct {
	most time.Duration // what is allowed; AnySkew: all

	mu        sync.Mutex
	now, past bounds        // of this period and the one before
	started   time.Time     // of this period
	last      time.Time     // the last answer, monotonic
	clock     time.Duration // the clock at the last answer
	dateless  bool          // the last answer had no Date
}

// bounds of the difference between the clock and the server's; not ok: none yet.
type bounds struct {
	low, high time.Duration
	ok        bool
}

// with returns bounds that hold if both do, and whether both can.
func (b bounds) with(c bounds) (bounds, bool) {
	if !b.ok {
		return c, true
	}
	if !c.ok {
		return b, true
	}
	both := bounds{max(b.low, c.low), min(b.high, c.high), true}
	return both, both.low <= both.high
}

// observe takes in an answer: began is when its request was sent by the monotonic clock, sent and
// received are readings of the clock.
func (s *skew) observe(began time.Time, sent, received time.Duration, date string) {
	if s.most == AnySkew {
		return
	}
	server, err := http.ParseTime(date)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dateless = err != nil; s.dateless {
		return
	}
	if received < sent { // the clock was set back while the answer was on its way
		s.now, s.past, s.last = bounds{}, bounds{}, time.Time{}
		return
	}
	at := time.Duration(server.UnixNano())
	answer := bounds{sent - at - dateGrain, received - at, true}
	if !s.last.IsZero() && stepped(sent-s.clock, began.Sub(s.last)) {
		s.now, s.past = bounds{}, bounds{}
	}
	if began.Sub(s.started) > skewEvery {
		s.past, s.now, s.started = s.now, bounds{}, began
	}
	var agrees bool
	if s.now, agrees = s.now.with(answer); agrees {
		_, agrees = s.now.with(s.past)
	}
	if !agrees { // the clocks have moved apart: what was measured before does not hold any more
		s.now, s.past = answer, bounds{}
	}
	s.last, s.clock = time.Now(), received
}

// stepped reports whether a clock did not go as the monotonic one did.
func stepped(clock, monotonic time.Duration) bool {
	return clock-monotonic > skewStep || monotonic-clock > skewStep
}

// measured returns the bounds that hold at present.
func (s *skew) measured() (low, high time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.both()
	return b.low, b.high, b.ok
}

// both is called with mu held.
func (s *skew) both() bounds {
	b, _ := s.now.with(s.past)
	return b
}

// fresh reports whether the clock need not be measured again before it is relied on: it was lately, and
// has gone on since as it should; or was found wrong a moment ago.
func (s *skew) fresh(clock time.Duration) bool {
	if s.most == AnySkew {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.IsZero() {
		return false
	}
	since := time.Since(s.last)
	if s.beyond(s.both()) {
		return since < skewAgain
	}
	return since < skewStale && !stepped(clock-s.clock, since)
}

// beyond reports whether bounds lie outside of what is allowed.
func (s *skew) beyond(b bounds) bool { return b.ok && (b.low > s.most || b.high < -s.most) }

// refuses returns an error if the clock is surely too far from the server's, or was never compared
// with it.
func (s *skew) refuses() error {
	if s.most == AnySkew {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.both()
	switch {
	case s.dateless:
		return fmt.Errorf("%w: %w: the server's answers have no usable Date: let proxies pass it on, or see WithMaxSkew",
			store.ErrUnavailable, ErrSkew)
	case s.beyond(b):
		return fmt.Errorf("%w: %w: it is ahead by %v to %v, at most %v either way is allowed: set it by NTP, or see WithMaxSkew",
			store.ErrUnavailable, ErrSkew, b.low, b.high, s.most)
	case !b.ok:
		return fmt.Errorf("%w: %w: it was set while it was being compared", store.ErrUnavailable, ErrSkew)
	}
	return nil
}
