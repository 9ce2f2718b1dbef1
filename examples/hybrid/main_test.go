//go:build unix

package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/servertest"
)

// The limit holds over both processes within its slack, nearly all of it is used, and few calls reach
// Redis.
func TestLeasesKeepTheBound(t *testing.T) {
	addr := servertest.StartRedis(t).Addr
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, addr, "bob"))
	var passed, all, most, stored int
	_, err := fmt.Sscanf(out.String(), "%d of %d calls passed, %d at most may have; %d reached Redis\n", &passed, &all, &most, &stored)
	require.NoError(t, err, out.String())
	assert.Equal(t, processes*calls, all)
	assert.LessOrEqual(t, passed, most)
	assert.GreaterOrEqual(t, passed, burst*8/10)
	assert.Less(t, stored, all/20)
	assert.Positive(t, stored)
}
