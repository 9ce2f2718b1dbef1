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

const week = 7 * 24 * time.Hour

func TestWordTags(t *testing.T) {
	for _, word := range []uint64{atomicstate.Empty, atomicstate.Moved, atomicstate.Superseded} {
		require.False(t, atomicstate.IsLive(word))
	}
	b := bucket(t, 1, time.Second, 10)
	for _, now := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		require.True(t, atomicstate.IsLive(b.Fresh(now)), now)
		require.True(t, b.EqualsNew(b.Fresh(now), now, now), now)
	}
}

func TestNewBucketExactness(t *testing.T) {
	for _, c := range []struct {
		tokens, burst int64
		per           time.Duration
		exact         bool
		err           error
	}{
		{10, 20, time.Second, true, nil},
		{10, 20, 13 * time.Second, true, nil},
		{65535, 65535, time.Second, true, nil},
		{1, 1, week, true, nil},
		{0, 5, time.Second, true, nil},
		{5, 0, time.Second, true, nil},
		{4_000_000_000, 1 << 40, time.Second, true, nil},
		{67_108_863, 1 << 30, time.Second, true, nil},
		{1 << 26, 1, 1, true, nil},
		{1_000_000_007, 1000, time.Second, false, nil},
		{math.MaxInt64, 1, math.MaxInt64, true, nil},
		{math.MaxInt64 - 1, 1, math.MaxInt64, false, nil},
		{1, 1 << 40, week, false, atomicstate.ErrTooLarge},
		{1<<26 + 1, 1, 1, false, nil},
		{1 << 40, 1, 1, false, atomicstate.ErrTooLarge},
		{1, math.MaxInt64, time.Second, false, atomicstate.ErrTooLarge},
		{0, math.MaxInt64, time.Second, false, atomicstate.ErrTooLarge},
		{-1, 1, time.Second, false, atomicstate.ErrRate},
		{1, 1, 0, false, atomicstate.ErrRate},
		{1, 1, -1, false, atomicstate.ErrRate},
		{1, -1, 1, false, atomicstate.ErrBurst},
	} {
		name := fmt.Sprint(c.tokens, "/", c.per, " burst ", c.burst)
		b, err := atomicstate.NewBucket(c.tokens, c.per, c.burst)
		if c.err != nil {
			require.ErrorIs(t, err, c.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.exact, b.Exact(), name)
		require.Equal(t, c.exact, b.RelativeError() == 0, name)
		require.Less(t, b.RelativeError(), 1e-6, name)
		tokens, per := b.Rate()
		require.LessOrEqual(t, float64(tokens)/float64(per), float64(c.tokens)/float64(c.per), name)
	}
}

// subject drives one word as the engine does: it forgets what equals new when time leaps.
type subject struct {
	law  *atomicstate.Bucket
	word uint64
	now  int64
}

func newSubject(law *atomicstate.Bucket, now int64) *subject {
	return &subject{law: law, word: law.Fresh(now), now: now}
}

func (s *subject) take(now, n int64) (bool, int64) {
	now = max(now, s.now)
	if uint64(now-s.now) >= uint64(s.law.Horizon()/4) {
		if s.law.EqualsNew(s.word, s.now, now) {
			s.word = s.law.Fresh(now)
		}
	}
	if s.law.Aged(s.word, now) {
		s.word = s.law.Fresh(now)
	}
	s.now = now
	state := s.law.Inspect(s.word, now, n)
	next, ok := s.law.Take(s.word, now, n)
	if ok != state.Allowed {
		return !state.Allowed, -2
	}
	if ok {
		s.word = next
	}
	return ok, state.RetryNanos
}

// randomRate draws rates from 1 a week to 4e9 a second, round and coprime ones.
func randomRate(rnd *rand.Rand) (int64, time.Duration) {
	pers := []time.Duration{1, 7, time.Microsecond, time.Millisecond, time.Second, 13 * time.Second, time.Minute, time.Hour, week}
	per := pers[rnd.IntN(len(pers))]
	if rnd.IntN(3) == 0 {
		per = time.Duration(1 + rnd.Int64N(int64(week)))
	}
	most := 4e9 * per.Seconds()
	tokens := int64(math.Exp(rnd.Float64() * math.Log(max(1, most))))
	return max(1, tokens), per
}

// randomBurst draws bursts from 1 to 2^40.
func randomBurst(rnd *rand.Rand) int64 {
	return 1 + rnd.Int64N(1<<rnd.IntN(41))
}

// randomGap draws gaps from 0 to 300 years, around the time of a few tokens most often, some
// of them negative.
func randomGap(rnd *rand.Rand, law *atomicstate.Bucket, burst int64) int64 {
	tokens, per := law.Rate()
	perToken := float64(per) / float64(max(1, tokens))
	switch rnd.IntN(20) {
	case 0:
		return -rnd.Int64N(int64(time.Hour))
	case 1:
		return rnd.Int64N(math.MaxInt64)
	case 2:
		return int64(min(perToken*float64(burst), 1e18)) + rnd.Int64N(3) - 1
	case 3, 4:
		return 0
	case 5:
		return rnd.Int64N(4)
	}
	return int64(min(rnd.Float64()*3*perToken*float64(1+rnd.Int64N(min(burst, 8))), 1e18))
}

func after(now, gap int64) int64 {
	if gap > 0 && now > math.MaxInt64-gap {
		return math.MaxInt64
	}
	return now + gap
}

// TestBucketEqualsRationalOracle compares decisions and retry-after, to the nanosecond, with
// rational numbers over random limits and random calls.
func TestBucketEqualsRationalOracle(t *testing.T) {
	limits, calls := 4000, 60
	if testing.Short() {
		limits = 400
	}
	rnd := rand.New(rand.NewPCG(20, 26))
	exact := 0
	for i := range limits {
		tokens, per := randomRate(rnd)
		burst := randomBurst(rnd)
		law, err := atomicstate.NewBucket(tokens, per, burst)
		if err != nil {
			require.ErrorIs(t, err, atomicstate.ErrTooLarge)
			continue
		}
		if law.Exact() {
			exact++
		}
		tokens, per = law.Rate()
		now := rnd.Int64()>>rnd.IntN(63) - int64(rnd.IntN(2))*(1<<61)
		got, want := newSubject(law, now), oracle.NewTokenBucket(tokens, per, burst)
		for j := range calls {
			n := 1 + rnd.Int64N(burst)>>rnd.IntN(41)
			if rnd.IntN(30) == 0 {
				n = burst + 1 + rnd.Int64N(math.MaxInt64-burst)
			}
			now = after(now, randomGap(rnd, law, burst))
			ok, retry := got.take(now, n)
			now = got.now
			wantOK, wantRetry := want.Take(now, n)
			require.Equalf(t, [2]any{wantOK, wantRetry}, [2]any{ok, retry},
				"limit %d (%d/%v burst %d) call %d: n=%d now=%d", i, tokens, per, burst, j, n, now)
			require.Equal(t, want.Remaining(now), law.Inspect(got.word, now, 1).Remaining)
			require.Equal(t, want.ResetAfter(now), law.Inspect(got.word, now, 1).ResetNanos)
			left, reset := law.Left(got.word, now)
			require.Equal(t, [2]int64{want.Remaining(now), want.ResetAfter(now)}, [2]int64{left, reset})
		}
	}
	require.Greater(t, exact, limits/2, "most random limits should be exact")
}

// TestRetryAfterIsTheTruth: allowed exactly then, denied one nanosecond earlier.
func TestRetryAfterIsTheTruth(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	denied := 0
	for range 20000 {
		tokens, per := randomRate(rnd)
		law, err := atomicstate.NewBucket(tokens, per, randomBurst(rnd))
		if err != nil {
			continue
		}
		burst := law.Capacity()
		word, ok := law.Take(law.Fresh(0), 0, burst)
		require.True(t, ok)
		n := 1 + rnd.Int64N(burst)
		retry := law.Inspect(word, 0, n).RetryNanos
		require.Positive(t, retry)
		if retry >= law.Horizon()/2 {
			continue
		}
		denied++
		_, ok = law.Take(word, retry, n)
		require.True(t, ok, "at its time")
		_, ok = law.Take(word, retry-1, n)
		require.False(t, ok, "1 ns before its time")
	}
	require.Greater(t, denied, 10000)
}

// TestAnyOrderOfStamps: takes with stamps in any order obey the bound of their stamps.
func TestAnyOrderOfStamps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		law := bucket(t, 1+rnd.Int64N(9), time.Duration(1+rnd.Int64N(20)), 1+rnd.Int64N(8))
		tokens, per := law.Rate()
		word := law.Fresh(0)
		var admitted []oracle.Admission
		for range 300 {
			now, n := rnd.Int64N(200), 1+rnd.Int64N(3)
			if next, ok := law.Take(word, now, n); ok {
				word = next
				admitted = append(admitted, oracle.Admission{At: now, N: n})
			}
		}
		require.NoError(t, oracle.Bound(tokens, per, law.Capacity(), admitted))
	}
}

