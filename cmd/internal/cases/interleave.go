package cases

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// MaxOrders bounds the orders of interleaving: a case runs in each of them
// with as many copies.
const MaxOrders = 32

// turn is one call of one copy of a case.
type turn struct {
	copy, call int // from 0; copy 0 is the case itself
}

// interleaving is a way to merge the calls of several copies of a case.
type interleaving struct {
	name  string
	turns []turn
}

// merges are the ways to merge calls [from, to) of so many copies. All four
// keep the order of the calls of each copy.
var merges = []struct {
	name  string
	merge func(rng *rand.Rand, copies, from, to int) []turn
}{
	{"copy after copy", copyAfterCopy},
	{"copies reversed", func(rng *rand.Rand, copies, from, to int) []turn {
		turns := copyAfterCopy(rng, copies, from, to)
		for i := range turns {
			turns[i].copy = copies - 1 - turns[i].copy
		}
		return turns
	}},
	{"round robin", roundRobin},
	{"shuffled", shuffled},
}

// interleavings merges the calls of a case and of copies of it, which differ
// in their keys alone, in so many orders, each with as many copies, the case
// among them, as there are orders, but at least two. Orders beyond the fourth
// are shuffles too.
//
// A limiter keeps one time for all its keys, the latest it has seen, so an
// order must not let a copy see a later time than it would alone. Therefore
// the copies take their turns within a run of calls of the same time: no copy
// begins the next run before all have ended this one. Then the latest time
// before any call is what it is when the case runs alone, also where the
// clock of the case steps back.
func interleavings(c Case, orders int) []interleaving {
	out := make([]interleaving, 0, orders)
	for i := range orders {
		way := merges[min(i, len(merges)-1)]
		name := way.name
		if i >= len(merges) {
			name = fmt.Sprintf("%s (%d)", name, i-len(merges)+2)
		}
		rng := rand.New(rand.NewPCG(uint64(i), 0))
		var turns []turn
		for from := 0; from < len(c.Calls); {
			to := from + 1
			for to < len(c.Calls) && *c.Calls[to].AtNanos == *c.Calls[from].AtNanos {
				to++
			}
			turns = append(turns, way.merge(rng, max(orders, 2), from, to)...)
			from = to
		}
		out = append(out, interleaving{name, turns})
	}
	return out
}

func copyAfterCopy(_ *rand.Rand, copies, from, to int) (turns []turn) {
	for copied := range copies {
		for call := from; call < to; call++ {
			turns = append(turns, turn{copied, call})
		}
	}
	return turns
}

func roundRobin(_ *rand.Rand, copies, from, to int) (turns []turn) {
	for call := from; call < to; call++ {
		for copied := range copies {
			turns = append(turns, turn{copied, call})
		}
	}
	return turns
}

// shuffled draws which copy is next until all are through.
func shuffled(rng *rand.Rand, copies, from, to int) (turns []turn) {
	turns = copyAfterCopy(rng, copies, from, to)
	rng.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	next := make([]int, copies)
	for i, t := range turns {
		turns[i].call = from + next[t.copy]
		next[t.copy]++
	}
	return turns
}

// copySuffixes returns what makes the keys of each copy its own: a suffix that no
// key of the case holds, so that no two keys of two copies are the same. The
// case itself keeps its keys.
func copySuffixes(c Case, copies int) []string {
	mark := "~"
	for _, call := range c.Calls {
		for strings.Contains(*call.Key, mark) {
			mark += "~"
		}
	}
	suffixes := make([]string, copies)
	for i := 1; i < copies; i++ {
		suffixes[i] = fmt.Sprintf("%s%d", mark, i+1)
	}
	return suffixes
}

// judgeInterleaved runs the case on a fresh limiter in each order and returns
// the first mismatch of each. A limiter that cannot be built is no mismatch:
// judgeOne has seen it.
func judgeInterleaved(c Case, algorithm string, in Setting) []Mismatch {
	var out []Mismatch
	suffixes := copySuffixes(c, max(in.Orders, 2))
	for _, order := range interleavings(c, in.Orders) {
		limiter, err := in.Build(c.Spec(algorithm))
		if err != nil {
			return nil
		}
		wrong := judgeOrder(c, order, newPlayer(c, c.Spec(algorithm), in, limiter), suffixes)
		if err := limiter.Close(); err != nil && wrong == nil {
			wrong = &Mismatch{Got: err.Error(), Want: "a limiter that closes"}
		}
		if wrong != nil {
			wrong.ID, wrong.Algorithm, wrong.Order = c.ID, algorithm, order.name
			out = append(out, *wrong)
		}
	}
	return out
}

// judgeOrder makes the calls of all copies in order and returns the first
// mismatch, nil if there is none.
func judgeOrder(c Case, order interleaving, p *player, suffixes []string) *Mismatch {
	for _, t := range order.turns {
		call := c.Calls[t.call]
		if got, want, ok := p.play(call, *call.Key+suffixes[t.copy]); !ok {
			return &Mismatch{Copy: t.copy + 1, Call: t.call + 1, Got: got, Want: want}
		}
	}
	return nil
}
