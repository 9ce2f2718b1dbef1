package dynamodb

import (
	"encoding/binary"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// form is the fields of an item that go together.
type form []string

// The forms of items. A limit reads and writes one of them, x aside.
var (
	bucketForm = form{"t"}
	windowForm = form{"i", "p", "c"}
	wordForm   = form{"w", "x"}
	forms      = [...]form{bucketForm, windowForm, wordForm}
)

// parse reads the fields of a form. If one cannot be read, all of them are kept as they stand, a missing
// one as nil, and the item is read as if it had none: somebody else has written it. Such a key
// equals a new one, and its next charge writes over it; to refuse it would block it for ever.
func (it *item) parse(f form, fields attributes) {
	read := *it
	if read.fill(f, fields) {
		*it = read
		return
	}
	if it.broken == nil {
		it.broken = attributes{}
	}
	for _, name := range f {
		it.broken[name] = fields[name]
	}
}

// fill reads the fields of a form, and reports whether they can be.
func (it *item) fill(f form, fields attributes) bool {
	there := 0
	for _, name := range f {
		if value, ok := fields[name]; ok {
			there++
			if !it.field(name, value) {
				return false
			}
		}
	}
	// The fields of a window are written together. A word may have no x, and x stands beside all forms.
	return !it.windowed || there == len(f)
}

// field reads one field of ours, and reports whether it can be.
func (it *item) field(name string, value types.AttributeValue) (ok bool) {
	switch name {
	case "t":
		var n *types.AttributeValueMemberN
		if n, ok = value.(*types.AttributeValueMemberN); ok {
			it.tat, ok = parseInteger(n.Value)
		}
	case "w":
		var b *types.AttributeValueMemberB
		if b, ok = value.(*types.AttributeValueMemberB); ok {
			if ok = len(b.Value) == 8; ok {
				it.raw = binary.BigEndian.Uint64(b.Value)
				ok = it.raw != 0 // which stands for none
			}
		}
	case "i":
		it.index, ok = number(value)
		it.windowed = ok
	case "p":
		it.prev, ok = count(value)
	case "c":
		it.curr, ok = count(value)
	case "x":
		it.collect, ok = number(value)
	}
	return ok
}

// count returns a count, which is no less than 0: below that it would admit more than the limit.
func count(value types.AttributeValue) (int64, bool) {
	n, ok := number(value)
	return n, ok && n >= 0
}

// foreign reports whether the fields of a form cannot be read.
func (it *item) foreign(f form) bool {
	_, ok := it.broken[f[0]]
	return ok
}

// still returns the condition that the fields of a form, which cannot be read, stand as they were seen,
// and adds its values.
func (it *item) still(f form, values attributes) string {
	conditions := make([]string, len(f))
	for i, name := range f {
		if it.broken[name] == nil {
			conditions[i] = "attribute_not_exists(" + name + ")"
			continue
		}
		conditions[i], values[":was"+name] = name+" = :was"+name, it.broken[name]
	}
	return strings.Join(conditions, " AND ")
}
