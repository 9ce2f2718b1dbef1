package sharded

import (
	"math"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

type route struct {
	client, endpoint string
}

type userID int32

func TestHasherKinds(t *testing.T) {
	require.Equal(t, kindString, kind[string](t))
	require.Equal(t, kind32, kind[userID](t))
	require.Equal(t, kind64, kind[int64](t))
	require.Equal(t, kind8, kind[bool](t))
	require.Equal(t, kind16, kind[uint16](t))
	require.Equal(t, kindAddr, kind[netip.Addr](t))
	require.Equal(t, kindAddrPort, kind[netip.AddrPort](t))
	require.Equal(t, kindComparable, kind[route](t))
	require.Equal(t, kindComparable, kind[[16]byte](t))
	require.Equal(t, kindComparable, kind[netip.Prefix](t))
	require.Equal(t, kindComparable, kind[float64](t))
}

func kind[K comparable](t *testing.T) keyKind {
	t.Helper()
	h, err := NewHasher[K]()
	require.NoError(t, err)
	return h.kind
}

func TestHasherRefusesInterfaces(t *testing.T) {
	_, err := NewHasher[any]()
	require.ErrorIs(t, err, ErrKeyType)
	_, err = NewHasher[struct {
		a int
		b [2]error
	}]()
	require.ErrorIs(t, err, ErrKeyType)
	require.ErrorContains(t, err, ".b")
}

func TestBytesEqualString(t *testing.T) {
	h, _ := NewHasher[string]()
	for _, s := range []string{"", "a", "192.0.2.1", string(make([]byte, 1<<20))} {
		require.Equal(t, h.Key(s), h.Bytes([]byte(s)))
	}
	require.Equal(t, h.Key(""), h.Bytes(nil))
}

func TestHashersDiffer(t *testing.T) {
	a, _ := NewHasher[string]()
	b, _ := NewHasher[string]()
	require.NotEqual(t, a.Key("x"), b.Key("x"))
	c, _ := NewHasher[int]()
	d, _ := NewHasher[int]()
	require.NotEqual(t, c.Key(1), d.Key(1))
}

// TestIntegersAreExact: the mixer is undone step by step, so no two integers share a hash.
func TestIntegersAreExact(t *testing.T) {
	h, _ := NewHasher[int64]()
	inverse := func(x uint64) uint64 { // of an odd number mod 2^64, by Newton's iteration
		y := x
		for range 6 {
			y *= 2 - x*y
		}
		return y
	}
	for _, x := range []int64{0, 1, -1, 42, math.MaxInt64, math.MinInt64, 1 << 32} {
		k := h.Key(x)
		require.Equal(t, checkExact, k.Check)
		y := k.Hash
		y ^= y >> 32
		y *= inverse(h.mul2)
		y ^= y >> 32
		y *= inverse(h.mul)
		require.Equal(t, uint64(x), y^h.pad)
	}
}

func TestAddrKeys(t *testing.T) {
	h, _ := NewHasher[netip.Addr]()
	seen := map[Key]string{}
	for _, s := range []string{"192.0.2.1", "192.0.2.2", "::ffff:192.0.2.1", "2001:db8::1", "2001:db8::2", "fe80::1%eth0", "fe80::1", "::"} {
		k := h.Key(netip.MustParseAddr(s))
		require.Equal(t, k, h.Key(netip.MustParseAddr(s)))
		require.NotContains(t, seen, k)
		seen[k] = s
	}
	require.Equal(t, checkExact, h.Key(netip.MustParseAddr("192.0.2.1")).Check)
	require.NotContains(t, seen, h.Key(netip.Addr{}))
}

func TestIndicesAreDifferentKeys(t *testing.T) {
	h, _ := NewHasher[int]()
	seen := map[Key]bool{}
	for index := range 256 {
		k := h.Key(7).WithIndex(uint8(index))
		require.False(t, seen[k])
		require.Zero(t, k.Check&^checkMask, "the limit's number goes there")
		seen[k] = true
	}
	require.Equal(t, h.Key(7), h.Key(7).WithIndex(0))
}

func TestOverflowIsNoUsersKey(t *testing.T) {
	for index := range uint8(4) {
		require.True(t, Overflow.WithIndex(index).under(9).isOverflow())
	}
	require.False(t, Key{Check: checkExact}.under(0).isOverflow(), "an integer may hash to 0")
	h, _ := NewHasher[string]()
	for _, s := range []string{"", "overflow"} {
		require.False(t, h.Key(s).under(0).isOverflow())
	}
}

// TestHashingAllocatesNothing for every kind of key.
func TestHashingAllocatesNothing(t *testing.T) {
	noAllocs(t, "some key of a usual length", 7)
	noAllocs(t, 7, 3)
	noAllocs(t, netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"))
	noAllocs(t, netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("192.0.2.2"))
	noAllocs(t, route{"a", "b"}, 2)
	noAllocs(t, [3]int{1, 2, 3}, 2)
}

func noAllocs[K comparable](t *testing.T, key K, _ any) {
	t.Helper()
	h, err := NewHasher[K]()
	require.NoError(t, err)
	var sink Key
	require.Zero(t, testing.AllocsPerRun(100, func() { sink = h.Key(key) }))
	require.Equal(t, sink, h.Key(key))
}
