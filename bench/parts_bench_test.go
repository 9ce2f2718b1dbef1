package bench_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
)

// partsBatch is how many decisions of one kind come before those of the next.
const partsBatch = 1024

// BenchmarkParts accounts for the nanoseconds of Allow on one goroutine. The steps
// of its way (bench.Steps), the engine itself and the floor take turns, a batch
// each, so that all see the same machine. Reported are
//
//	key-ns fingerprint-ns find-ns clock-ns transition-ns cas-ns
//	           what each step adds to those before it; find is the cache miss
//	rest-ns    what Allow costs beyond all of them
//	allow-ns   Allow, the sum of the above
//	floor-ns   the floor, and
//	line-ns    its compare-and-swap on a random line: the floor without its
//	           clock, less key and fingerprint
//
// All are medians over the batches. What a step adds can be negative: the processor overlaps steps. One op is a
// decision of each kind; ns/op is allow-ns.
func BenchmarkParts(b *testing.B) {
	for _, count := range counts(b) {
		var p *parts
		b.Run(fmt.Sprintf("limiter=penstock/keys=%s/clock=exact", bench.FormatCount(count)), func(b *testing.B) {
			if p == nil {
				p = newParts(count)
			}
			p.measure(b)
		})
		if p != nil {
			p.penstock.Close()
		}
	}
}

// parts is all that takes turns, with the keys of each.
type parts struct {
	penstock *bench.Penstock
	count    int
	names    []string
	runs     []func(k *bench.Keys, n int) int
}

func newParts(count int) *parts {
	steps, penstock := bench.NewSteps(bench.AllowLoad), bench.NewPenstock(bench.AllowLoad)
	floor, noClock := bench.NewFloor(count), bench.NewFloorNoClock(count)
	for _, l := range []interface {
		Fill(k *bench.Keys, from, to uint64)
	}{steps, penstock, floor, noClock} {
		l.Fill(bench.NewKeys(count, bench.KeySize, 0), 0, uint64(count))
	}
	p := &parts{penstock: penstock, count: count}
	for _, step := range steps.All() {
		p.names = append(p.names, step.Name)
		p.runs = append(p.runs, func(k *bench.Keys, n int) int {
			sum, done := step.Run(k, n)
			sink += sum
			return done
		})
	}
	p.names = append(p.names, "allow", "floor", "noclock")
	p.runs = append(p.runs, penstock.Run, floor.Run, noClock.Run)
	return p
}

func (p *parts) measure(b *testing.B) {
	keys := make([]*bench.Keys, len(p.runs))
	for i := range keys {
		keys[i] = bench.NewKeys(p.count, bench.KeySize, uint64(i)+1)
	}
	spent := map[string][]float64{} // nanoseconds a decision, by batch
	b.ResetTimer()
	for left := b.N; left > 0; left -= partsBatch {
		n := min(left, partsBatch)
		for i, run := range p.runs {
			start := time.Now()
			done := run(keys[i], n)
			spent[p.names[i]] = append(spent[p.names[i]], float64(time.Since(start))/float64(n))
			if done != n {
				b.Fatalf("%s went through %d of %d times", p.names[i], done, n)
			}
		}
	}
	b.StopTimer()
	p.report(b, spent)
}

func (p *parts) report(b *testing.B, spent map[string][]float64) {
	each := func(name string) float64 {
		slices.Sort(spent[name])
		return spent[name][len(spent[name])/2]
	}
	before := 0.0
	for _, name := range p.names {
		switch name {
		case "allow":
			b.ReportMetric(each(name)-before, "rest-ns")
			b.ReportMetric(each(name), "allow-ns")
			b.ReportMetric(each(name), "ns/op")
		case "floor":
			b.ReportMetric(each(name), "floor-ns")
		case "noclock":
			b.ReportMetric(each(name)-each("fingerprint"), "line-ns")
		default:
			b.ReportMetric(each(name)-before, name+"-ns")
			before = each(name)
		}
	}
}
