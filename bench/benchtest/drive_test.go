package benchtest

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/penstock-go/penstock/bench"
)

func TestDriveMakesEveryCallOnce(t *testing.T) {
	for _, total := range []int{0, 1, batch - 1, batch, batch + 1, 10*batch + 7} {
		for _, workers := range []int{1, 2, 3} {
			keys := make([]*bench.Keys, workers)
			for i := range keys {
				keys[i] = bench.NewKeys(10, bench.KeySize, uint64(i))
			}
			got, calls := sum(drive(total, keys, func(_ *bench.Keys, n int) int { return n }))
			if got.calls != total || got.admitted != total || len(calls) != workers {
				t.Errorf("drive(%d) on %d: %+v on %d", total, workers, got, len(calls))
			}
		}
	}
}

// liar answers as it likes about keys it does not hold.
type liar struct {
	admit, extra int
	held         atomic.Int64
}

func (l *liar) Fill(_ *bench.Keys, from, to uint64) { l.held.Add(int64(to - from)) }
func (l *liar) Run(k *bench.Keys, n int) int {
	for range n {
		k.Next()
	}
	return n * l.admit
}
func (l *liar) Allow(string) bool { return l.admit == 1 }
func (l *liar) Len() int          { return int(l.held.Load()) + l.extra }
func (l *liar) Close()            {}

// TestRowsRefuseLiars: each way to win by doing nothing must fail the row.
func TestRowsRefuseLiars(t *testing.T) {
	for _, test := range []struct {
		name  string
		liar  *liar
		load  bench.Load
		fault string
	}{
		{"honest", &liar{admit: 1}, bench.AllowLoad, ""},
		{"honest denial", &liar{admit: 0}, bench.DenyLoad, ""},
		{"denies what it must admit", &liar{admit: 0}, bench.AllowLoad, "were denied"},
		{"admits what it must deny", &liar{admit: 1}, bench.DenyLoad, "were admitted"},
		{"forgets keys", &liar{admit: 1, extra: -1}, bench.AllowLoad, "holds"},
		{"makes keys", &liar{admit: 1, extra: 1}, bench.AllowLoad, "holds"},
	} {
		t.Run(test.name, func(t *testing.T) {
			subject := bench.Subject{Name: "liar", New: func(int, bench.Load) bench.Limiter { return test.liar }}
			row := Row{Subject: subject, Load: test.load, Count: 100, Size: bench.KeySize}
			row.open()
			defer row.close()
			keys := []*bench.Keys{bench.NewKeys(100, bench.KeySize, 1)}
			err := errors.Join(row.check(5_000, keys, drive(5_000, keys, row.limiter.Run)), row.checkKeys())
			if (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
				t.Errorf("check = %v, want %q", err, test.fault)
			}
		})
	}
}
