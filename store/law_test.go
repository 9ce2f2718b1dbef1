package store_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
	"github.com/penstock-go/penstock/internal/oracle"
	"github.com/penstock-go/penstock/store"
)

// nowIn is a time of 2026 in ticks.
func nowIn(tick time.Duration) int64 { return int64(1_782_864_000*time.Second) / int64(tick) }

func law(t *testing.T, l engine.Limit, tick time.Duration) *store.Law {
	t.Helper()
	law, err := store.NewLaw(l, store.Info{Name: "test", Tick: tick})
	require.NoError(t, err)
	return law
}

// oracleOf returns the rational model of a limit and a capacity to draw permits from.
func oracleOf(kind int, tokens int64, per time.Duration, burst int64) (engine.Limit, oracle.Model) {
	switch kind {
	case 0:
		return engine.TokenBucket(engine.Rate{Tokens: tokens, Per: per}, burst), oracle.NewTokenBucket(tokens, per, burst)
	case 1:
		return engine.FixedWindow(burst, per), oracle.NewFixedWindow(burst, per)
	}
	return engine.SlidingWindow(burst, per), oracle.NewSlidingWindow(burst, per)
}

// TestLawEqualsOracle: at every resolution the law decides as rational numbers do, waits rounded up to
// ticks, whether a word is kept or dropped when its time to live is over.
func TestLawEqualsOracle(t *testing.T) {
	expired := 0
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		tick := []time.Duration{1, time.Microsecond, time.Millisecond}[seed%3]
		per := tick * time.Duration(1+rnd.Int64N(int64(time.Minute/time.Millisecond)))
		burst := 1 + rnd.Int64N(40)
		limit, model := oracleOf(int(seed/3%3), 1+rnd.Int64N(50), per, burst)
		l := law(t, limit, tick)
		word, now, expires := uint64(0), nowIn(tick), int64(math.MaxInt64)
		for range 700 {
			now += rnd.Int64N(int64(per/tick)/4 + 2)
			if rnd.IntN(40) == 0 {
				now += rnd.Int64N(4 * int64(per/tick))
			}
			if now >= expires {
				word, expires = 0, math.MaxInt64
				expired++
			}
			n := 1 + rnd.Int64N(burst)
			next, taken := l.Take(word, now, n, n)
			d := l.Decide(word, now, n, taken)
			allowed, retry := model.Take(now*int64(tick), n)
			require.Equal(t, allowed, d.Allowed, limit)
			require.Equal(t, roundUp(retry, tick), d.RetryAfter, limit)
			require.Equal(t, model.Remaining(now*int64(tick)), d.Remaining, limit)
			require.Equal(t, roundUp(model.ResetAfter(now*int64(tick)), tick), d.ResetAfter, limit)
			if taken > 0 {
				word, expires = next, now+int64(l.Life(next, now)/tick)
			}
		}
	}
	require.Greater(t, expired, 500)
}

// roundUp returns a wait of the oracle in whole ticks.
func roundUp(nanos int64, tick time.Duration) time.Duration {
	if nanos == oracle.Never {
		return engine.Never
	}
	if rest := nanos % int64(tick); rest != 0 {
		nanos += int64(tick) - rest
	}
	return time.Duration(nanos)
}

// TestNumbersAreTheLaw: the integers of the comment at Numbers, without a bound, decide as the law.
// They are what scripts and conditions of stores compute.
func TestNumbersAreTheLaw(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		tick := []time.Duration{1, time.Microsecond}[seed%2]
		tokens, per, burst := 1+rnd.Int64N(5_000_000), time.Duration(1+rnd.Int64N(int64(time.Hour))), 1+rnd.Int64N(1000)
		l := law(t, engine.TokenBucket(engine.Rate{Tokens: tokens, Per: per}, burst), tick)
		numbers, word, now, tat := l.Numbers(), uint64(0), nowIn(tick), new(big.Int)
		for range 500 {
			now += rnd.Int64N(2 + 2*numbers.Unit/numbers.Rate)
			at := new(big.Int).Mul(big.NewInt(now), big.NewInt(numbers.Rate))
			debt := int64(0)
			if tat.Cmp(at) > 0 {
				debt = new(big.Int).Sub(tat, at).Int64()
			}
			require.Equal(t, debt, l.State(word, now).Debt)
			n := 1 + rnd.Int64N(burst)
			next, taken := l.Take(word, now, n, n)
			require.Equal(t, debt+n*numbers.Unit <= numbers.Units, taken == n)
			if taken > 0 {
				word, tat = next, at.Add(at, big.NewInt(debt+n*numbers.Unit))
				ticks := (debt + n*numbers.Unit + numbers.Rate - 1) / numbers.Rate
				require.Equal(t, time.Duration(ticks)*tick, l.Life(word, now))
			}
		}
	}
}

