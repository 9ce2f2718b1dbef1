package atomicstate_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/oracle"
)

// ledger drives one word by takes, reservations and refunds, and keeps every charge that was not
// given up.
type ledger struct {
	law      atomicstate.Law
	word     uint64
	now      int64
	acts     []atomicstate.Act     // not given up, in order of charge
	promised []atomicstate.Promise // to act later, by time
	kept     int                   // charges given up of which not all was given back at once
	back     int                   // those of which something was
	late     int                   // times that more than the one given up then was given back
}

func (l *ledger) charge(word uint64, wait, n int64) {
	l.word = word
	act := atomicstate.Act{At: l.now + wait, N: n}
	l.acts = append(l.acts, act)
	if wait > 0 {
		i := len(l.promised)
		for i > 0 && l.promised[i-1].At > act.At {
			i--
		}
		l.promised = slices.Insert(l.promised, i, atomicstate.Promise{Act: act})
	}
}

func (l *ledger) take(n int64) {
	if next, ok := l.law.Take(l.word, l.now, n); ok {
		l.charge(next, l.law.Delay(next, l.now, n), n)
	}
}

func (l *ledger) reserve(n int64) {
	if next, wait, ok := l.law.Reserve(l.word, l.now, n); ok {
		l.charge(next, wait, n)
	}
}

// giveUp gives up the i-th charge; late ones too, as if their holders had not acted.
func (l *ledger) giveUp(i int) {
	act := l.acts[i]
	l.acts = slices.Delete(l.acts, i, i+1)
	if act.At <= l.now {
		next, ok := l.law.Refund(l.word, act, l.now, act.N, l.promised)
		l.word = next
		l.count(ok, !ok)
		return
	}
	unit := int64(l.law.Usage(l.word, l.now).PerPermit)
	for i, p := range l.promised {
		if p.Act == act && p.Owed == 0 {
			l.promised[i].Owed = act.N * unit
			break
		}
	}
	next, given := l.law.Release(l.word, l.now, l.promised)
	l.word = next
	l.count(given > 0, given < act.N*unit)
	if given > act.N*unit {
		l.late++
	}
	for i := len(l.promised) - 1; i >= 0; i-- {
		part := min(given, l.promised[i].Owed)
		l.promised[i].Owed -= part
		given -= part
		if part > 0 && l.promised[i].Owed == 0 {
			l.promised = slices.Delete(l.promised, i, i+1)
		}
	}
}

func (l *ledger) count(back, kept bool) {
	if back {
		l.back++
	}
	if kept {
		l.kept++
	}
}

func (l *ledger) advance(d int64) {
	l.now += d
	l.promised = slices.DeleteFunc(l.promised, func(p atomicstate.Promise) bool { return p.At <= l.now })
}

func (l *ledger) admissions() []oracle.Admission {
	all := make([]oracle.Admission, len(l.acts))
	for i, a := range l.acts {
		all[i] = oracle.Admission(a)
	}
	return all
}

// step makes one random move.
func (l *ledger) step(rnd *rand.Rand, most int64) {
	switch rnd.IntN(8) {
	case 0, 1:
		l.advance(rnd.Int64N(6))
	case 2:
		l.take(1 + rnd.Int64N(most))
	case 3, 4, 5:
		l.reserve(1 + rnd.Int64N(most))
	default:
		if len(l.acts) > 0 {
			l.giveUp(max(0, len(l.acts)-1-rnd.IntN(6)))
		}
	}
}

// TestReservationsKeepTheBound: whatever is taken, reserved and given up, what acts obeys the bound
// in every interval.
func TestReservationsKeepTheBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 22))
	back, kept, late, acted := 0, 0, 0, 0
	for range 5000 {
		law := bucket(t, 1+rnd.Int64N(7), time.Duration(1+rnd.Int64N(9)), 1+rnd.Int64N(8))
		tokens, per := law.Rate()
		l := &ledger{law: law, word: law.Fresh(0)}
		for range 60 {
			l.step(rnd, law.Capacity())
		}
		back, kept, late, acted = back+l.back, kept+l.kept, late+l.late, acted+len(l.acts)
		require.NoError(t, oracle.Bound(tokens, per, law.Capacity(), l.admissions()), "%v", l.acts)
	}
	require.Greater(t, back, 10000)
	require.Greater(t, kept, 10000)
	require.Greater(t, late, 1000)
	require.Greater(t, acted, 10000)
	t.Logf("%d acted; of those given up %d gave something back, %d less than all, %d more", acted, back, kept, late)
}

