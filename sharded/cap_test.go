package sharded

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/atomicstate"
)

// TestResetMakesRoomAtTheCap: the hint that nothing in the leaf can be new yet must not
// outlive a key that became new before its time.
func TestResetMakesRoomAtTheCap(t *testing.T) {
	table, law := newTestTable(t, 10, func() int64 { return 0 })
	h, _ := NewHasher[int]()
	for i := range 10 {
		mustCharge(t, table, h.Key(i), law, 1)
	}
	_, _, full := charge(table, h.Key(100), law, 1)
	require.True(t, full)
	require.True(t, table.Reset(h.Key(3)))
	mustCharge(t, table, h.Key(100), law, 1)
	_, _, full = charge(table, h.Key(101), law, 1)
	require.True(t, full)
	require.True(t, table.Refund(h.Key(4), law, atomicstate.Act{N: 1}, 1, table.Epoch()))
	mustCharge(t, table, h.Key(101), law, 1)
	checkInvariants(t, table)
}

// TestConversionMakesRoomAtTheCap: a key that changes to a faster limit is new sooner.
func TestConversionMakesRoomAtTheCap(t *testing.T) {
	now := int64(0)
	table, law := newTestTable(t, 1, func() int64 { return now })
	fast := table.Register(newBucket(t, 1, 10, 5))
	h, _ := NewHasher[int]()
	mustCharge(t, table, h.Key(0), law, 1)
	_, _, full := charge(table, h.Key(100), law, 1)
	require.True(t, full)
	mustCharge(t, table, h.Key(0), fast, 1)
	now = 20
	mustCharge(t, table, h.Key(100), law, 1)
}

// TestALaterKeyMakesRoomAtTheCap: so is a key that came after the look and uses less.
func TestALaterKeyMakesRoomAtTheCap(t *testing.T) {
	now := int64(0)
	table, law := newTestTable(t, 1, func() int64 { return now })
	h, _ := NewHasher[int]()
	mustCharge(t, table, h.Key(0), law, 100)
	_, _, full := charge(table, h.Key(1), law, 1)
	require.True(t, full)
	table.maxKeys++ // as when another leaf forgets a key
	mustCharge(t, table, h.Key(1), law, 1)
	now = int64(time.Second)
	mustCharge(t, table, h.Key(2), law, 1)
}
