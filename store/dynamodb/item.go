package dynamodb

import (
	"encoding/binary"
	"fmt"
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
	tat        *big.Int // t: nil if there is none
	windowed   bool     // i is there
	index      int64    // i
	prev, curr int64    // p, c
	raw        uint64   // w, 0 if there is none
	collect    int64    // x, 0 if there is none
}

// word returns the word of an item, 0 if it has none or it has expired.
func (it *item) word(now int64) uint64 {
	if it.collect != 0 && it.collect <= seconds(now)+collectLate {
		return 0
	}
	return it.raw
}

// parse reads an item. Fields that are none of ours are passed over.
func parse(fields attributes) (item, error) {
	var it item
	for name, value := range fields {
		switch value := value.(type) {
		case *types.AttributeValueMemberB:
			if name == "w" && len(value.Value) == 8 {
				it.raw = binary.BigEndian.Uint64(value.Value)
			}
		case *types.AttributeValueMemberN:
			if err := it.number(name, value.Value); err != nil {
				return item{}, err
			}
		}
	}
	return it, nil
}

// number takes in a numeric field.
func (it *item) number(name, text string) error {
	var into *int64
	switch name {
	case "t":
		var ok bool
		if it.tat, ok = parseInteger(text); !ok {
			return fmt.Errorf("dynamodb: t is %q, no integer: remove the item", text)
		}
		return nil
	case "i":
		into, it.windowed = &it.index, true
	case "p":
		into = &it.prev
	case "c":
		into = &it.curr
	case "x":
		into = &it.collect
	default:
		return nil
	}
	n, ok := parseInteger(text)
	if !ok || !n.IsInt64() {
		return fmt.Errorf("dynamodb: %s is %q, no integer of 64 bits: remove the item", name, text)
	}
	*into = n.Int64()
	return nil
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
