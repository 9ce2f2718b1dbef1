package benchtest

import (
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/bench"
)

// Check tests the adapters of subjects, without measuring: filled keys are there
// exactly, each load is answered the way its rows demand, by Run, by Allow and
// on two goroutines, a key handed over in a reused buffer is not kept, and of a
// small limit each key is admitted what the limit leaves it and not one more.
func Check(t *testing.T, subjects []bench.Subject) {
	t.Helper()
	const count = 3_000
	for _, subject := range subjects {
		if !subject.Bound && subject.Lacks["Deny"] == "" {
			t.Run(fmt.Sprintf("%s/%s/spend", subject.Name, subject.Clock), func(t *testing.T) { checkSpend(t, subject) })
		}
		for _, load := range []bench.Load{bench.AllowLoad, bench.DenyLoad} {
			if !load.Admit && subject.Lacks["Deny"] != "" {
				continue
			}
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

// checkSpend takes more permits of each key than the limit has left.
func checkSpend(t *testing.T, subject bench.Subject) {
	t.Helper()
	const count = 100
	left := int(bench.SpendLoad.Burst - bench.SpendLoad.Charge)
	limiter := subject.New(count, bench.SpendLoad)
	defer limiter.Close()
	keys := bench.NewKeys(count, bench.KeySize, 0)
	limiter.Fill(keys, 0, count)
	for i := range uint64(count) {
		for call := range 2 * left {
			if got := limiter.Allow(keys.At(i)); got != (call < left) {
				t.Fatalf("call %d of key %d: admitted %v, want the first %d admitted", call, i, got, left)
			}
		}
	}
	random := bench.NewKeys(count, bench.KeySize, 1)
	if admitted := limiter.Run(random, 1_000); admitted != 0 {
		t.Fatalf("Run admitted %d of 1000 calls, no key has a permit left", admitted)
	}
}
