package store

import (
	"crypto/sha256"
	"encoding/hex"
)

// maxKeyBytes is how long a caller's key may be before its hash stands for it: stores bound the
// length of keys, and people put what they like into them.
const maxKeyBytes = 512

// maxNameBytes is how long a prefix and the name of a limit may be, so that no key is longer than stores have to take.
const maxNameBytes = 100

// fullKey returns the key under which a caller's key is kept:
//
//	prefix:{key}:name:tag
//
// The braces mark the part by which a Redis cluster picks the node: all limits of one key share it.
// The tag tells the laws whose words do not mean the same. No two keys become one: names,
// tags and the prefix have no braces and no colons where it matters, so that what stands between the
// first and the last brace is the key.
func fullKey(prefix, key, tail string) string {
	return prefix + ":{" + taggable(key) + "}:" + tail
}

// taggable returns the key, escaped where it would be no hash tag, and hashed where it is too long.
func taggable(key string) string {
	switch {
	case len(key) > maxKeyBytes:
		sum := sha256.Sum256([]byte(key))
		return "%#" + hex.EncodeToString(sum[:])
	case key == "" || key[0] == '}' || key[0] == '%':
		return "%." + key
	}
	return key
}
