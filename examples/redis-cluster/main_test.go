//go:build unix

package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/internal/servertest"
)

func TestBothLimitsOnACluster(t *testing.T) {
	cluster := servertest.StartRedisCluster(t, 0)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, cluster.Addrs()[:1]))
	want := ""
	for _, client := range []string{"203.0.113.9", "192.0.2.44", "192.0.2.1"} {
		want += client + ": go on; 1 left\n" + client + ": go on; 0 left\n" + client + ": refused by the limit of a minute\n"
	}
	require.Equal(t, want, out.String())
	for _, node := range cluster.Nodes {
		require.Equal(t, int64(2), node.Integer(t, "DBSIZE"), "one client lives on each node, with both limits")
	}
}
