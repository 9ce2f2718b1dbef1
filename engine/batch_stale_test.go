package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestABatchThatWasHeldUp between its look at the clock and at a word, for so long that the word can not be
// read at that time any more, decides at the present one: what was charged meanwhile stays charged.
func TestABatchThatWasHeldUp(t *testing.T) {
	for _, held := range []time.Duration{time.Second, 10 * time.Second, time.Minute, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			m := Must[string](TokenBucket(PerSecond(67_108_859), 1000)) // words are readable for 34 s
			r, early := m.rule.Load(), m.time.exact()
			require.True(t, m.Allow("a")) // the table has its first time
			time.Sleep(held)
			require.True(t, m.AllowN("a", 1000))
			var b batch
			b.keys[0] = m.hasher.Key("a")
			require.False(t, m.tryWordAt(r, &b, 0, early), held)
			require.False(t, m.Allow("a"))
			require.True(t, m.tryWordAt(r, &b, 0, m.time.exact()+int64(time.Microsecond)), "what is earned in a microsecond")
		})
	}
}
