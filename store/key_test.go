package store

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/engine"
)

// hashTag returns the part of a key by which a Redis cluster picks the node.
func hashTag(key string) string {
	_, rest, ok := strings.Cut(key, "{")
	tag, _, closed := strings.Cut(rest, "}")
	if !ok || !closed || tag == "" {
		return key
	}
	return tag
}

// TestKeys: no two keys of callers become one, and all limits of a key are on one node.
func TestKeys(t *testing.T) {
	long := strings.Repeat("x", maxKeyBytes)
	keys := []string{
		"", "a", "b", "}", "}a", "{", "{a}", "a}:n:t", "a}:n:t:{b", "%", "%.", "%.}", "%#", "%.a", ":", "a:b", "\x00", "\xff",
		long, long + "x", long + "y", taggable(long + "x"), "%#" + strings.Repeat("0", 64),
	}
	seen := map[string]string{}
	for _, key := range keys {
		for _, tail := range []string{"n:t", "n:u", "m:t"} {
			full := fullKey("p", key, tail)
			other, twice := seen[full]
			require.False(t, twice, "%q and %q", key, other)
			seen[full] = key
			require.Equal(t, hashTag(fullKey("p", key, "n:t")), hashTag(full))
			require.NotEqual(t, full, hashTag(full), "the whole key is no tag")
			require.LessOrEqual(t, len(full), maxKeyBytes+20)
		}
	}
}

// TestLongestKey: whatever callers and programs name, a storage has to take keys of some 800 bytes at most.
func TestLongestKey(t *testing.T) {
	memory := NewMemory(time.Microsecond, nil)
	const years = 290 * 365 * 24 * time.Hour
	most := strings.Repeat("y", maxNameBytes)
	backend, err := NewBackend(memory, WithPrefix(most))
	require.NoError(t, err)
	for _, limit := range []engine.Limit{
		engine.TokenBucket(engine.Rate{Tokens: 999_983, Per: time.Hour}, 999), engine.SlidingWindow(1<<20, years), engine.FixedWindow(1<<50, years),
	} {
		l, err := backend.Limiter(most, limit)
		require.NoError(t, err)
		for _, n := range []int{0, maxKeyBytes - 1, maxKeyBytes, maxKeyBytes + 1, 1 << 20} {
			for _, first := range []string{"x", "}", "%", "{", "\x00", "\xff"} {
				key := strings.Repeat(first, n)
				require.LessOrEqual(t, len(l.Key(key)), 820)
				d, err := l.Take(t.Context(), key, 1)
				require.NoError(t, err)
				require.True(t, d.Allowed)
				require.Equal(t, limit.Capacity()-1, d.Remaining)
				require.NoError(t, l.Reset(t.Context(), key))
			}
		}
		require.NoError(t, l.Close())
	}
}
