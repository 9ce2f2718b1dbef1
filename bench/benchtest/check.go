package benchtest

import (
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/bench"
)

// Check tests the adapters of subjects, without measuring: filled keys are there
// exactly, each load is answered the way its rows demand, by Run, by Allow and
// on two goroutines, and a key handed over in a reused buffer is not kept.
func Check(t *testing.T, subjects []bench.Subject) {
	t.Helper()
	const count = 3_000
	for _, subject := range subjects {
		for _, load := range []bench.Load{bench.AllowLoad, bench.DenyLoad} {
			t.Run(fmt.Sprintf("%s/%s/%s", subject.Name, subject.Clock, load.Name), func(t *testing.T) {
				checkAdapter(t, Row{Subject: subject, Load: load, Count: count, Size: bench.KeySize})
			})
		}
	}
}

func checkAdapter(t *testing.T, row Row) {
	t.Helper()
	row.open()
	defer row.close()
	if err := checkLen(row.limiter, row.Count); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a key kept by its buffer would show as a new one
		keys := []*bench.Keys{
			bench.NewKeys(row.Count, row.Size, lastSeed.Add(1)),
			bench.NewKeys(row.Count, row.Size, lastSeed.Add(1)),
		}
		const calls = 50_000
		if err := row.check(calls, keys, drive(calls, keys, row.limiter.Run)); err != nil {
			t.Fatal(err)
		}
	}
	if row.Subject.Bound {
		return
	}
	keys := bench.NewKeys(row.Count, row.Size, 0)
	for i := range uint64(row.Count) {
		if got := row.limiter.Allow(keys.At(i)); got != row.Load.Admit {
			t.Fatalf("Allow of key %d = %v, want %v", i, got, row.Load.Admit)
		}
	}
	if err := checkLen(row.limiter, row.Count); err != nil {
		t.Fatal(err)
	}
}
