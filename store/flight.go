package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
)

// maxTries bounds the compare-and-swaps of a charge.
const maxTries = 4

// flights brings the calls of this process for one key together: while one of them, the leader, is
// on its way to the store, the others wait, and the next leader takes all of them along. So that a
// process never races against itself, and its calls share round trips.
type flights struct {
	mu    sync.Mutex
	byKey map[string]*flight
}

// flight is the calls that wait for their leader's return.
type flight struct{ waiting []*ticket }

// ticket is one call on a flight.
type ticket struct {
	least, most int64
	wake        chan bool // true: lead the next flight; false: the outcome is there
	aboard      bool      // a leader has taken it along; guarded by flights.mu
	gone        bool      // its caller does not wait any more; guarded by flights.mu
	charged     charged
	err         error
}

func (f *flights) init() { f.byKey = map[string]*flight{} }

// join returns a ticket; leads reports whether its holder is to lead at once.
func (f *flights) join(key string, least, most int64) (t *ticket, leads bool) {
	t = &ticket{least: least, most: most}
	f.mu.Lock()
	defer f.mu.Unlock()
	if waiting, ok := f.byKey[key]; ok {
		t.wake = make(chan bool, 1)
		waiting.waiting = append(waiting.waiting, t)
		return t, false
	}
	f.byKey[key] = &flight{}
	return t, true
}

// board returns all who go with leader, the leader first.
func (f *flights) board(key string, leader *ticket) []*ticket {
	f.mu.Lock()
	defer f.mu.Unlock()
	crew, flight := []*ticket{leader}, f.byKey[key]
	for _, t := range flight.waiting {
		if !t.gone {
			t.aboard = true
			crew = append(crew, t)
		}
	}
	flight.waiting = nil
	return crew
}

// land gives the crew their outcomes and makes the next who waits the leader.
func (f *flights) land(key string, crew []*ticket) {
	for _, t := range crew[1:] {
		t.wake <- false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	flight := f.byKey[key]
	for i, t := range flight.waiting {
		if !t.gone {
			t.aboard, flight.waiting = true, flight.waiting[i+1:]
			t.wake <- true
			return
		}
	}
	delete(f.byKey, key)
}

// forgo ends the wait of a ticket, and reports whether no leader has taken it along.
func (f *flights) forgo(t *ticket) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	t.gone = true
	return !t.aboard
}

// chargeByWord takes least to most permits of a key by compare-and-swap, together with all calls for
// it that wait. A call that failed because its leader's time was up before anything was charged tries
// once more by itself.
func (s *Shared) chargeByWord(ctx context.Context, key string, least, most int64) (charged, error) {
	c, led, err := s.fly(ctx, key, least, most)
	if !led && errors.Is(err, ErrUnavailable) && ctx.Err() == nil && isContext(err) {
		c, _, err = s.fly(ctx, key, least, most)
	}
	return c, err
}

// isContext reports whether an error is the end of somebody's context.
func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// fly takes part in a flight, and reports whether it has led it.
func (s *Shared) fly(ctx context.Context, key string, least, most int64) (c charged, led bool, err error) {
	t, leads := s.flights.join(key, least, most)
	if !leads {
		select {
		case leads = <-t.wake:
		case <-ctx.Done():
			return s.leaveEarly(ctx, key, t)
		}
	}
	if !leads {
		return t.charged, false, t.err
	}
	crew := s.flights.board(key, t)
	defer s.flights.land(key, crew)
	for _, t := range crew {
		t.err = errPanicked
	}
	err = s.backend.guarded(ctx, s.backend.node(key), func() error { return s.swap(ctx, key, crew) })
	for _, t := range crew {
		t.err = err
	}
	return t.charged, true, err
}

// leaveEarly ends the wait of a ticket whose caller's time is up.
func (s *Shared) leaveEarly(ctx context.Context, key string, t *ticket) (charged, bool, error) {
	late := fmt.Errorf("%w: still waiting for an earlier call for the key: %w", ErrUnavailable, ctx.Err())
	if s.flights.forgo(t) {
		return charged{}, false, late
	}
	select {
	case leads := <-t.wake:
		if leads { // the lead goes on to the next
			s.flights.land(key, []*ticket{t})
			return charged{}, true, late
		}
		return t.charged, false, t.err // it came at the last moment
	default:
		return charged{}, false, fmt.Errorf("%w: %w", ErrUnknownOutcome, ctx.Err())
	}
}

// swap is a flight: it takes what the crew wants, in their order, and writes once.
func (s *Shared) swap(ctx context.Context, key string, crew []*ticket) error {
	at, err := s.backend.storage.Get(ctx, key)
	if err != nil {
		return read(err)
	}
	for try := range maxTries {
		next, dirty := s.decide(at, crew)
		if !dirty {
			return nil
		}
		fresh, ok, err := s.backend.storage.CompareAndSwap(ctx, key, at.Word, next, s.law.Life(next, at.Now))
		if err != nil {
			return written(err)
		}
		if ok {
			return nil
		}
		s.counters.retries.Add(1)
		if at = fresh; try == maxTries-1 {
			break
		}
		if err := pause(ctx, try); err != nil {
			return fmt.Errorf("%w: %w", ErrContended, err)
		}
	}
	return fmt.Errorf("%w: %d tries", ErrContended, maxTries)
}

// decide makes the decisions of a crew on a reading, and reports the word that is to be written, if
// there is one.
func (s *Shared) decide(at Reading, crew []*ticket) (next uint64, dirty bool) {
	word := at.Word
	if word != 0 && !atomicstate.IsLive(word) {
		s.counters.foreign.Add(1)
	}
	if s.backend.info.SharedClock {
		if word, dirty = s.law.Settle(word, at.Now); dirty {
			s.counters.settled.Add(1)
		}
	}
	for _, t := range crew {
		t.charged = charged{word: word, now: at.Now}
		if next, taken := s.law.Take(word, at.Now, t.least, t.most); taken > 0 {
			t.charged.taken, word, dirty = taken, next, true
		}
	}
	return word, dirty
}

// firstPause is the longest wait after the first race lost; it doubles with each.
const firstPause = 500 * time.Microsecond

// pause waits at random, so that those who raced do not meet again.
func pause(ctx context.Context, try int) error {
	timer := time.NewTimer(rand.N(firstPause << try))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
