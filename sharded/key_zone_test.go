package sharded

import (
	"net/netip"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestZonedAddressKeepsItsFingerprint: the runtime forgets a zone that no address holds any
// more and gives it another identity later; a key's usage must not be forgotten with it.
func TestZonedAddressKeepsItsFingerprint(t *testing.T) {
	keepsFingerprint(t, func() netip.Addr { return netip.MustParseAddr("fe80::1%review0") })
	keepsFingerprint(t, func() netip.AddrPort { return netip.MustParseAddrPort("[fe80::1%review1]:80") })
}

func keepsFingerprint[K comparable](t *testing.T, make func() K) {
	t.Helper()
	h, err := NewHasher[K]()
	require.NoError(t, err)
	before := h.Key(make())
	for i := range 100 { // other zones take the place of the one that is forgotten
		if i%25 == 0 {
			runtime.GC()
			time.Sleep(time.Millisecond) // for the cleanup that follows it
		}
		netip.MustParseAddr("fe80::1%other" + strconv.Itoa(i))
	}
	require.Equal(t, before, h.Key(make()))
}
