package accesslog

import (
	"bytes"
	"os"
	"testing"
)

// BenchmarkParse parses the sample log again and again, one line an op.
func BenchmarkParse(b *testing.B) {
	log, err := os.ReadFile("../../../testdata/access.log")
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Split(log, []byte("\n"))
	var p Parser
	var e Entry
	b.SetBytes(int64(len(log) / len(lines)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_ = p.Parse(lines[i%len(lines)], &e)
	}
}
