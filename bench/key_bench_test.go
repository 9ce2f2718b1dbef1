package bench_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/benchtest"
	"github.com/penstock-go/penstock/engine"
)

// keyCounts are one count that fits the cache and one that does not.
func keyCounts() []int { return []int{1_000, 1_000_000} }

// BenchmarkKeyLength: string keys of several lengths, beside the floor with the
// same keys: what the length costs beyond making and hashing it is the
// difference of the differences.
func BenchmarkKeyLength(b *testing.B) {
	for _, count := range keyCounts() {
		for _, size := range []int{8, 16, 36, 64, 256} {
			for _, subject := range []bench.Subject{bench.FloorSubject(), bench.PenstockSubject()} {
				name := fmt.Sprintf("limiter=%s/bytes=%d/keys=%s/clock=exact", subject.Name, size, bench.FormatCount(count))
				benchtest.DecideRow(b, name, benchtest.Row{
					Subject: subject, Load: bench.AllowLoad, Count: count, Size: size,
				})
			}
		}
	}
}

// route is a composite key without pointers.
type route struct {
	client   uint64
	endpoint uint32
}

// named is a composite key with pointers in it.
type named struct{ client, endpoint string }

// BenchmarkKeyType: keys that are not strings. Each key is made from its index
// by a function called through a pointer (1 to 2 ns, the same for all types).
func BenchmarkKeyType(b *testing.B) {
	clients := clientNames(1_000)
	for _, count := range keyCounts() {
		typeRow(b, "uint64", count, func(i uint64) uint64 { return i })
		typeRow(b, "uint32", count, func(i uint64) uint32 { return uint32(i) })
		typeRow(b, "ipv4", count, ipv4)
		typeRow(b, "ipv6", count, ipv6)
		typeRow(b, "struct", count, func(i uint64) route { return route{client: i / 4, endpoint: uint32(i % 4)} })
		typeRow(b, "strings", count, func(i uint64) named {
			return named{client: clients[i%1_000], endpoint: clients[i/1_000]}
		})
	}
}

func typeRow[K comparable](b *testing.B, name string, count int, at func(uint64) K) {
	subject := bench.Subject{Name: "penstock", Clock: "exact", New: func(_ int, load bench.Load) bench.Limiter {
		return &typed[K]{limiter: engine.Must[K](load.Limit()), at: at, charge: load.Charge}
	}}
	row := fmt.Sprintf("limiter=penstock/type=%s/keys=%s/clock=exact", name, bench.FormatCount(count))
	benchtest.DecideRow(b, row, benchtest.Row{Subject: subject, Load: bench.AllowLoad, Count: count, Size: bench.KeySize})
}

// typed is the adapter of a limiter whose keys are not strings.
type typed[K comparable] struct {
	limiter *engine.Limiter[K]
	at      func(uint64) K
	charge  int64
}

func (t *typed[K]) Fill(_ *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		t.limiter.AllowN(t.at(i), t.charge)
	}
}

func (t *typed[K]) Run(k *bench.Keys, n int) (admitted int) {
	for range n {
		if t.limiter.Allow(t.at(k.Draw())) {
			admitted++
		}
	}
	return admitted
}

// Allow is not for these keys.
func (t *typed[K]) Allow(string) bool { return false }
func (t *typed[K]) Len() int          { return t.limiter.Len() }
func (t *typed[K]) Close()            { _ = t.limiter.Close() }

func ipv4(i uint64) netip.Addr {
	var bytes [4]byte
	binary.BigEndian.PutUint32(bytes[:], 10<<24|uint32(i))
	return netip.AddrFrom4(bytes)
}

func ipv6(i uint64) netip.Addr {
	bytes := [16]byte{0x20, 0x01, 0x0d, 0xb8}
	binary.BigEndian.PutUint64(bytes[8:], i)
	return netip.AddrFrom16(bytes)
}

func clientNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("client-%03d", i)
	}
	return names
}
