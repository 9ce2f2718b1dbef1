package benchtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/bench"
)

// TestDecideUntilCollected: as many collections as promised, and every call counted.
func TestDecideUntilCollected(t *testing.T) {
	before, used := collections(), readCPU()
	keys := generators(2, 10, bench.KeySize)
	total, draws := sum(decideUntilCollected(keys, func(k *bench.Keys, n int) int {
		for range n {
			k.Next()
		}
		return n - 1
	}))
	require.GreaterOrEqual(t, collections(), before+gcLoadCycles)
	require.Equal(t, total.calls, draws[0]+draws[1])
	require.Equal(t, total.calls-total.calls/batch, total.admitted)
	after := readCPU()
	require.Greater(t, after.collector, used.collector)
	require.Greater(t, after.busy-used.busy, after.collector-used.collector)
}

// TestZipfRow: the row is driven by the sequence, on as many goroutines as asked for,
// and refuses a limiter that does nothing.
func TestZipfRow(t *testing.T) {
	for admit, fault := range map[int]string{1: "", 0: "were denied"} {
		subject := bench.Subject{Name: "liar", New: func(int, bench.Load) bench.Limiter { return &liar{admit: admit} }}
		row := Row{Subject: subject, Load: bench.AllowLoad, Count: 1_000, Size: bench.KeySize, Workers: 3, zipf: bench.ZipfOf(1_000)}
		row.open()
		keys := generators(row.workers(), row.Count, row.Size)
		require.Len(t, keys, 3)
		for _, k := range keys {
			k.Follow(row.zipf)
		}
		err := row.check(20_000, keys, drive(20_000, keys, zipfLoop(row.limiter)))
		if fault == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, fault)
		}
		row.close()
	}
}
