package engine_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/penstock-go/penstock/engine"
)

// worst is the most that a law was seen to admit at the instants i .. i+d, for each d.
type worst []int64

// search lets an adversary take any number of permits at each of the instants 0 .. len(taken)-1
// and notes the worst of all histories.
func (w worst) search(law atomicstate.Law, word uint64, taken []int64, now int) {
	if now == len(taken) {
		return
	}
	for n := int64(0); ; n++ {
		if n > 0 {
			next, ok := law.Take(word, int64(now), 1)
			if !ok {
				break
			}
			word = next
		}
		taken[now] = n
		sum := int64(0)
		for d := 0; d <= now; d++ {
			sum += taken[now-d]
			w[d] = max(w[d], sum)
		}
		w.search(law, word, taken, now+1)
	}
	taken[now] = 0
}

// TestBoundsOfAnyInterval: what docs/algorithms.md says that an interval can admit at most, for
// every history of takes in the first three windows, with a nanosecond as the finest time. The
// bounds are reached, or would be too lax.
func TestBoundsOfAnyInterval(t *testing.T) {
	for _, c := range []struct{ limit, window int64 }{{1, 4}, {2, 4}, {3, 4}, {2, 5}, {3, 6}} {
		bucket, err := atomicstate.NewBucket(c.limit, time.Duration(c.window), c.limit)
		require.NoError(t, err)
		fixed, err := atomicstate.NewFixedWindow(c.limit, time.Duration(c.window))
		require.NoError(t, err)
		sliding, err := atomicstate.NewSlidingWindow(c.limit, time.Duration(c.window))
		require.NoError(t, err)
		seen := map[atomicstate.Law]worst{}
		for _, law := range []atomicstate.Law{bucket, fixed, sliding} {
			w := make(worst, 3*c.window)
			w.search(law, law.Fresh(0), make([]int64, len(w)), 0)
			seen[law] = w
		}
		for d := range 3 * c.window {
			earned := c.limit * d / c.window
			require.Equal(t, c.limit+earned, seen[bucket][d], "burst + rate * interval")
			require.LessOrEqual(t, seen[sliding][d], c.limit+earned, "never more than a bucket of the same numbers")
			edges := min(2, (d+c.window-1)/c.window) // that d can contain; the search has two
			require.Equal(t, c.limit*(1+edges), seen[fixed][d], "the limit in each window that is touched")
		}
		require.LessOrEqual(t, seen[sliding][c.window-1], max(c.limit, 2*c.limit-1))
		if c.window >= 2*c.limit {
			require.Equal(t, 2*c.limit-1, seen[sliding][c.window-1], "one less than twice the limit in a window")
		}
	}
}

// TestSlidingWindowAtWorst: all of one window as it ends, the rest as the next one ends.
func TestSlidingWindowAtWorst(t *testing.T) {
	for _, limit := range []int64{1, 2, 6, 100, 1 << 20} {
		limiter := engine.Must[int](engine.SlidingWindow(limit, time.Second))
		require.True(t, limiter.TakeAt(time.Second-1, 1, limit).Allowed)
		later := limiter.TakeAt(2*time.Second-2, 1, 0).Remaining
		require.Equal(t, limit-1, later, "less than a window after")
		require.True(t, later == 0 || limiter.TakeAt(2*time.Second-2, 1, later).Allowed)
	}
}

// TestSlidingLogBound: never more than the limit in any window, whatever comes; and each refusal
// was due, as the window before it was full.
func TestSlidingLogBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 3))
	const limit, window = 5, 40
	limiter := engine.Must[int](engine.SlidingLog(limit, window))
	var taken []time.Duration
	denied := 0
	for now := time.Duration(0); now < 20000; now += time.Duration(rnd.IntN(9)) {
		recent := 0
		for _, s := range taken[max(0, len(taken)-limit):] {
			if now < s+window {
				recent++
			}
		}
		allowed := limiter.TakeAt(now, 1, 1).Allowed
		require.Equal(t, recent < limit, allowed)
		if allowed {
			taken = append(taken, now)
		} else {
			denied++
		}
	}
	require.Greater(t, denied, 500)
}

// TestLeakyQueueBound: calls of one permit leave at least a permit's time apart, to the
// nanosecond, and none waits for more than capacity-1 of them.
func TestLeakyQueueBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 2))
	const capacity = 5
	apart := 3 * time.Second / 7 // rounded down
	limiter := engine.Must[int](engine.LeakyQueue(engine.Rate{Tokens: 7, Per: 3 * time.Second}, capacity))
	var longest time.Duration
	for now, last := time.Duration(0), -time.Hour; now < time.Hour; now += time.Duration(rnd.Int64N(int64(time.Second))) {
		d := limiter.TakeAt(now, 1, 1)
		if !d.Allowed {
			require.Zero(t, d.Remaining)
			continue
		}
		require.GreaterOrEqual(t, now+d.Delay, last+apart)
		last, longest = now+d.Delay, max(longest, d.Delay)
	}
	require.LessOrEqual(t, longest, (capacity-1)*(apart+1))
	require.Greater(t, longest, (capacity-2)*apart)
}

// TestSteadyOverload: what passes in 20 windows if a call is made at every instant. A sliding
// window grants one permit a window less than its limit from the second on, and a limit of one
// only every other window.
func TestSteadyOverload(t *testing.T) {
	const window, windows = 60, 20
	for limit := int64(1); limit <= 6; limit++ {
		rate := engine.Rate{Tokens: limit, Per: window}
		sliding := limit + (windows-1)*(limit-1)
		if limit == 1 {
			sliding = windows / 2
		}
		for l, want := range map[engine.Limit]int64{
			engine.TokenBucket(rate, limit):     limit + limit*windows - 1, // the last one is due at the end
			engine.LeakyQueue(rate, limit):      limit + limit*windows - 1,
			engine.FixedWindow(limit, window):   limit * windows,
			engine.SlidingWindow(limit, window): sliding,
			engine.SlidingLog(limit, window):    limit * windows,
		} {
			limiter, passed := engine.Must[int](l), int64(0)
			for now := range time.Duration(window * windows) {
				for limiter.TakeAt(now, 1, 1).Allowed {
					passed++
				}
			}
			require.Equal(t, want, passed, l)
		}
	}
}

// TestSizesThatFit: the largest limits of windows of a minute.
func TestSizesThatFit(t *testing.T) {
	require.NoError(t, engine.FixedWindow(1<<56-1, time.Minute).Validate())
	require.ErrorIs(t, engine.FixedWindow(1<<56, time.Minute).Validate(), engine.ErrTooLarge)
	require.NoError(t, engine.SlidingWindow(1<<27-1, time.Minute).Validate())
	require.ErrorIs(t, engine.SlidingWindow(1<<27, time.Minute).Validate(), engine.ErrTooLarge)
}

// TestDocumentedSnippetsRun: each piece of Go in docs/algorithms.md stands, line by line, in an
// example of this package, whose output is checked.
func TestDocumentedSnippetsRun(t *testing.T) {
	text, err := os.ReadFile("../docs/algorithms.md")
	require.NoError(t, err)
	examples, err := os.ReadFile("algorithms_example_test.go")
	require.NoError(t, err)
	snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, snippets)
	for _, s := range snippets {
		indented := "\t" + strings.ReplaceAll(strings.TrimSuffix(s[1], "\n"), "\n", "\n\t") + "\n"
		require.Contains(t, string(examples), "{\n"+indented+"}\n", "a whole body of an example")
	}
}
