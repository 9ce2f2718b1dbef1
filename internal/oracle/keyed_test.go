package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/penstock-go/penstock/internal/oracle"
)

func TestKeyedKeepsKeysApart(t *testing.T) {
	k := oracle.NewKeyed[string](bucket(1, 10, 1))
	for _, key := range []string{"a", "", "b"} {
		allowed, _ := k.Take(key, 0, 1)
		assert.True(t, allowed, "first of %q", key)
		allowed, retry := k.Take(key, 4, 1)
		assert.False(t, allowed, "second of %q", key)
		assert.Equal(t, int64(6), retry)
		assert.Zero(t, k.Remaining(key, 4))
		assert.Equal(t, int64(6), k.ResetAfter(key, 4))
	}
	k.Reset("b")
	allowed, _ := k.Peek("b", 4, 1)
	assert.True(t, allowed, "after a reset")
}

func TestKeyedLenCountsWhatDiffersFromNew(t *testing.T) {
	k := oracle.NewKeyed[string](bucket(1, 10, 2))
	assert.Zero(t, k.Len(0))
	k.Take("a", 0, 1)
	k.Take("b", 0, 2)
	k.Take("denied", 0, 3)
	k.Take("free", 0, 0)
	k.Peek("peeked", 0, 1)
	assert.Equal(t, 2, k.Len(0))
	assert.Equal(t, 2, k.Len(9))
	assert.Equal(t, 1, k.Len(10))
	assert.Equal(t, 0, k.Len(20))

	never := oracle.NewKeyed[int](bucket(0, 1, 1))
	never.Take(1, 0, 1)
	assert.Equal(t, 1, never.Len(last), "an empty bucket without a rate never equals a new one")
}

func TestKeyedClocks(t *testing.T) {
	for _, one := range []bool{false, true} {
		k := oracle.NewKeyed[string](bucket(1, 10, 1))
		k.OneClock = one
		k.Take("a", 0, 1)
		k.Take("b", 10, 1)
		allowed, _ := k.Take("a", 5, 1)
		assert.Equal(t, one, allowed, "5 ns is 10 ns if the clock is shared: %t", one)
	}
}
