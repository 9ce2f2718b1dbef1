package cli

import (
	"fmt"
	"math"
	"strconv"

	"github.com/alecthomas/kong"
)

// whole is a flag that takes a whole number. Its tag example is one.
type whole int64

// Decode reads the number; the error says what the flag takes.
func (n *whole) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("number")
	if err != nil {
		return err
	}
	value, err := strconv.ParseInt(token.String(), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number that fits in 64 bits, for example %s", token, ctx.Value.Tag.Get("example"))
	}
	*n = whole(value)
	return nil
}

// seed is a flag that takes the seed of random numbers.
type seed uint64

// Decode reads the number.
func (s *seed) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("number")
	if err != nil {
		return err
	}
	value, err := strconv.ParseUint(token.String(), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to %d, for example %s",
			token, uint64(math.MaxUint64), ctx.Value.Tag.Get("example"))
	}
	*s = seed(value)
	return nil
}
