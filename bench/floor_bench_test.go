package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/benchtest"
)

// BenchmarkFloor: the floor at each count, with and without its clock, and its
// parts on their own (they do not add up exactly: the processor overlaps them).
func BenchmarkFloor(b *testing.B) {
	for _, part := range []string{"key", "fingerprint", "key+fingerprint", "clock", "cas"} {
		b.Run("part="+part, func(b *testing.B) { floorPart(b, part) })
	}
	for _, count := range counts(b) {
		floorRow(b, "noclock", count, bench.FloorNoClockSubject())
		floorRow(b, "all", count, bench.FloorSubject())
	}
}

func floorRow(b *testing.B, part string, count int, subject bench.Subject) {
	name := fmt.Sprintf("part=%s/keys=%s", part, bench.FormatCount(count))
	benchtest.DecideRow(b, name, benchtest.Row{
		Subject: subject, Load: bench.AllowLoad, Count: count, Size: bench.KeySize,
	})
}

// sink keeps what the parts compute.
var sink uint64

func floorPart(b *testing.B, part string) {
	floor := bench.NewFloor(1)
	keys := bench.NewKeys(1_000, bench.KeySize, 1)
	var sum uint64
	switch part {
	case "key":
		for range b.N {
			sum += uint64(keys.Next()[0])
		}
	case "fingerprint":
		key := keys.Next()
		for range b.N {
			first, second := floor.Fingerprint(key)
			sum += first ^ second
		}
	case "key+fingerprint":
		for range b.N {
			first, second := floor.Fingerprint(keys.Next())
			sum += first ^ second
		}
	case "clock":
		start := time.Now()
		for range b.N {
			sum += uint64(time.Since(start))
		}
	case "cas":
		sum = uint64(floor.SwapHot(b.N))
	}
	sink += sum
}