// TestRefundNeverMints runs takes and refunds in random order; what was not refunded obeys the
// bound, and an immediate refund of the last take leaves the word as it was.
func TestRefundNeverMints(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	refunds := 0
	for range 3000 {
		law := bucket(t, 1+rnd.Int64N(5), time.Duration(1+rnd.Int64N(9)), 1+rnd.Int64N(6))
		tokens, per := law.Rate()
		word, now := law.Fresh(0), int64(0)
		var kept []oracle.Admission
		for range 60 {
			now += rnd.Int64N(4)
			if len(kept) > 0 && rnd.IntN(3) == 0 {
				i := rnd.IntN(len(kept))
				if next, ok := law.Refund(word, atomicstate.Act(kept[i]), now, kept[i].N, nil); ok {
					word = next
					refunds++
				}
				kept = append(kept[:i], kept[i+1:]...)
				continue
			}
			n := 1 + rnd.Int64N(3)
			before := word
			if next, ok := law.Take(word, now, n); ok {
				undone, _ := law.Refund(next, atomicstate.Act{At: now, N: n}, now, n, nil)
				require.Equal(t, law.Debt(before, now), law.Debt(undone, now))
				word = next
				kept = append(kept, oracle.Admission{At: now, N: n})
			}
		}
		require.NoError(t, oracle.Bound(tokens, per, law.Capacity(), kept))
	}
	require.Greater(t, refunds, 3000)
}

