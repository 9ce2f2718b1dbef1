package atomicstate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/stretchr/testify/require"
)

// family is a law with its oracle: a new algorithm adds a row.
type family struct {
	name string
	draw func(rnd *rand.Rand) (atomicstate.Law, oracle.Model, time.Duration) // and the time scale
}

var families = []family{
	{"bucket", func(rnd *rand.Rand) (atomicstate.Law, oracle.Model, time.Duration) {
		tokens, per, burst := 1+rnd.Int64N(1000), time.Duration(1+rnd.Int64N(int64(time.Minute))), 1+rnd.Int64N(100)
		law, err := atomicstate.NewBucket(tokens, per, burst)
		return must(law, err), oracle.NewTokenBucket(tokens, per, burst), per / time.Duration(tokens)
	}},
	{"leaky_queue", func(rnd *rand.Rand) (atomicstate.Law, oracle.Model, time.Duration) {
		tokens, per, burst := 1+rnd.Int64N(1000), time.Duration(1+rnd.Int64N(int64(time.Minute))), 1+rnd.Int64N(100)
		law, err := atomicstate.NewLeakyQueue(tokens, per, burst)
		return must(law, err), oracle.NewTokenBucket(tokens, per, burst), per / time.Duration(tokens)
	}},
	{"fixed_window", func(rnd *rand.Rand) (atomicstate.Law, oracle.Model, time.Duration) {
		limit, window := 1+rnd.Int64N(1<<rnd.IntN(20)), time.Duration(1000+rnd.Int64N(int64(time.Minute)))
		law, err := atomicstate.NewFixedWindow(limit, window)
		return must(law, err), oracle.NewFixedWindow(limit, window), window / 8
	}},
	{"sliding_window", func(rnd *rand.Rand) (atomicstate.Law, oracle.Model, time.Duration) {
		limit, window := 1+rnd.Int64N(1<<rnd.IntN(14)), time.Duration(100000+rnd.Int64N(int64(time.Minute)))
		law, err := atomicstate.NewSlidingWindow(limit, window)
		return must(law, err), oracle.NewSlidingWindow(limit, window), window / 8
	}},
}

func must(law atomicstate.Law, err error) atomicstate.Law {
	if err != nil {
		panic(err)
	}
	return law
}

// mind does for a word what the sweep does: it forgets what is aged or unreadable after a leap.
func mind(law atomicstate.Law, word uint64, last, now int64) uint64 {
	if uint64(now-last) >= uint64(law.Horizon()/4) && law.EqualsNew(word, last, now) || law.Aged(word, now) {
		return law.Fresh(now)
	}
	return word
}

// TestLawsEqualTheirOracles: decision, retry-after, remaining and reset of every law equal those
// of rational numbers, call by call, with steps back and leaps of time.
func TestLawsEqualTheirOracles(t *testing.T) {
	rounds := 1500
	if testing.Short() {
		rounds = 150
	}
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(31, 41))
			calls, denials := 0, 0
			for range rounds {
				law, model, scale := f.draw(rnd)
				last := int64(0)
				if rnd.IntN(2) == 0 {
					last = rnd.Int64N(1<<60) - 1<<59
				}
				word := law.Fresh(last)
				for range 60 {
					now := max(last, stepTime(rnd, last, int64(scale)))
					word = mind(law, word, last, now)
					last = now
					n := 1 + rnd.Int64N(1+law.Capacity()>>rnd.IntN(8))
					if rnd.IntN(40) == 0 {
						n = law.Capacity() + 1 + rnd.Int64N(1000)
					}
					compareCall(t, law, model, &word, now, n, &denials)
					calls++
				}
			}
			require.Greater(t, denials, calls/10)
			require.Greater(t, calls-denials, calls/10)
		})
	}
}

func stepTime(rnd *rand.Rand, last, scale int64) int64 {
	switch rnd.IntN(12) {
	case 0:
		return after(last, rnd.Int64()>>rnd.IntN(63))
	case 1, 2, 3:
		return last
	case 4:
		return after(last, 1)
	}
	return after(last, rnd.Int64N(max(1, scale)*int64(1+rnd.IntN(12))))
}

func compareCall(t *testing.T, law atomicstate.Law, model oracle.Model, word *uint64, now, n int64, denials *int) {
	t.Helper()
	state := law.Inspect(*word, now, n)
	next, ok := law.Take(*word, now, n)
	wantOK, wantRetry := model.Take(now, n)
	require.Equal(t, wantOK, ok)
	require.Equal(t, wantOK, state.Allowed)
	if !sameWait(wantRetry, state.RetryNanos) {
		require.Equal(t, wantRetry, state.RetryNanos)
	}
	if !ok {
		*denials++
		require.Equal(t, *word, next, "a denial writes nothing")
	}
	*word = next
	left := law.Inspect(*word, now, 0)
	require.Equal(t, model.Remaining(now), left.Remaining)
	if !sameWait(model.ResetAfter(now), left.ResetNanos) {
		require.Equal(t, model.ResetAfter(now), left.ResetNanos)
	}
	require.Equal(t, left.ResetNanos == 0, law.EqualsNew(*word, now, now))
}