// TestReserveIsATakeAtItsTime: reservations that nobody gives up answer as takes that come back
// when they are told to, and no earlier instant would do.
func TestReserveIsATakeAtItsTime(t *testing.T) {
	rnd := rand.New(rand.NewPCG(23, 24))
	waits := 0
	for range 3000 {
		limit, window := 1+rnd.Int64N(8), time.Duration(1+rnd.Int64N(40))
		for _, law := range []atomicstate.Law{
			bucket(t, 1+rnd.Int64N(7), time.Duration(1+rnd.Int64N(9)), limit),
			must(atomicstate.NewFixedWindow(limit, window)),
			must(atomicstate.NewSlidingWindow(limit, window)),
		} {
			word, now, last := law.Fresh(0), int64(0), int64(0)
			for range 30 {
				n := 1 + rnd.Int64N(limit)
				next, wait, ok := law.Reserve(word, now, n)
				require.True(t, ok)
				at := now + wait
				require.GreaterOrEqual(t, at, last, "the order of reservations is the order of their times")
				if wait > 0 {
					_, early := law.Take(word, at-1, n)
					require.False(t, early)
					require.False(t, law.Inspect(next, now, 1).Allowed, "nobody passes by")
					waits++
				}
				taken, ok := law.Take(word, at, n)
				require.True(t, ok)
				require.Equal(t, taken, next)
				word, last = next, at
				now += rnd.Int64N(5)
			}
		}
	}
	require.Greater(t, waits, 100000)
}

// TestWindowsHoldReservationsToTheirLimits: each fixed window holds its limit, and each act of a
// sliding window passes the exact formula, whatever is given up.
func TestWindowsHoldReservationsToTheirLimits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(25, 26))
	back := 0
	for range 4000 {
		limit, window := 1+rnd.Int64N(8), 1+rnd.Int64N(30)
		fixed := &ledger{law: must(atomicstate.NewFixedWindow(limit, time.Duration(window)))}
		sliding := &ledger{law: must(atomicstate.NewSlidingWindow(limit, time.Duration(window)))}
		for _, l := range []*ledger{fixed, sliding} {
			l.word = l.law.Fresh(0)
			for range 60 {
				l.step(rnd, limit)
			}
			back += l.back
		}
		counts := map[int64]int64{}
		for _, a := range fixed.acts {
			counts[a.At/window] += a.N
			require.LessOrEqual(t, counts[a.At/window], limit)
		}
		slices.SortStableFunc(sliding.acts, func(a, b atomicstate.Act) int { return int(a.At - b.At) })
		counts = map[int64]int64{}
		for _, a := range sliding.acts {
			k, e := a.At/window, a.At%window
			counts[k] += a.N
			require.LessOrEqual(t, counts[k-1]*(window-e)+counts[k]*window, limit*window)
		}
	}
	require.Greater(t, back, 20000)
}

// TestQueueTurnsAreKept: permits leave a queue one after the other, whatever is given up.
func TestQueueTurnsAreKept(t *testing.T) {
	rnd := rand.New(rand.NewPCG(27, 28))
	back := 0
	for range 4000 {
		unit := 1 + rnd.Int64N(9)
		law := must(atomicstate.NewLeakyQueue(1, time.Duration(unit), 1+rnd.Int64N(8)))
		l := &ledger{law: law, word: law.Fresh(0)}
		for range 60 {
			l.step(rnd, law.Capacity())
		}
		slices.SortStableFunc(l.acts, func(a, b atomicstate.Act) int { return int(a.At - b.At) })
		for i := 1; i < len(l.acts); i++ {
			require.GreaterOrEqual(t, l.acts[i].At, l.acts[i-1].At+l.acts[i-1].N*unit)
		}
		back += l.back
	}
	require.Greater(t, back, 10000)
}

// TestReserveNever: what cannot pass, or only beyond what a word can tell, is not promised.
func TestReserveNever(t *testing.T) {
	still := bucket(t, 0, 1, 2)
	word, wait, ok := still.Reserve(still.Fresh(0), 0, 2)
	require.True(t, ok)
	require.Zero(t, wait)
	for _, law := range []atomicstate.Law{
		still, must(atomicstate.NewFixedWindow(1, 1)), must(atomicstate.NewSlidingWindow(1, 1)), must(atomicstate.NewLeakyQueue(1, 1, 1)),
	} {
		_, wait, ok = law.Reserve(law.Fresh(0), 0, 3)
		require.False(t, ok)
		require.Equal(t, atomicstate.Never, wait)
	}
	_, wait, ok = still.Reserve(word, 0, 1)
	require.False(t, ok)
	require.Equal(t, atomicstate.Never, wait)

	fast := bucket(t, 1<<26, 1, 1<<55)
	word = fast.Fresh(0)
	for {
		next, wait, ok := fast.Reserve(word, 0, 1<<55)
		if !ok {
			require.Greater(t, wait, fast.Horizon()/8)
			break
		}
		require.LessOrEqual(t, fast.Debt(next, 0), atomicstate.MaxDebt)
		word = next
	}
}
