package sharded

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBorrowedKeysAreNotKept: a caller who lends its bytes meets a log that is dropped and made
// anew meanwhile. Helping to drop the old one must not put the bytes into the table, where the
// caller's next use of them would lose the key, and with it what it has used.
func TestBorrowedKeysAreNotKept(t *testing.T) {
	limit := LogLimit{Limit: 3, WindowNanos: 10}
	calls := map[string]func(g *Logs[string], key []byte, n int64, now func() int64){
		"take": func(g *Logs[string], key []byte, n int64, now func() int64) {
			TakeLogBytes(g, key, limit, n, now)
		},
		"take of a known key": func(g *Logs[string], key []byte, n int64, now func() int64) {
			TakeExistingLogBytes(g, key, limit, n, now)
		},
	}
	for name, call := range calls {
		for _, n := range []int64{0, 1} {
			g := NewLogs[string]()
			g.Take("key", limit, 1, logAt(0))
			key := []byte("key")
			moved := false
			call(g, key, n, func() int64 {
				if !moved { // the log was found, and is dropped and made anew before it is charged
					moved = true
					g.Reset("key")
					g.Take("key", limit, 1, logAt(0))
				}
				return 0
			})
			copy(key, "xyz")
			require.True(t, g.Has("key"), "%s of %d", name, n)
			require.False(t, g.Has("xyz"), "%s of %d", name, n)
			require.Equal(t, 2-n, g.Peek("key", limit, 1, 0).Remaining, "%s of %d", name, n)
		}
	}
}
