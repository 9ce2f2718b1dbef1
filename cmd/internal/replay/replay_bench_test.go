package replay

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// BenchmarkRun replays the sample log, read from memory; the custom figure is
// what one line costs from its bytes to its decision.
func BenchmarkRun(b *testing.B) {
	log, err := os.ReadFile("../../../testdata/access.log")
	if err != nil {
		b.Fatal(err)
	}
	key, err := ParseKey("client_ip", 64)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	lines := 0
	for b.Loop() {
		rep, err := Run(Options{
			Limits: []Limit{{Engine: engine.TokenBucket(engine.PerSecond(10), 20), Key: key}}, Files: []string{"-"},
			Stdin: bytes.NewReader(log), ReorderWindow: time.Hour, ReorderLines: 1 << 20,
		})
		if err != nil {
			b.Fatal(err)
		}
		lines += rep.Lines
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(lines), "ns/line")
}
