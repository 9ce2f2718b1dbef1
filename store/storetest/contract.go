package storetest

import (
	"testing"
	"time"

	"github.com/penstock-go/penstock/store"
)

// word makes a word that a law could have made.
func word(n uint64) uint64 { return n<<2 | 1 }

// Contract checks Get, CompareAndSwap and Put.
func Contract(t *testing.T, k Kit) {
	t.Helper()
	s := k.New(t, nil)
	for name, key := range map[string]string{
		"plain": "storetest:{contract}:a", "bytes": "storetest:{\x00\xff\n}:a",
		"braces": "storetest:{{}}:{a", "long": "storetest:{" + long(512) + "}:a",
	} {
		t.Run(name, func(t *testing.T) { contract(t, s, key) })
	}
}

func long(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'x'
	}
	return string(text)
}

// contract takes one key through its life.
func contract(t *testing.T, s store.Storage, key string) {
	t.Helper()
	ctx := t.Context()
	get := func(want uint64) {
		t.Helper()
		at, err := s.Get(ctx, key)
		if err != nil || at.Word != want {
			t.Fatalf("Get: word %#x, error %v; want %#x", at.Word, err, want)
		}
		if at.Now <= 0 {
			t.Fatalf("Get: time %d is not after 1970", at.Now)
		}
	}
	put := func(w uint64) {
		t.Helper()
		if err := s.Put(ctx, key, w, time.Hour); err != nil {
			t.Fatalf("Put: %v", err)
		}
	}
	swap := func(old, next uint64, want bool, there uint64) {
		t.Helper()
		at, ok, err := s.CompareAndSwap(ctx, key, old, next, time.Hour)
		if err != nil || ok != want {
			t.Fatalf("CompareAndSwap(%#x, %#x): %t, error %v; want %t", old, next, ok, err, want)
		}
		if !ok && (at.Word != there || at.Now <= 0) {
			t.Fatalf("CompareAndSwap(%#x, %#x) failed with word %#x at %d; want %#x and a time", old, next, at.Word, at.Now, there)
		}
	}
	put(0)
	get(0)
	swap(word(1), word(2), false, 0)
	swap(0, word(1), true, 0)
	get(word(1))
	swap(0, word(2), false, word(1))
	swap(word(2), word(3), false, word(1))
	swap(word(1), word(1<<62-1), true, 0) // all 62 bits have to come back
	get(word(1<<62 - 1))
	swap(word(1<<62-1), word(1<<53+1), true, 0) // the first integer that is no float
	get(word(1<<53 + 1))
	put(word(7))
	get(word(7))
	if err := s.Put(ctx, key, word(8), store.Forever); err != nil {
		t.Fatalf("Put for ever: %v", err)
	}
	get(word(8))
	put(0)
	get(0)
	put(0)
}
