package benchtest

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench"
)

// Insert measures growth: one op makes a limiter and takes the first decision
// for count new keys on one goroutine. It reports
//
//	cpu-ns/key   processor time of the whole process, the collector's included
//	wall-ns/key  time on the clock
//	allocs/key   heap objects
func Insert(b *testing.B, count int, subjects []bench.Subject) {
	for _, subject := range subjects {
		b.Run(fmt.Sprintf("limiter=%s/keys=%s", subject.Name, bench.FormatCount(count)), func(b *testing.B) {
			skipIfLacking(b, subject)
			var total growth
			for range b.N {
				b.StopTimer()
				limiter := subject.New(count, bench.AllowLoad)
				runtime.GC()
				b.StartTimer()
				total.add(grow(limiter, count))
				b.StopTimer()
				if err := checkLen(limiter, count); err != nil {
					b.Fatal(err)
				}
				limiter.Close()
			}
			total.report(b, b.N*count)
		})
		runtime.GC()
	}
}

// growth is what inserting keys cost.
type growth struct {
	cpu, wall time.Duration
	mallocs   uint64
}

func (g *growth) add(more growth) {
	g.cpu += more.cpu
	g.wall += more.wall
	g.mallocs += more.mallocs
}

func (g *growth) report(b *testing.B, keys int) {
	b.ReportMetric(float64(g.cpu)/float64(keys), "cpu-ns/key")
	b.ReportMetric(float64(g.wall)/float64(keys), "wall-ns/key")
	b.ReportMetric(float64(g.mallocs)/float64(keys), "allocs/key")
}

// grow inserts count keys into limiter. Without a processor clock the cpu time
// is the time on the clock.
func grow(limiter bench.Limiter, count int) growth {
	keys := bench.NewKeys(count, bench.KeySize, 0)
	mallocs := bench.Mallocs()
	cpu, told := bench.CPUTime()
	start := time.Now()
	limiter.Fill(keys, 0, uint64(count))
	cost := growth{wall: time.Since(start)}
	cpuAfter, _ := bench.CPUTime()
	if cost.cpu = cpuAfter - cpu; !told {
		cost.cpu = cost.wall
	}
	cost.mallocs = bench.Mallocs() - mallocs
	return cost
}
