package sharded

import (
	"net/netip"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestZonedAddressKeepsItsFingerprint: the runtime forgets a zone that no address holds any
// more and gives it another identity later; a key's usage must not be forgotten with it.
func TestZonedAddressKeepsItsFingerprint(t *testing.T) {
	keepsFingerprint(t, func() netip.Addr { return netip.MustParseAddr("fe80::1%zone0") })
	keepsFingerprint(t, func() netip.AddrPort { return netip.MustParseAddrPort("[fe80::1%zone1]:80") })
}

func keepsFingerprint[K comparable](t *testing.T, fresh func() K) {
	t.Helper()
	h, err := NewHasher[K]()
	require.NoError(t, err)
	before := h.Key(fresh())
	for i := range 100 { // other zones take the place of the one that is forgotten
		if i%25 == 0 {
			runtime.GC()
			for range 100 { // for the cleanup that follows it
				runtime.Gosched()
			}
		}
		netip.MustParseAddr("fe80::1%other" + strconv.Itoa(i))
	}
	require.Equal(t, before, h.Key(fresh()))
}