// TestTakeSome: as many as there are, none below the least.
func TestTakeSome(t *testing.T) {
	for _, limit := range []engine.Limit{
		engine.TokenBucket(engine.PerHour(1), 10), engine.FixedWindow(10, time.Hour), engine.SlidingWindow(10, time.Hour),
	} {
		l, now := law(t, limit, time.Microsecond), nowIn(time.Microsecond)
		word, taken := l.Take(0, now, 7, 7)
		require.Equal(t, int64(7), taken)
		for _, c := range []struct{ least, most, want int64 }{{1, 2, 2}, {1, 5, 3}, {3, 3, 3}, {3, 99, 3}, {4, 5, 0}, {4, 4, 0}, {0, 0, 0}, {11, 12, 0}} {
			next, taken := l.Take(word, now, c.least, c.most)
			require.Equal(t, c.want, taken, c)
			if taken == 0 {
				require.Equal(t, word, next, "a refusal changes nothing")
			}
		}
	}
}

// TestSettle: words from before a step back of the clock.
func TestSettle(t *testing.T) {
	const second = int64(time.Second / time.Microsecond)
	now := nowIn(time.Microsecond)
	bucket := law(t, engine.TokenBucket(engine.PerSecond(1), 5), time.Microsecond)
	drained, _ := bucket.Take(0, now, 5, 5)
	_, changed := bucket.Settle(drained, now)
	require.False(t, changed, "a full debt is nothing from the future")
	settled, changed := bucket.Settle(drained, now-40*second)
	require.True(t, changed)
	require.Equal(t, 1*time.Second, bucket.Describe(settled, now-40*second, 1).RetryAfter)
	require.Equal(t, 41*time.Second, bucket.Describe(drained, now-40*second, 1).RetryAfter)

	for _, limit := range []engine.Limit{engine.FixedWindow(5, time.Second), engine.SlidingWindow(5, time.Second)} {
		window := law(t, limit, time.Microsecond)
		full, _ := window.Take(0, now, 5, 5)
		_, changed = window.Settle(full, now+5*second)
		require.False(t, changed, "what is past is no step")
		settled, changed = window.Settle(full, now-40*second)
		require.True(t, changed)
		d := window.Describe(settled, now-40*second, 1)
		require.False(t, d.Allowed)
		require.LessOrEqual(t, d.RetryAfter, 2*time.Second)
		require.Greater(t, window.Describe(full, now-40*second, 1).RetryAfter, 40*time.Second)
	}
	for _, none := range []uint64{0, 5, 1 << 63, math.MaxUint64} {
		_, changed = bucket.Settle(none, now)
		require.False(t, changed)
	}
}

// TestBefore1970: a clock that is not set yet counts windows from below.
func TestBefore1970(t *testing.T) {
	for _, limit := range []engine.Limit{engine.FixedWindow(5, time.Second), engine.SlidingWindow(5, time.Second)} {
		l := law(t, limit, time.Microsecond)
		for now := int64(-3_000_000); now < 0; now += 250_000 {
			word, _ := l.Take(0, now, 3, 3)
			state := l.State(word, now)
			require.Equal(t, state, l.SettleState(state, now))
			require.Equal(t, int64(2), l.Describe(l.Word(state, now), now, 1).Remaining)
			require.NotEqual(t, state, l.SettleState(state, now-1_000_000))
		}
	}
}

// TestForeignWords: what is no word is taken as new.
func TestForeignWords(t *testing.T) {
	l, now := law(t, engine.TokenBucket(engine.PerSecond(1), 5), time.Microsecond), nowIn(time.Microsecond)
	for _, word := range []uint64{2, 3, 4, 1 << 63, math.MaxUint64} {
		_, taken := l.Take(word, now, 5, 5)
		require.Equal(t, int64(5), taken)
		require.Equal(t, int64(5), l.Describe(word, now, 1).Remaining)
		require.Equal(t, time.Microsecond, l.Life(word, now), "at least a tick")
	}
}