// TestRefundAfterTheWordCameBack is the case in which undoing whole what left the word
// unchanged would let three pass with a burst of two.
func TestRefundAfterTheWordCameBack(t *testing.T) {
	law := bucket(t, 1, 10, 2)
	first, _ := law.Take(law.Fresh(0), 0, 1)
	second, _ := law.Take(first, 0, 1)
	word, ok := law.Refund(second, atomicstate.Act{N: 1}, 0, 1, nil) // the first is given back
	require.True(t, ok)
	word, ok = law.Take(word, 10, 1) // full again at 10; writes the very word of the second
	require.True(t, ok)
	require.Equal(t, second, word)
	_, ok = law.Refund(word, atomicstate.Act{N: 1}, 10, 1, nil)
	require.False(t, ok, "the second was earned back at 10: nothing is due")
}

// TestCarryKeepsUsage: owed tokens survive any change of limit, also beyond the new capacity,
// and changing forth and back mints nothing.
func TestCarryKeepsUsage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for range 20000 {
		from := bucket(t, 1+rnd.Int64N(1000), time.Duration(1+rnd.Int64N(int64(time.Hour))), 1+rnd.Int64N(1000))
		to := bucket(t, 1+rnd.Int64N(1000), time.Duration(1+rnd.Int64N(int64(time.Hour))), 1+rnd.Int64N(1000))
		now := rnd.Int64N(1 << 40)
		word, ok := from.Take(from.Fresh(now), now, 1+rnd.Int64N(from.Capacity()))
		require.True(t, ok)
		there := to.Carry(from.Usage(word, now), now)
		back := from.Carry(to.Usage(there, now), now)
		require.GreaterOrEqual(t, from.Debt(back, now), from.Debt(word, now))
		owed := float64(from.Debt(word, now)) / float64(from.Usage(word, now).PerPermit)
		carried := float64(to.Debt(there, now)) / float64(to.Usage(there, now).PerPermit)
		require.InDelta(t, owed, carried, 1e-6+owed*1e-9)
	}
}

