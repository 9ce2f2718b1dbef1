package replay

import (
	"encoding/binary"

	"github.com/penstock-go/penstock/cmd/internal/accesslog"
)

// maxSpellings bounds how many spellings of keys are remembered beside the
// keys themselves; a client that rotates through its /64 has many.
const maxSpellings = 1 << 16

// keyring numbers the keys of a replay from 0 in the order of their first
// appearance. Requests whose keys are known cost one map lookup and no garbage.
type keyring struct {
	spec      KeySpec
	spellings map[string]uint32 // the bytes of the log -> number
	numbers   map[string]uint32 // the key -> number
	names     []string          // number -> the key
	raw       []byte            // scratch
}

func newKeyring(spec KeySpec) *keyring {
	return &keyring{spec: spec, spellings: map[string]uint32{}, numbers: map[string]uint32{}}
}

// number returns the number of the key of an entry.
func (k *keyring) number(e *accesslog.Entry) uint32 {
	raw := k.spelling(e)
	if n, ok := k.spellings[string(raw)]; ok {
		return n
	}
	key := k.spec.key(e)
	n, ok := k.numbers[key]
	if !ok {
		n = uint32(len(k.names))
		k.names = append(k.names, key)
		k.numbers[key] = n
	}
	if len(k.spellings) >= maxSpellings {
		clear(k.spellings)
	}
	k.spellings[string(raw)] = n
	return n
}

// spelling returns the bytes that decide the key of an entry, valid until the
// next call. Several fields each carry their length, so that no two different
// lists of fields spell the same.
func (k *keyring) spelling(e *accesslog.Entry) []byte {
	if len(k.spec.fields) == 1 {
		return k.spec.fields[0].bytes(e)
	}
	k.raw = k.raw[:0]
	for _, f := range k.spec.fields {
		raw := f.bytes(e)
		k.raw = append(binary.AppendUvarint(k.raw, uint64(len(raw))), raw...)
	}
	return k.raw
}

// keyrings are the keyrings of several limits. Limits with the same key share
// one.
type keyrings struct {
	rings   []*keyring
	of      []int    // by limit, the index of its ring
	scratch []uint32 // by ring
}

func newKeyrings(limits []Limit) *keyrings {
	k := &keyrings{}
	bySpec := map[string]int{}
	for _, l := range limits {
		spec := l.Key.Words()
		ring, known := bySpec[spec]
		if !known {
			ring = len(k.rings)
			bySpec[spec] = ring
			k.rings = append(k.rings, newKeyring(l.Key))
		}
		k.of = append(k.of, ring)
	}
	k.scratch = make([]uint32, len(k.rings))
	return k
}

// numbers returns the numbers of the keys of an entry, one a ring, valid until
// the next call.
func (k *keyrings) numbers(e *accesslog.Entry) []uint32 {
	for i, ring := range k.rings {
		k.scratch[i] = ring.number(e)
	}
	return k.scratch
}