func TestNewLawRefuses(t *testing.T) {
	us := store.Info{Name: "test", Tick: time.Microsecond}
	for name, c := range map[string]struct {
		limit engine.Limit
		info  store.Info
		want  error
		text  string
	}{
		"invalid":             {engine.TokenBucket(engine.PerSecond(-1), 1), us, engine.ErrRate, "use 0 or more"},
		"log":                 {engine.SlidingLog(5, time.Second), us, store.ErrNotSupported, "use a sliding window"},
		"unlimited":           {engine.Unlimited(), us, store.ErrNotSupported, "keeps no state"},
		"part of a tick":      {engine.FixedWindow(5, 1500*time.Nanosecond), us, engine.ErrWindow, "use a multiple"},
		"units":               {engine.TokenBucket(engine.Every(24*time.Hour), 10_000), store.Info{Tick: 1000, MaxUnits: 1 << 40}, engine.ErrTooLarge, "use a burst of at most 12"},
		"rate":                {engine.TokenBucket(engine.PerSecond(math.MaxInt64), 1), store.Info{Tick: time.Second}, engine.ErrTooLarge, ""},
		"tokens in a tick":    {engine.TokenBucket(engine.Rate{Tokens: math.MaxInt64, Per: 3}, 1), store.Info{Tick: time.Second}, engine.ErrTooLarge, "rounder rate"},
		"unreadable too soon": {engine.TokenBucket(engine.PerSecond(64_000_003), 1_000_000_000), store.Info{Tick: 1}, store.ErrNotSupported, "coarser resolution"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := store.NewLaw(c.limit, c.info)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.text)
		})
	}
}

// TestMaxUnits: within fewer units a rate that does not fit is slower, by less than a millionth.
func TestMaxUnits(t *testing.T) {
	limit := engine.TokenBucket(engine.Rate{Tokens: 999_983, Per: 24 * time.Hour}, 1_000_000)
	wide := law(t, limit, time.Microsecond).Numbers()
	require.Greater(t, wide.Units, int64(1<<53))
	l, err := store.NewLaw(limit, store.Info{Tick: time.Microsecond, MaxUnits: 1 << 52})
	require.NoError(t, err)
	narrow := l.Numbers()
	require.LessOrEqual(t, narrow.Units, int64(1<<52))
	want := big.NewRat(wide.Rate, wide.Unit)
	got := big.NewRat(narrow.Rate, narrow.Unit)
	require.Negative(t, got.Cmp(want), "never faster")
	short, _ := new(big.Rat).Sub(big.NewRat(1, 1), got.Quo(got, want)).Float64()
	require.Less(t, short, 1e-6)
	queue, err := store.NewLaw(engine.LeakyQueue(engine.Rate{Tokens: 999_983, Per: 24 * time.Hour}, 1_000_000), store.Info{Tick: time.Microsecond, MaxUnits: 1 << 52})
	require.NoError(t, err)
	require.Equal(t, narrow.Unit, queue.Numbers().Unit)
}

// TestTags: what reads each other's words has one tag, what does not has another.
func TestTags(t *testing.T) {
	tag := func(l engine.Limit, tick time.Duration) string { return law(t, l, tick).Tag() }
	us := time.Microsecond
	base := tag(engine.TokenBucket(engine.PerSecond(10), 20), us)
	require.Equal(t, "b.1.100000.20.1000", base)
	require.Equal(t, base, tag(engine.GCRA(engine.PerSecond(10), 20), us))
	require.Equal(t, base, tag(engine.LeakyBucket(engine.PerMinute(600), 20), us))
	others := map[string]bool{base: true}
	for _, other := range []string{
		tag(engine.TokenBucket(engine.PerSecond(10), 21), us), tag(engine.TokenBucket(engine.PerSecond(11), 20), us),
		tag(engine.TokenBucket(engine.PerSecond(10), 20), time.Millisecond),
		tag(engine.FixedWindow(20, time.Second), us), tag(engine.SlidingWindow(20, time.Second), us),
		tag(engine.FixedWindow(20, 2*time.Second), us), tag(engine.FixedWindow(1<<41, time.Second), us),
	} {
		require.False(t, others[other], other)
		others[other] = true
	}
	require.Equal(t, tag(engine.FixedWindow(20, time.Second), us), tag(engine.FixedWindow(2000, time.Second), us), "usage stays counted")
	require.Equal(t, tag(engine.SlidingWindow(20, time.Second), us), tag(engine.SlidingWindow(2000, time.Second), us), "usage stays counted")
}
