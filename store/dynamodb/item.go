package dynamodb

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// collectLate is how many seconds after an item equals a new one it may be collected: more than any
// difference between the clocks of those who write and the one that collects.
const collectLate = 3600

type attributes = map[string]types.AttributeValue

// item is what a key's item holds: the fields of the forms that its law has, the others are empty.
type item struct {
	tat        *big.Int   // t: nil if there is none
	windowed   bool       // i is there
	index      int64      // i
	prev, curr int64      // p, c
	raw        uint64     // w, 0 if there is none
	collect    int64      // x, 0 if there is none
	broken     attributes // see foreign
}

// word returns the word of an item, 0 if it has none or it has expired.
func (it *item) word(now int64) uint64 {
	if it.collect != 0 && it.collect <= seconds(now)+collectLate {
		return 0
	}
	return it.raw
}

// stands returns the condition that an item's word at now is old, and its values; the item is what was last seen.
func (it *item) stands(old uint64, now int64) (condition string, values attributes) {
	values = attributes{}
	if old == 0 && it.foreign(wordForm) {
		return it.still(wordForm, values), values
	}
	values[":dead"] = integer(seconds(now) + collectLate)
	if old == 0 {
		return "attribute_not_exists(w) OR x <= :dead", values
	}
	values[":old"] = wordValue(old)
	return "w = :old AND (attribute_not_exists(x) OR x > :dead)", values
}

// parse reads an item. Fields that are none of ours are passed over.
func parse(fields attributes) item {
	var it item
	for _, form := range forms {
		it.parse(form, fields)
	}
	return it
}

// number returns an integer field.
func number(value types.AttributeValue) (int64, bool) {
	n, ok := value.(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	integer, ok := parseInteger(n.Value)
	if !ok || !integer.IsInt64() {
		return 0, false
	}
	return integer.Int64(), true
}

// parseInteger reads an N, which may be written with an exponent or with zeros after the point.
func parseInteger(text string) (*big.Int, bool) {
	if n, ok := new(big.Int).SetString(text, 10); ok {
		return n, true
	}
	const longest = 64 // N has up to 38 digits; no exponent may ask for more memory than that
	if f, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(f) > 1e38 || len(text) > longest {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.IsInt() {
		return nil, false
	}
	return r.Num(), true
}

func keyOf(key string) attributes {
	return attributes{"k": &types.AttributeValueMemberB{Value: []byte(key)}}
}

func wordValue(word uint64) types.AttributeValue {
	return &types.AttributeValueMemberB{Value: binary.BigEndian.AppendUint64(nil, word)}
}

func integer(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func bigInteger(n *big.Int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: n.String()}
}

// seconds rounds ticks down to seconds.
func seconds(ticks int64) int64 { return ticks / ticksPerSecond }

const ticksPerSecond = 1_000_000

// collectAt returns the x of an item that equals a new one in life ticks.
func collectAt(now, life int64) int64 {
	at := now + life
	if at < now {
		at = math.MaxInt64
	}
	return seconds(at) + 1 + collectLate
}
