package sharded

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"unsafe"
)

// Key is the fingerprint of a user's key: 96 bits that identify it, of which the
// table keeps all. The low 32 bits of Check are zero; the table puts the limit's
// number there.
//
// Two different keys share a fingerprint with probability 2^-96: below 1e-14 that
// any two of 10 million live keys do. Integers and IPv4 addresses never do.
type Key struct {
	// Hash is the first fingerprint; it places the key.
	Hash uint64
	// Check is the second fingerprint, in its upper half.
	Check uint64
}

// The upper half of Check, for keys whose Hash alone is exact, and for the shared
// overflow bucket.
const (
	checkExact    = uint64(1) << 32
	checkOverflow = uint64(2) << 32
	checkMask     = ^uint64(1<<32 - 1)
	indexShift    = 56
	indexMask     = uint64(1)<<indexShift - 1 // all but the index
)

// Overflow is the key of the bucket that new keys share once the cap on keys is
// reached. No exact key equals it.
var Overflow = Key{Check: checkOverflow}

// WithIndex returns the key of the index-th limit of k. Index 0 is k itself; the index is
// part of the identity, so a second limit of one key is never taken for a changed one.
func (k Key) WithIndex(index uint8) Key {
	k.Check ^= uint64(index) << indexShift
	return k
}

// IsOverflow reports whether k is the [Overflow] key, of whatever index.
func (k Key) IsOverflow() bool { return k.under(0).isOverflow() }

// under returns the identity of k under the limit with that number.
func (k Key) under(limit uint32) identity {
	return identity{hash: k.Hash, check: k.Check | uint64(limit)}
}

// ErrKeyType reports a key type that cannot be fingerprinted without the risk of a
// panic on the request path.
var ErrKeyType = errors.New("sharded: unusable key type")

// Hasher turns keys into fingerprints, seeded at random, so that nobody outside can
// aim for a collision. It is immutable and safe for concurrent use. Cost: two 64-bit
// hashes of the key; for integers and IPv4 addresses a dozen instructions.
type Hasher[K comparable] struct {
	kind           keyKind
	first, second  maphash.Seed
	pad, mul, mul2 uint64
}

type keyKind uint8

const (
	kindComparable keyKind = iota
	kindString
	kind8
	kind16
	kind32
	kind64
	kindAddr
	kindAddrPort
)

// NewHasher returns a hasher with fresh random seeds. Key types that contain
// interfaces are refused with [ErrKeyType]: hashing one panics when the value inside
// is not comparable. Floating-point keys follow the rules of Go maps: a NaN equals no
// other key.
func NewHasher[K comparable]() (*Hasher[K], error) {
	t := reflect.TypeFor[K]()
	if at := findInterface(t); at != "" {
		return nil, fmt.Errorf("%w: %v holds an interface (%s), whose dynamic value may not be hashable: use a concrete type",
			ErrKeyType, t, at)
	}
	return &Hasher[K]{
		kind: kindOf(t), first: maphash.MakeSeed(), second: maphash.MakeSeed(),
		pad: rand.Uint64(), mul: rand.Uint64() | 1, mul2: rand.Uint64() | 1,
	}, nil
}

// kindOf chooses the cheapest fingerprint for a type.
func kindOf(t reflect.Type) keyKind {
	switch t {
	case reflect.TypeFor[netip.Addr]():
		return kindAddr
	case reflect.TypeFor[netip.AddrPort]():
		return kindAddrPort
	}
	switch t.Kind() {
	case reflect.String:
		return kindString
	case reflect.Int8, reflect.Uint8, reflect.Bool:
		return kind8
	case reflect.Int16, reflect.Uint16:
		return kind16
	case reflect.Int32, reflect.Uint32:
		return kind32
	case reflect.Int64, reflect.Uint64:
		return kind64
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		if t.Size() == 4 {
			return kind32
		}
		return kind64
	default:
		return kindComparable
	}
}

// findInterface returns where t holds an interface, or "".
func findInterface(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Interface:
		return t.String()
	case reflect.Array:
		return findInterface(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if t == reflect.TypeFor[netip.Addr]() {
				return ""
			}
			if at := findInterface(f.Type); at != "" {
				return t.String() + "." + f.Name + ": " + at
			}
		}
	}
	return ""
}

// Key returns the fingerprint of key. It does not allocate.
func (h *Hasher[K]) Key(key K) Key {
	// Safety: every cast below reads key as the type that kindOf found it to have the
	// layout of; nothing is written and the pointer does not outlive the statement.
	p := unsafe.Pointer(&key)
	switch h.kind {
	case kindString: // maphash.String is the same hash, by one call more
		s := *(*string)(p)
		b := unsafe.Slice(unsafe.StringData(s), len(s))
		return Key{Hash: maphash.Bytes(h.first, b), Check: maphash.Bytes(h.second, b) & checkMask}
	case kind64:
		return h.integer(*(*uint64)(p))
	case kind32:
		return h.integer(uint64(*(*uint32)(p)))
	case kind16:
		return h.integer(uint64(*(*uint16)(p)))
	case kind8:
		return h.integer(uint64(*(*uint8)(p)))
	}
	return h.structured(key)
}

// structured fingerprints a key of more than one field. It is a function of its own for the sake of
// Key's frame.
func (h *Hasher[K]) structured(key K) Key {
	p := unsafe.Pointer(&key) // Safety: as in Key
	switch h.kind {
	case kindAddr:
		a := *(*netip.Addr)(p)
		if a.Is4() {
			return h.ipv4(a)
		}
		if a.Zone() != "" {
			return h.zoned(a, 0)
		}
	case kindAddrPort:
		if a := *(*netip.AddrPort)(p); a.Addr().Zone() != "" {
			return h.zoned(a.Addr(), a.Port())
		}
	}
	return Key{Hash: maphash.Comparable(h.first, key), Check: maphash.Comparable(h.second, key) & checkMask}
}

// Bytes returns the fingerprint that [Hasher.Key] gives the string of these bytes.
func (h *Hasher[K]) Bytes(b []byte) Key {
	return Key{Hash: maphash.Bytes(h.first, b), Check: maphash.Bytes(h.second, b) & checkMask}
}

// ipv4 fingerprints an IPv4 address exactly.
func (h *Hasher[K]) ipv4(a netip.Addr) Key {
	b := a.As4()
	return h.integer(uint64(b[0])<<24 | uint64(b[1])<<16 | uint64(b[2])<<8 | uint64(b[3]))
}

// zoned fingerprints an IPv6 address by the text of its zone. The address itself holds a
// canonical pointer in the zone's place, which the runtime forgets with the last address of
// that zone: the next one would have another fingerprint, and a limit of its own.
func (h *Hasher[K]) zoned(a netip.Addr, port uint16) Key {
	key := struct {
		ip   [16]byte
		zone string
		port uint16
	}{a.As16(), a.Zone(), port}
	return Key{Hash: maphash.Comparable(h.first, key), Check: maphash.Comparable(h.second, key) & checkMask}
}

// integer mixes x by a keyed bijection of 64 bits (xor with a secret, two products with
// odd secrets, two folds), so that different integers have different hashes.
func (h *Hasher[K]) integer(x uint64) Key {
	x = (x ^ h.pad) * h.mul
	x = (x ^ x>>32) * h.mul2
	return Key{Hash: x ^ x>>32, Check: checkExact}
}
