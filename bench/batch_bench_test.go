package bench

import (
	"testing"
)

// BenchmarkBatch measures AllowAll of 256 keys beside as many calls of Allow: ns/op is for one key. The
// keys are texts of their own here, not one hot buffer, so both rows also read those.
func BenchmarkBatch(b *testing.B) {
	for _, load := range []Load{AllowLoad, DenyLoad} {
		for _, count := range []int{1, 1000, 100_000, 1_000_000, 4_000_000} {
			batchRows(b, load, count)
		}
	}
}

func batchRows(b *testing.B, load Load, count int) {
	b.Helper()
	keys, draw := make([]string, count), NewKeys(count, KeySize, 1)
	for i := range keys {
		keys[i] = string([]byte(draw.At(uint64(i))))
	}
	p := NewPenstock(load)
	defer p.Close()
	p.Fill(draw, 0, uint64(count))
	batch, out := make([]string, 256), make([]bool, 256)
	run := func(name string, decide func()) {
		b.Run("answer="+load.Name+"/call="+name+"/keys="+FormatCount(count), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i += len(batch) {
				for j := range batch {
					batch[j] = keys[draw.Draw()]
				}
				decide()
			}
		})
	}
	run("allow", func() {
		for i, key := range batch {
			out[i] = p.Allow(key)
		}
	})
	run("allow-all", func() { p.Engine().AllowAll(batch, out) })
}
