package fair

import "math/bits"

// tag is a time of the virtual clock: permits per unit of weight, in units of 2^-64. It is
// wide enough for 2^62 permits at weight 1 between two calls of schedule.rebase, and fine enough for
// the largest weight: 1/MaxWeight is 2^32 units.
type tag struct{ whole, part uint64 }

// maxCost is the most that one grant moves a tag by, in permits per unit of weight. It keeps a
// sum of a virtual time below it and two costs within a tag.
const maxCost = 1 << 62

// before reports whether a is earlier than b.
func (a tag) before(b tag) bool {
	return a.whole < b.whole || a.whole == b.whole && a.part < b.part
}

// plus returns a + b.
func (a tag) plus(b tag) tag {
	part, carry := bits.Add64(a.part, b.part, 0)
	whole, _ := bits.Add64(a.whole, b.whole, carry)
	return tag{whole, part}
}

// minus returns a - b, for b no later than a.
func (a tag) minus(b tag) tag {
	part, borrow := bits.Sub64(a.part, b.part, 0)
	whole, _ := bits.Sub64(a.whole, b.whole, borrow)
	return tag{whole, part}
}

// after returns a + n/weight, and what the division leaves: rest of it, in parts of a unit by
// weight, to be passed in with the next n. So the rounding of a sum of costs is never more than one
// unit, however many they are. rest is below weight; weight is above 0.
func (a tag) after(n int64, weight, rest uint64) (tag, uint64) {
	cost := uint64(min(n, maxCost))
	part, rest := bits.Div64(cost%weight, rest, weight)
	return a.plus(tag{cost / weight, part}), rest
}

// scaled returns a*from/to, rounded down, the largest tag if that is too large.
func (a tag) scaled(from, to uint64) tag {
	carry, low := bits.Mul64(a.part, from)
	high, middle := bits.Mul64(a.whole, from)
	middle, carry = bits.Add64(middle, carry, 0)
	high += carry
	if high >= to {
		return tag{maxCost, 0}
	}
	whole, rest := bits.Div64(high, middle, to)
	part, _ := bits.Div64(rest, low, to)
	return tag{whole, part}
}
