package benchtest

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/penstock-go/penstock/bench"
)

// memoryPoints is how many counts the memory rows measure, each the same factor
// above the one before: enough to meet a table just before and just after it
// doubles.
const memoryPoints = 20

// Memory measures the bytes a key from count/40 (at least 1) to count keys of
// bench.KeySize bytes: the growth of the collected heap since before the
// limiter was made, everything in it counted. Rows keys=<count> report
//
//	B/key        bytes in live objects
//	inuse-B/key  bytes in spans in use, so with what the allocator wastes
//
// and the row keys=all the worst and the mean over the counts, of live bytes.
// One limiter grows through all counts; -benchtime=1x is enough.
func Memory(b *testing.B, count int, subjects []bench.Subject) {
	counts := bench.Geometric(max(1, count/40), count, memoryPoints)
	for _, subject := range subjects {
		curve := memoryCurve{subject: subject, counts: counts, perKey: map[int]perKey{}}
		for _, at := range counts {
			b.Run(fmt.Sprintf("limiter=%s/keys=%s", subject.Name, bench.FormatCount(at)), func(b *testing.B) {
				skipIfLacking(b, subject)
				curve.reach(b, at)
				b.ReportMetric(curve.perKey[at].alloc, "B/key")
				b.ReportMetric(curve.perKey[at].inuse, "inuse-B/key")
				b.ReportMetric(0, "ns/op")
			})
		}
		b.Run(fmt.Sprintf("limiter=%s/keys=all", subject.Name), func(b *testing.B) {
			skipIfLacking(b, subject)
			curve.reportAll(b)
		})
		curve.close()
	}
}

// perKey is bytes a key at one count.
type perKey struct{ alloc, inuse float64 }

// memoryCurve grows one limiter through the counts, upwards.
type memoryCurve struct {
	subject bench.Subject
	counts  []int
	perKey  map[int]perKey

	limiter bench.Limiter
	before  bench.Heap
	held    int
}

// reach measures at count unless that was done before. Counts must rise.
func (c *memoryCurve) reach(b *testing.B, count int) {
	if _, done := c.perKey[count]; done {
		return
	}
	keys := bench.NewKeys(1, bench.KeySize, 0)
	if c.limiter == nil {
		c.before = bench.LiveHeap()
		c.limiter = c.subject.New(count, bench.AllowLoad)
	}
	c.limiter.Fill(keys, uint64(c.held), uint64(count))
	c.held = count
	after := bench.LiveHeap()
	c.perKey[count] = perKey{
		alloc: float64(after.Alloc-c.before.Alloc) / float64(count),
		inuse: float64(after.Inuse-c.before.Inuse) / float64(count),
	}
	if err := checkLen(c.limiter, count); err != nil {
		b.Fatal(err)
	}
}

// reportAll reports the worst and the mean of all counts.
func (c *memoryCurve) reportAll(b *testing.B) {
	var worst, sum float64
	worstAt := 0
	for _, count := range c.counts {
		c.reach(b, count)
		at := c.perKey[count].alloc
		sum += at
		if at > worst {
			worst, worstAt = at, count
		}
	}
	b.ReportMetric(worst, "worst-B/key")
	b.ReportMetric(float64(worstAt), "worst-at-keys")
	b.ReportMetric(sum/float64(len(c.counts)), "mean-B/key")
	b.ReportMetric(0, "ns/op")
}

func (c *memoryCurve) close() {
	if c.limiter != nil {
		c.limiter.Close()
		c.limiter = nil
	}
	runtime.GC()
}
