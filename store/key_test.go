package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