func TestCarryIsCutAtTheWord(t *testing.T) {
	law := bucket(t, 1, week, 1)
	word := law.Carry(atomicstate.Usage{Units: math.MaxUint64, PerPermit: 1}, 5)
	require.Equal(t, atomicstate.MaxDebt, law.Debt(word, 5))
	require.False(t, law.EqualsNew(word, 5, 5))
	_, ok := law.Take(word, 5, 1)
	require.False(t, ok)
}

// TestLeapsOf300Years: a word read at its base is judged right after any leap.
func TestLeapsOf300Years(t *testing.T) {
	for _, law := range []*atomicstate.Bucket{bucket(t, 1<<26, 1, 1<<30), bucket(t, 1, 1, 1000), bucket(t, 1, week, 1000)} {
		word, ok := law.Take(law.Fresh(math.MinInt64/2), math.MinInt64/2, law.Capacity())
		require.True(t, ok)
		reset := law.Inspect(word, math.MinInt64/2, 1).ResetNanos
		require.False(t, law.EqualsNew(word, math.MinInt64/2, math.MinInt64/2+reset-1))
		require.True(t, law.EqualsNew(word, math.MinInt64/2, math.MinInt64/2+reset))
		require.True(t, law.EqualsNew(word, math.MinInt64/2, math.MinInt64/2+9_000_000_000_000_000_000))
	}
	frozen := bucket(t, 0, time.Second, 3)
	word, _ := frozen.Take(frozen.Fresh(0), 0, 1)
	require.False(t, frozen.EqualsNew(word, 0, math.MaxInt64), "what is never refilled is never forgotten")
}

// TestAgedLeavesTimeForASweep: a word that is not aged at one sweep is still readable three
// quarters of a horizon later.
func TestAgedLeavesTimeForASweep(t *testing.T) {
	for _, law := range []*atomicstate.Bucket{bucket(t, 1<<26, 1, 1<<30), bucket(t, 13107, 200000, 65535), bucket(t, 1, 1, 5)} {
		word := law.Fresh(0)
		eighth := law.Horizon() / 8
		require.False(t, law.Aged(word, eighth-1))
		require.True(t, law.Aged(word, eighth+1))
		require.True(t, law.EqualsNew(word, eighth+law.Horizon()/4*3, eighth+law.Horizon()/4*3))
		require.False(t, law.Aged(law.Carry(atomicstate.Usage{Units: 1 << 60, PerPermit: 1}, 0), 0))
	}
}

func bucket(t *testing.T, tokens int64, per time.Duration, burst int64) *atomicstate.Bucket {
	t.Helper()
	b, err := atomicstate.NewBucket(tokens, per, burst)
	require.NoError(t, err)
	return b
}

// TestRefundOfMoreThanIsOwed leaves a full bucket at now, not one in the past.
func TestRefundOfMoreThanIsOwed(t *testing.T) {
	law := bucket(t, 1, 10, 5)
	word, ok := law.Take(law.Fresh(100), 100, 1)
	require.True(t, ok)
	word, ok = law.Refund(word, atomicstate.Act{At: 103, N: 4}, 103, 4, nil)
	require.True(t, ok)
	require.Equal(t, law.Fresh(103), word)
}

// TestCarryRoundsUp: a fraction of the new unit is owed whole, or changing to and fro mints.
func TestCarryRoundsUp(t *testing.T) {
	law := bucket(t, 1, 2, 5)
	for units, owed := range []int64{0, 1, 2, 2, 3, 4, 4} { // thirds of a token in halves
		word := law.Carry(atomicstate.Usage{Units: uint64(units), PerPermit: 3}, 7)
		require.Equal(t, owed, law.Debt(word, 7))
	}
}