// sameWait treats waits beyond the end of time alike.
func sameWait(want, got int64) bool {
	return want == got || want == math.MaxInt64 && got > math.MaxInt64/2
}

// TestRetryAndResetAreTheTruth for every law: allowed exactly then, denied 1 ns earlier; equal to
// a new one exactly then, not 1 ns earlier.
func TestRetryAndResetAreTheTruth(t *testing.T) {
	for _, f := range families {
		rnd := rand.New(rand.NewPCG(5, 55))
		checked := 0
		for range 3000 {
			law, _, scale := f.draw(rnd)
			now := rnd.Int64N(1 << 50)
			word := law.Fresh(now)
			for range 20 {
				now += rnd.Int64N(int64(scale) + 1)
				n := 1 + rnd.Int64N(law.Capacity())
				if next, ok := law.Take(word, now, n); ok {
					word = next
					continue
				}
				retry := law.Inspect(word, now, n).RetryNanos
				require.True(t, law.Inspect(word, now+retry, n).Allowed, f.name)
				require.False(t, law.Inspect(word, now+retry-1, n).Allowed, f.name)
				checked++
			}
			if reset := law.Inspect(word, now, 1).ResetNanos; reset > 0 {
				require.True(t, law.EqualsNew(word, now, now+reset), f.name)
				require.False(t, law.EqualsNew(word, now, now+reset-1), f.name)
			}
		}
		require.Greater(t, checked, 3000, f.name)
	}
}

// TestWindowsOfABackwardClock: a time before the word's window counts as its start.
func TestWindowsOfABackwardClock(t *testing.T) {
	const w = int64(time.Second)
	fixed := must(atomicstate.NewFixedWindow(1, time.Second))
	word, _ := fixed.Take(fixed.Fresh(5*w), 5*w, 1)
	s := fixed.Inspect(word, 2*w+1, 1)
	require.False(t, s.Allowed)
	require.Equal(t, 4*w-1, s.RetryNanos)
	sliding := must(atomicstate.NewSlidingWindow(1, time.Second))
	word, _ = sliding.Take(sliding.Fresh(5*w), 5*w, 1)
	s = sliding.Inspect(word, 2*w+1, 1)
	require.False(t, s.Allowed)
	require.Equal(t, 3*w-1+2*w, s.RetryNanos, "counted in full until its window ends, then sliding out by the end of the next")
	require.Equal(t, 3*w-1+2*w, s.ResetNanos)
}

// TestWindowBounds: limits that a word cannot hold are typed errors.
func TestWindowBounds(t *testing.T) {
	for _, c := range []struct {
		limit  int64
		window time.Duration
		fixed  error
		slides error
	}{
		{1, time.Second, nil, nil},
		{0, time.Second, nil, nil},
		{1 << 26, time.Minute, nil, nil},
		{1 << 30, time.Minute, nil, atomicstate.ErrTooLarge},
		{1 << 50, 24 * time.Hour, nil, atomicstate.ErrTooLarge},
		{math.MaxInt64, time.Hour, atomicstate.ErrTooLarge, atomicstate.ErrTooLarge},
		{1 << 40, time.Microsecond, atomicstate.ErrTooLarge, atomicstate.ErrTooLarge},
		{1, 1, nil, nil},
		{1, math.MaxInt64, nil, nil},
		{-1, 1, atomicstate.ErrWindow, atomicstate.ErrWindow},
		{1, 0, atomicstate.ErrWindow, atomicstate.ErrWindow},
	} {
		_, err := atomicstate.NewFixedWindow(c.limit, c.window)
		require.ErrorIs(t, err, c.fixed, fmt.Sprint(c))
		_, err = atomicstate.NewSlidingWindow(c.limit, c.window)
		require.ErrorIs(t, err, c.slides, fmt.Sprint(c))
	}
}

// TestWordsHoldUsageBeyondTheLimit: as much as the documents say.
func TestWordsHoldUsageBeyondTheLimit(t *testing.T) {
	huge := atomicstate.Usage{Units: math.MaxUint64, PerPermit: 1}
	for _, c := range []struct {
		law  atomicstate.Law
		want int64
	}{
		{must(atomicstate.NewFixedWindow(1, 1100*time.Microsecond)), 1<<40 - 1},
		{must(atomicstate.NewFixedWindow(1, time.Hour)), 1<<40 - 1},
		{must(atomicstate.NewFixedWindow(1<<45, time.Hour)), 1<<47 - 1},
		{must(atomicstate.NewSlidingWindow(1, time.Second)), 1<<24 - 1},
		{must(atomicstate.NewSlidingWindow(1, 18*time.Second)), 1<<27 - 1},
		{must(atomicstate.NewSlidingWindow(1, time.Hour)), 1<<27 - 1},
	} {
		require.Equal(t, c.want, c.law.Usage(c.law.Carry(huge, 5), 5).Permits())
	}
}

