package linear

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
)

// honest makes a call as it is.
func honest(l *engine.Limiter[int], h *hand, c call) (answer, int64) { return h.do(l, c) }

// histories is how many to make of all algorithms together.
func histories(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PENSTOCK_HISTORIES")
	if text == "" {
		return 80
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "PENSTOCK_HISTORIES")
	return n
}

// TestLinearizable makes histories until enough have met contention, and finds none that no order
// explains.
func TestLinearizable(t *testing.T) {
	all := subjects(time.Microsecond)
	each := (histories(t) + len(all) - 1) / len(all)
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) { checkSubject(t, s, each) })
	}
}

// idle is how many histories that show nothing, for want of contention or since they were not decided,
// are forgiven for each that shows something.
const idle = 4

func checkSubject(t *testing.T, s subject, want int) {
	t.Helper()
	m, err := modelOf(s.limit)
	require.NoError(t, err)
	var sum contention
	shown, undecided, said := 0, 0, time.Now()
	for seed := uint64(0); shown < want; seed++ {
		require.LessOrEqual(t, seed, uint64(idle*(want+10)), "hardly any history met contention")
		h, err := record(s, seed, honest)
		require.NoError(t, err)
		switch err := judge(m, h.operations); {
		case errors.Is(err, errUndecided):
			undecided++
			continue
		case err != nil:
			t.Fatalf("seed %d: %v\n%s", seed, err, h)
		case h.contention.overlaps == 0:
			continue
		}
		shown++
		sum.overlaps += h.contention.overlaps
		sum.retries += h.contention.retries
		if time.Since(said) > 10*time.Second {
			said = time.Now()
			t.Logf("%d of %d histories", shown, want)
		}
	}
	t.Logf("%d histories with contention: %d overlapping calls, %d failed swaps; 0 illegal, and besides %d undecided",
		shown, sum.overlaps, sum.retries, undecided)
	require.NotZero(t, sum.overlaps)
}

// found reports whether a history of the subject is found to be illegal, for a limiter that is called
// by do, and the model m.
func found(t *testing.T, s subject, m model, do func(*engine.Limiter[int], *hand, call) (answer, int64)) bool {
	t.Helper()
	for seed := range uint64(60) {
		h, err := record(s, seed, do)
		require.NoError(t, err)
		if errors.Is(judge(m, h.operations), errNotLinear) {
			return true
		}
	}
	return false
}

// TestBrokenLimitersAreFound: the check must be able to fail, under every algorithm.
func TestBrokenLimitersAreFound(t *testing.T) {
	for name, do := range map[string]func(*engine.Limiter[int], *hand, call) (answer, int64){
		"a charge is lost": func(l *engine.Limiter[int], h *hand, c call) (answer, int64) {
			a, delay := honest(l, h, c)
			if c.kind == charge && a.decision.Allowed && c.owner == 0 {
				h.receipt.Refund(c.n)
			}
			return a, delay
		},
		"a refusal charges": func(l *engine.Limiter[int], h *hand, c call) (answer, int64) {
			a, delay := honest(l, h, c)
			if c.kind == take && !a.decision.Allowed {
				l.Allow(watched)
			}
			return a, delay
		},
		"a check and then an act": func(l *engine.Limiter[int], h *hand, c call) (answer, int64) {
			if c.kind != take || c.n != 1 {
				return honest(l, h, c)
			}
			d := l.Peek(watched)
			if d.Allowed {
				runtime.Gosched()
				l.Allow(watched)
				d.Remaining--
			}
			return answer{decision: d}, 0
		},
	} {
		for _, s := range subjects(time.Hour) {
			m, err := modelOf(s.limit)
			require.NoError(t, err)
			require.True(t, found(t, s, m, do), "%s, under %s", name, s.name)
		}
	}
}

// TestWrongModelsAreFound: nor does a sequential limiter explain everything.
func TestWrongModelsAreFound(t *testing.T) {
	rate := engine.Rate{Tokens: 3, Per: 7 * time.Microsecond}
	window := 10 * time.Microsecond
	for _, c := range []struct{ real, wrong engine.Limit }{
		{engine.TokenBucket(rate, 6), engine.TokenBucket(rate, 7)},
		{engine.TokenBucket(rate, 6), engine.TokenBucket(engine.Rate{Tokens: 301, Per: 700 * time.Microsecond}, 6)},
		{engine.SlidingLog(8, window), engine.SlidingLog(8, window-1)},
		{engine.FixedWindow(8, window), engine.FixedWindow(8, window+time.Microsecond)},
		{engine.SlidingWindow(8, window), engine.FixedWindow(8, window)},
	} {
		m, err := modelOf(c.wrong)
		require.NoError(t, err)
		require.True(t, found(t, subject{limit: c.real, kinds: withoutReserve}, m, honest), "%v as %v", c.real, c.wrong)
	}
}

// TestSteps: what each call may answer, by hand.
func TestSteps(t *testing.T) {
	log := logModel{limit: 2, window: 10}
	one := call{kind: take, n: 1, times: []int64{5}}
	yes := engine.Decision{Allowed: true, Limit: 2, Remaining: 1, ResetAfter: 10}
	next := log.step(state{}, one, answer{decision: yes})
	require.Len(t, next, 1)
	require.Equal(t, entry{5, 1}, next[0].log.of[0])
	require.Empty(t, log.step(next[0], one, answer{decision: yes}))
	one.times = []int64{14, 15}
	require.Len(t, log.step(next[0], one, answer{decision: yes}), 1, "at 15 the first has expired")

	word, err := modelOf(engine.TokenBucket(engine.Rate{Tokens: 1, Per: 10}, 2))
	require.NoError(t, err)
	one = call{kind: charge, n: 2, times: []int64{5}, kept: true}
	next = word.step(state{}, one, answer{decision: engine.Decision{Allowed: true, Limit: 2, ResetAfter: 20}})
	require.Len(t, next, 1)
	require.True(t, next[0].given[0].live)
	back := call{kind: refund, n: 2, times: []int64{5}}
	require.Len(t, word.step(next[0], back, answer{ok: true}), 1)
	require.Empty(t, word.step(next[0], back, answer{ok: false}))
	again := word.step(next[0], call{kind: reset, times: []int64{6}}, answer{})
	require.Len(t, again, 1)
	require.Empty(t, word.step(again[0], back, answer{ok: true}), "it was reset since")
	require.Len(t, word.step(again[0], back, answer{ok: false}), 1)
	held := call{kind: reserve, n: 1, times: []int64{7}, kept: true}
	require.Empty(t, word.step(next[0], held, answer{ok: true, acts: []int64{16}}))
	later := word.step(next[0], held, answer{ok: true, acts: []int64{15}})
	require.Len(t, later, 1)
	gone := word.step(later[0], call{kind: cancel, times: []int64{8}}, answer{ok: true})
	require.Len(t, gone, 1)
	require.Equal(t, next[0].word, gone[0].word)
}
