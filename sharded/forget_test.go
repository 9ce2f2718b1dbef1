package sharded

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/atomicstate"
)

// forgetful is a table on which anything is done, beside what is needed to do it.
type forgetful struct {
	t       *testing.T
	rnd     *rand.Rand
	now     int64
	table   *Table
	limits  []uint32
	hasher  *Hasher[int]
	charges []chargeOf
	made    []promiseOf
}

type chargeOf struct {
	key   Key
	limit uint32
	act   atomicstate.Act
	epoch uint64
}

type promiseOf struct {
	key     Key
	promise Promise
}

func newForgetful(t *testing.T, seed uint64, maxKeys int64) *forgetful {
	t.Helper()
	f := &forgetful{t: t, rnd: rand.New(rand.NewPCG(seed, 12))}
	f.table = NewTable(func() int64 { return f.now }, maxKeys)
	fixed, err := atomicstate.NewFixedWindow(5, 700)
	require.NoError(t, err)
	sliding, err := atomicstate.NewSlidingWindow(5, 900)
	require.NoError(t, err)
	for _, law := range []atomicstate.Law{newBucket(t, 1, 100, 5), newBucket(t, 1, 3000, 9), fixed, sliding} {
		f.limits = append(f.limits, f.table.Register(law))
	}
	f.hasher, err = NewHasher[int]()
	require.NoError(t, err)
	return f
}

// actions is what may be done to a key; each reports whether it came to anything.
var actions = map[string]func(f *forgetful, k Key, limit uint32) bool{
	"limit": func(f *forgetful, k Key, limit uint32) bool {
		before := f.table.Counters().Conversions
		charge(f.table, k, limit, 1)
		return f.table.Counters().Conversions > before
	},
	"move in": func(f *forgetful, k Key, limit uint32) bool {
		outcome, _, _ := f.table.Insert(k, limit, f.now, 1, func(int64) (int64, bool) { return 1, true })
		return outcome == Charged || outcome == Denied
	},
	"move out": func(f *forgetful, k Key, _ uint32) bool {
		moved := false
		f.table.MoveOut(k, f.now, func(used, _ int64) { moved = used > 0 })
		return moved
	},
	"reset": func(f *forgetful, k Key, _ uint32) bool { return f.table.Reset(k) },
	"refund": func(f *forgetful, _ Key, _ uint32) bool {
		c := f.charges[len(f.charges)-1]
		return f.table.Refund(c.key, c.limit, c.act, c.act.N, c.epoch)
	},
	"promise": func(f *forgetful, k Key, limit uint32) bool {
		l := f.table.Ledger(k)
		l.Lock()
		defer l.Unlock()
		o, _, a := l.Offer(k, limit, f.now, f.now+f.rnd.Int64N(500), 1)
		if a != Offered {
			return false
		}
		p, ok := l.Make(k, o)
		f.made = append(f.made, promiseOf{k, p})
		return ok
	},
	"release": func(f *forgetful, _ Key, _ uint32) bool {
		if len(f.made) == 0 {
			return false
		}
		i := f.rnd.IntN(len(f.made))
		l := f.table.Ledger(f.made[i].key)
		l.Lock()
		defer l.Unlock()
		return l.Cancel(f.made[i].key, f.made[i].promise)
	},
}

// act charges a key, or does something else to it, or lets time pass. It returns what it did.
func (f *forgetful) act() string {
	i := f.rnd.IntN(600)
	k, limit := f.hasher.Key(i), f.limits[i%len(f.limits)]
	switch r := f.rnd.IntN(1000); {
	case r < 3:
		f.now += f.rnd.Int64N(600)
	case r < 5:
		f.table.SweepStep()
	case r < 8 && f.table.maxKeys > 0:
		f.table.maxKeys++ // as when another leaf forgets a key
	case r < 45 && len(f.charges) > 0:
		names := []string{"limit", "move in", "move out", "reset", "refund", "promise", "release"}
		name := names[f.rnd.IntN(len(names))]
		if name == "limit" {
			limit = f.limits[f.rnd.IntN(len(f.limits))]
		}
		if actions[name](f, k, limit) {
			return name
		}
	default:
		n, epoch := 1+f.rnd.Int64N(5), f.table.Epoch()
		if ok, at, _ := charge(f.table, k, limit, n); ok {
			f.charges = append(f.charges, chargeOf{k, limit, atomicstate.Act{At: at, N: n}, epoch})
		}
		return "charge"
	}
	return ""
}

// TestALeafLooksInTime: a leaf that knows of nothing to forget does not look for any, at the cap on keys and
// when it is full. Whatever is done to its keys, then there is nothing.
func TestALeafLooksInTime(t *testing.T) {
	done := map[string]int{} // while some leaf did not look
	for seed := range uint64(24) {
		f := newForgetful(t, seed, int64(seed%2*70))
		for range 12000 {
			blind, splits := f.blind(), f.table.Counters().Splits
			what := f.act()
			f.table.eachLeaf(func(l *leaf) { require.NoError(t, f.table.looksInTime(l), "%s, seed %d", what, seed) })
			if blind > 0 {
				done[what]++
			}
			if f.table.Counters().Splits > splits && f.blind() >= 2 {
				done["split"]++
			}
		}
		checkInvariants(t, f.table)
	}
	t.Log(done)
	for what := range actions {
		require.GreaterOrEqual(t, done[what], 10, "%s: too rare", what)
	}
	require.Positive(t, done["split"], "a split handed it on")
}

// blind counts the leaves that would not look.
func (f *forgetful) blind() (n int) {
	f.table.eachLeaf(func(l *leaf) {
		if f.now < l.retryForget {
			n++
		}
	})
	return n
}

// TestASplitHandsItOn: both halves of a leaf that knew of nothing to forget know of nothing, until one of
// their keys is reset.
func TestASplitHandsItOn(t *testing.T) {
	table, law := newTestTable(t, 0, func() int64 { return 0 })
	h, _ := NewHasher[int]()
	for i := range roomyUsed + 1 {
		mustCharge(t, table, h.Key(i), law, 1)
	}
	require.EqualValues(t, 1, table.Counters().Splits)
	table.eachLeaf(func(l *leaf) { require.Equal(t, int64(time.Second), l.retryForget) })
	require.True(t, table.Reset(h.Key(0)))
	reset := table.dir.Load().leafOf(h.Key(0).Hash)
	table.eachLeaf(func(l *leaf) { require.Equal(t, l != reset, l.retryForget > 0) })
	checkInvariants(t, table)
}