// TestWindowRefunds go to the window of their charge or nowhere.
func TestWindowRefunds(t *testing.T) {
	const w = int64(time.Second)
	fixed := must(atomicstate.NewFixedWindow(3, time.Second))
	word, _ := fixed.Take(fixed.Fresh(0), w/2, 2)
	back, ok := fixed.Refund(word, atomicstate.Act{At: w / 2, N: 1}, w-1, 1, nil)
	require.True(t, ok)
	require.EqualValues(t, 2, fixed.Inspect(back, w-1, 1).Remaining)
	_, ok = fixed.Refund(word, atomicstate.Act{At: w / 2, N: 3}, w-1, 3, nil)
	require.False(t, ok, "more than was counted")
	word, _ = fixed.Take(word, w, 1)
	_, ok = fixed.Refund(word, atomicstate.Act{At: w / 2, N: 1}, w, 1, nil)
	require.False(t, ok, "into another window's count")

	sliding := must(atomicstate.NewSlidingWindow(4, time.Second))
	word, _ = sliding.Take(sliding.Fresh(0), w/2, 3)
	word, _ = sliding.Take(word, w, 1)
	back, ok = sliding.Refund(word, atomicstate.Act{At: w / 2, N: 3}, w+1, 3, nil)
	require.True(t, ok, "the window before still weighs")
	require.EqualValues(t, 3, sliding.Inspect(back, w+1, 1).Remaining)
	_, ok = sliding.Refund(word, atomicstate.Act{At: w / 2, N: 3}, 2*w, 3, nil)
	require.False(t, ok)
	_, ok = sliding.Refund(word, atomicstate.Act{At: w, N: 2}, w, 2, nil)
	require.False(t, ok)
}

// TestQueueDelays: constant outflow; the delay is the backlog before the call.
func TestQueueDelays(t *testing.T) {
	q := must(atomicstate.NewLeakyQueue(10, time.Second, 4))
	word := q.Fresh(0)
	var ok bool
	for i := range int64(4) {
		word, ok = q.Take(word, 0, 1)
		require.True(t, ok)
		require.Equal(t, i*int64(100*time.Millisecond), q.Delay(word, 0, 1))
	}
	_, ok = q.Take(word, 0, 1)
	require.False(t, ok, "the queue is full")
	require.Equal(t, int64(100*time.Millisecond), q.Inspect(word, 0, 1).RetryNanos)
	at := int64(150 * time.Millisecond)
	word, ok = q.Take(word, at, 1)
	require.True(t, ok)
	require.Equal(t, int64(250*time.Millisecond), q.Delay(word, at, 1), "its turn is at 400 ms")
}

// TestConvertAnyPair: usage never falls by a change of limit, in whole permits, whatever the pair.
func TestConvertAnyPair(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 88))
	for range 20000 {
		from, _, _ := families[rnd.IntN(len(families))].draw(rnd)
		to, _, _ := families[rnd.IntN(len(families))].draw(rnd)
		now := rnd.Int64N(1 << 50)
		word, ok := from.Take(from.Fresh(now), now, 1+rnd.Int64N(from.Capacity()))
		require.True(t, ok)
		now += rnd.Int64N(1 << 20)
		used := permits(from.Usage(word, now))
		carried := atomicstate.Convert(from, word, to, now)
		require.GreaterOrEqual(t, permits(to.Usage(carried, now))+1e-9, min(used, holds(to)), "%T to %T", from, to)
		require.Less(t, permits(to.Usage(carried, now)), used+1+1e-6)
		require.Equal(t, used == 0, to.EqualsNew(carried, now, now))
	}
}

func permits(u atomicstate.Usage) float64 { return float64(u.Units) / float64(u.PerPermit) }

// holds is how many permits of usage a word of the law can at least hold.
func holds(law atomicstate.Law) float64 { return float64(law.Capacity()) }

// TestSlidingWindowAdoptsCounts: a changed limit of the same window keeps both counts, so that
// flipping forth and back changes nothing at all.
func TestSlidingWindowAdoptsCounts(t *testing.T) {
	const w = int64(time.Second)
	a, b := must(atomicstate.NewSlidingWindow(10, time.Second)), must(atomicstate.NewSlidingWindow(3, time.Second))
	word, _ := a.Take(a.Fresh(0), w/2, 7)
	word, _ = a.Take(word, w+w/4, 2)
	there := atomicstate.Convert(a, word, b, w+w/4)
	require.False(t, b.Inspect(there, w+w/4, 1).Allowed)
	require.Equal(t, word, atomicstate.Convert(b, there, a, w+w/4))
}

// TestWaitsBeyondTheEndOfTime: windows of centuries, whose waits no integer holds.
func TestWaitsBeyondTheEndOfTime(t *testing.T) {
	law, err := atomicstate.NewSlidingWindow(1, math.MaxInt64)
	require.NoError(t, err)
	word, ok := law.Take(law.Fresh(0), 0, 1)
	require.True(t, ok)
	state := law.Inspect(word, 0, 1)
	require.Equal(t, int64(math.MaxInt64), state.ResetNanos)
	require.Equal(t, int64(math.MaxInt64), state.RetryNanos)
}
