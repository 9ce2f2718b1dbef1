//go:build unix

package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/servertest"
)

// Processes share the limit: what the first has used, the second has not.
func TestProcessesShare(t *testing.T) {
	addr := servertest.StartRedis(t).Addr
	var first, second bytes.Buffer
	require.NoError(t, run(t.Context(), &first, addr))
	require.NoError(t, run(t.Context(), &second, addr))
	const refused = "come back later, says the store\n"
	require.Equal(t, "go on; 1 left, says the store\ngo on; 0 left, says the store\n"+refused, first.String())
	require.Equal(t, refused+refused+refused, second.String())
}
