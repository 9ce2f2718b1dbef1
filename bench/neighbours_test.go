package bench

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHotSlots: the keys are where they are said to be, by the addresses of their
// words, and each permit is taken of the goroutine's own keys.
func TestHotSlots(t *testing.T) {
	const slotBytes = 24
	for _, apart := range []bool{false, true} {
		h := NewHot(AllowLoad, apart)
		require.Equal(t, Neighbours, h.steps.Len())
		var addresses []uint64
		for _, key := range h.keys {
			word, _ := h.steps.table.Find(key, h.steps.number)
			require.NotNil(t, word)
			text, _ := strings.CutPrefix(fmt.Sprintf("%p", word), "0x")
			address, err := strconv.ParseUint(text, 16, 64)
			require.NoError(t, err)
			addresses = append(addresses, address)
		}
		step := uint64(1)
		if apart {
			step = apartSlots
		}
		for i, address := range addresses {
			require.Equal(t, addresses[0]+uint64(i)*step*slotBytes, address)
		}
	}
	h := NewHot(SpendLoad, true)
	require.Equal(t, 4*Neighbours/2, h.Take(1, 2, 1_000), "only the own keys' permits")
	require.Zero(t, h.Take(1, 2, 1_000))
	require.Equal(t, 4*Neighbours/2, h.Take(0, 2, 1_000))
}

// TestSteps: every step goes through for keys that are there, and the last one
// takes permits.
func TestSteps(t *testing.T) {
	s := NewSteps(SpendLoad)
	s.Fill(NewKeys(100, KeySize, 0), 0, 100)
	require.Equal(t, 100, s.Len())
	for i, step := range s.All() {
		_, done := step.Run(NewKeys(100, KeySize, 1), 20)
		require.Equal(t, 20, done, step.Name)
		if i >= 2 {
			_, done = step.Run(NewKeys(1<<30, KeySize, 1), 20)
			require.Zero(t, done, "%s found a key that is not there", step.Name)
		}
	}
	_, done := s.All()[5].Run(NewKeys(100, KeySize, 2), 10_000)
	require.Equal(t, 4*100-20, done, "each key had four permits left, 20 were taken before")
}
