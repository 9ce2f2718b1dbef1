package sharded

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestLayout(t *testing.T) {
	require.EqualValues(t, leafBytes, unsafe.Sizeof(leaf{}))
	require.EqualValues(t, slotBytes, unsafe.Sizeof(slot{}))
	require.EqualValues(t, headerBytes, unsafe.Offsetof(leaf{}.slots))
	require.EqualValues(t, 0, unsafe.Offsetof(leaf{}.slots)%8, "words are aligned for 64-bit atomics")
	require.Equal(t, 510, SlotsPerLeaf)
	require.Equal(t, 430, maxUsed)
	require.Less(t, maxUsed, SlotsPerLeaf, "a probe must meet an empty slot")
	require.EqualValues(t, 512<<20, int64(8)<<maxDepth, "bytes of the largest directory")
	require.EqualValues(t, 14, int64(maxUsed)<<(maxDepth-1)/1e9, "billions of keys at which the densest leaves are that deep")
}

// TestProbesAreShort: what the reasons for maxUsed and roomyUsed say.
func TestProbesAreShort(t *testing.T) {
	mean, _ := probes(maxUsed)
	require.Less(t, mean, 4.0)
	require.Greater(t, mean, 3.0, "suspiciously short: were the leaves full?")
	_, first := probes(roomyUsed * 3 / 4) // on average, between two splits
	require.InDelta(t, 0.9, first, 0.015)
}

// probes returns how many slots a hit looks at on average, and the share that looks at one, in leaves
// with so many keys.
func probes(used int) (mean, first float64) {
	rnd := rand.New(rand.NewPCG(3, 5))
	const leaves = 300
	for range leaves {
		l := newLeaf(0, 0)
		ids := make([]identity, used)
		for i := range ids {
			ids[i] = identity{hash: rnd.Uint64()}
			l.insert(ids[i], 1) // live
		}
		for _, id := range ids {
			slots := 1
			for at := home(id.hash); l.slots[at].identity != id; at = (at + 1) % SlotsPerLeaf {
				slots++
			}
			mean += float64(slots)
			if slots == 1 {
				first++
			}
		}
	}
	all := float64(leaves * used)
	return mean / all, first / all
}

// TestSmallTablesAreRoomy: how much memory that takes, and that it ends.
func TestSmallTablesAreRoomy(t *testing.T) {
	table, law := newTestTable(t, 0, func() int64 { return 0 })
	h, _ := NewHasher[int]()
	for i := range 10_000 {
		mustCharge(t, table, h.Key(i), law, 1)
		if i+1 == 3000 {
			require.InDelta(t, 32, countLeaves(table), 4)
		}
	}
	require.Less(t, float64(countLeaves(table)*leafBytes)/float64(table.Len()), 52.0)
	require.Equal(t, 127, roomyUsed)
}

// TestBytesAKeyInTheLimit computes the swing that the reason for coordinate names: for very many
// keys a leaf is as deep as its density asks for, and the share of leaves of each depth depends
// only on where the count lies between two powers of two.
func TestBytesAKeyInTheLimit(t *testing.T) {
	for _, c := range []struct {
		density        func(at float64) float64 // of keys, at a coordinate in [0, 1)
		fewest, most   float64
		sparse, denser float64
	}{
		{func(float64) float64 { return 1 }, 29, 57, 1, 1},
		{func(at float64) float64 { return 2 / math.Sqrt(1+8*at) }, 39, 44, 2.0 / 3, 2},
	} {
		require.InDelta(t, c.denser, c.density(0), 1e-9)
		require.InDelta(t, c.sparse, c.density(1), 1e-9)
		fewest, most, sum := math.Inf(1), 0.0, 0.0
		const samples = 64
		for sample := range samples {
			exponent := 20 + float64(sample)/samples
			keys, leaves, deepest := maxUsed*math.Exp2(exponent), 0.0, 0.0
			const steps = 2000
			for i := range steps {
				depth := math.Ceil(exponent + math.Log2(c.density((float64(i)+0.5)/steps)))
				leaves += math.Exp2(depth) / steps
				deepest = max(deepest, depth)
			}
			perKey := (leaves*leafBytes + 8*math.Exp2(deepest)) / keys
			fewest, most, sum = min(fewest, perKey), max(most, perKey), sum+perKey
		}
		require.InDelta(t, c.fewest, fewest, 0.5)
		require.InDelta(t, c.most, most, 0.5)
		require.InDelta(t, 41, sum/samples, 0.5, "the mean")
	}
}

// TestCoordinateIsMonotonic: leaves are ranges of coordinates, so order must be kept, and the
// whole range must be used.
func TestCoordinateIsMonotonic(t *testing.T) {
	require.EqualValues(t, 0, coordinate(0))
	require.Greater(t, coordinate(math.MaxUint64), uint64(math.MaxUint32-4))
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 100000 {
		a, b := rnd.Uint64(), rnd.Uint64()
		if a > b {
			a, b = b, a
		}
		require.LessOrEqual(t, coordinate(a), coordinate(b))
		require.LessOrEqual(t, coordinate(b), uint64(math.MaxUint32))
	}
}

// TestBytesAKeyStayEven: the slots a key takes, over many counts of keys, stay within what the
// documents say (29 to 57 bytes without the bend, 39 to 44 with it, in the limit of many keys;
// a few thousand keys stray a little).
func TestBytesAKeyStayEven(t *testing.T) {
	if testing.Short() {
		t.Skip("inserts some 300,000 keys")
	}
	now := int64(0)
	table, law := newTestTable(t, 0, func() int64 { return now })
	h, err := NewHasher[int]()
	require.NoError(t, err)
	worst, sum, samples := 0.0, 0.0, 0
	next := 40000.0
	for i := 1; i <= 300000; i++ {
		mustCharge(t, table, h.Key(i), law, 1)
		if float64(i) >= next {
			next *= 1.1
			leaves := countLeaves(table)
			perKey := float64(leaves*leafBytes+len(table.dir.Load().leaves)*8) / float64(i)
			worst, sum, samples = max(worst, perKey), sum+perKey, samples+1
		}
	}
	t.Logf("bytes a key: worst %.1f, mean %.1f over %d counts", worst, sum/float64(samples), samples)
	require.Less(t, worst, 47.0)
	require.Less(t, sum/float64(samples), 43.0)
	require.Greater(t, sum/float64(samples), 38.0, "suspiciously little: are all keys there?")
}

func countLeaves(table *Table) (leaves int) {
	table.eachLeaf(func(*leaf) { leaves++ })
	return leaves
}

// checkInvariants verifies a table at rest.
func checkInvariants(t *testing.T, table *Table) {
	t.Helper()
	require.NoError(t, table.invariants())
}
