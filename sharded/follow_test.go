package sharded

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
	"github.com/stretchr/testify/require"
)

// chargeCopies charges, in the middle of a rebuild, one permit of each of the keys whose copy is there, at
// the copy that Follow finds, and counts it. A key that was frozen and not copied would be waited for on the
// lock that the rebuilder holds, so it is left out.
func chargeCopies(t *testing.T, table *Table, keys []Key, law uint32, kept map[Key]int64) {
	t.Helper()
	now := table.clock()
	for _, k := range keys {
		_, frozen := table.Find(k, law)
		l := table.dir.Load().leafOf(k.Hash)
		next := table.successor(l, k.Hash)
		if frozen != atomicstate.Moved || next == nil {
			continue
		}
		if slot, _ := next.find(k.under(law)); slot == nil {
			continue
		}
		slot, word := table.Follow(k, law)
		require.True(t, atomicstate.IsLive(word))
		charged, ok := table.law(law).Take(word, now, 1)
		require.True(t, ok)
		require.True(t, slot.CompareAndSwap(word, charged))
		kept[k]++
	}
}

// TestCopiesAreCharged: between all steps of a split, of a rebuild of the same size and of a merge, every
// key that was copied is charged at its copy, and all those charges stand afterwards.
func TestCopiesAreCharged(t *testing.T) {
	const burst = 1_000_000
	for _, c := range []struct {
		name  string
		keys  int // before
		drops int // of them: the others owe for days
		act   func(t *testing.T, table *Table, now *int64, law uint32)
		count func(c Counters) uint64
	}{
		{"split", roomyUsed, 0, func(t *testing.T, table *Table, _ *int64, law uint32) {
			t.Helper()
			h, _ := NewHasher[int]()
			mustCharge(t, table, h.Key(-1), law, 1)
		}, func(c Counters) uint64 { return c.Splits }},
		{"rebuild", 40, 20, func(_ *testing.T, table *Table, now *int64, _ uint32) {
			*now += int64(time.Minute)
			table.Sweep()
		}, func(c Counters) uint64 { return c.Rebuilds }},
		{"merge", 4 * roomyUsed, 4*roomyUsed - 20, func(_ *testing.T, table *Table, now *int64, _ uint32) {
			*now += int64(time.Minute)
			table.Sweep()
		}, func(c Counters) uint64 { return c.Merges }},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := int64(0)
			table := NewTable(func() int64 { return now }, 0)
			law := table.Register(newBucket(t, 1, time.Second, burst))
			h, _ := NewHasher[int]()
			keys, kept := make([]Key, c.keys), map[Key]int64{}
			for i := range keys {
				keys[i] = h.Key(i)
				n := int64(100_000)
				if i < c.drops {
					n = 1
				}
				mustCharge(t, table, keys[i], law, n)
			}
			stay := keys[c.drops:]
			before := c.count(table.Counters())
			table.pause = func() { chargeCopies(t, table, stay, law, kept) }
			c.act(t, table, &now, law)
			table.pause = nil
			require.Greater(t, c.count(table.Counters()), before)
			require.GreaterOrEqual(t, len(kept), len(stay)-2, "all but the last of a leaf")
			require.EqualValues(t, table.Counters().Follows, sum(kept))
			for _, k := range stay {
				word, l, ok := table.Lookup(k)
				require.True(t, ok)
				require.Equal(t, 100_000+kept[k]-now/int64(time.Second), l.Usage(word, now).Permits())
			}
			checkInvariants(t, table)
		})
	}
}

func sum(kept map[Key]int64) (all int64) {
	for _, n := range kept {
		all += n
	}
	return all
}

// TestPostsAreShared: two leaves whose posts have one place are rebuilt at once. The second is not posted,
// and its keys are waited for; the first is, and is taken down.
func TestPostsAreShared(t *testing.T) {
	table, _ := newTestTable(t, 0, func() int64 { return 0 })
	first, second, next := newLeaf(1, 0), newLeaf(1, 0), newLeaf(1, 0)
	post := table.announce(first, next, next)
	require.NotNil(t, post)
	require.Nil(t, table.announce(second, next, next))
	require.Equal(t, next, table.successor(first, 0))
	require.Nil(t, table.successor(second, 0))
	post.withdraw()
	require.Nil(t, table.successor(first, 0))
	require.NotNil(t, table.announce(second, next, next))
}
