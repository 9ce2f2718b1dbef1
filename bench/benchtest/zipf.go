package benchtest

import (
	"fmt"
	"math"
	"testing"

	"github.com/penstock-go/penstock/bench"
)

// Zipf measures one decision on existing keys that are drawn by Zipf's law with
// the exponent 1.0, in place of evenly: a row for each count and subject. The
// draws are a fixed sequence (bench.Zipf), the same for everyone. The decision is
// called through bench.Limiter here, which costs everyone, the floor too, the
// same 1 to 2 ns; the line of the floor follows from the key.
func Zipf(b *testing.B, load bench.Load, counts []int, subjects []bench.Subject) {
	for _, count := range counts {
		for _, subject := range subjects {
			row := Row{Subject: subject, Load: load, Count: count, Size: bench.KeySize, zipf: bench.ZipfOf(count), Loop: zipfLoop}
			DecideRow(b, rowName(subject, count), row)
		}
	}
}

// rowName is the name of a subject's row at a number of keys.
func rowName(subject bench.Subject, count int) string {
	return fmt.Sprintf("limiter=%s/keys=%s/clock=%s", subject.Name, bench.FormatCount(count), subject.Clock)
}

func zipfLoop(l bench.Limiter) Loop {
	return func(k *bench.Keys, n int) (admitted int) {
		for range n {
			if l.Allow(k.NextZipf()) {
				admitted++
			}
		}
		return admitted
	}
}

// checkMet reports draws that met fewer keys than random ones do.
func (r *Row) checkMet(calls int, keys []*bench.Keys, draws []int) error {
	if r.zipf == nil {
		return bench.CheckDistinct(bench.Distinct(keys, draws, r.Count), calls, r.Count)
	}
	met, most := bench.DistinctZipf(keys, draws, r.zipf), 0
	for _, n := range draws {
		most = max(most, n)
	}
	want := bench.ExpectZipf(min(most, r.zipf.Len()), r.Count)
	if float64(met) < want-6*math.Sqrt(want) {
		return fmt.Errorf("benchtest: met %d different keys of %d, draws by Zipf's law meet %.0f", met, r.Count, want)
	}
	return nil
}
