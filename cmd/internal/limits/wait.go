package limits

import (
	"math"
	"math/big"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// LongestWait is how long a key that has nothing left needs at most until n
// permits can pass, engine.Never if they never can, at most what fits in 64
// bits of nanoseconds.
func LongestWait(s Spec, n int64) time.Duration {
	a := find(s.Algorithm)
	if a == nil {
		return engine.Never
	}
	return a.longest(s, n)
}

// timeToEarn is LongestWait of a bucket: what n tokens take at its rate.
func timeToEarn(s Spec, n int64) time.Duration {
	if n < 0 || n > s.Burst || s.Tokens <= 0 {
		return engine.Never
	}
	// ceil(n * per / tokens), which may not fit in 64 bits on the way.
	nanos := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(s.Per)))
	nanos.Add(nanos, big.NewInt(s.Tokens-1)).Div(nanos, big.NewInt(s.Tokens))
	if !nanos.IsInt64() {
		return math.MaxInt64
	}
	return time.Duration(nanos.Int64())
}

// windows is LongestWait of an algorithm in which a permit weighs nothing any
// more after so many windows.
func windows(count int64) func(Spec, int64) time.Duration {
	return func(s Spec, n int64) time.Duration {
		switch {
		case n < 0 || n > s.Tokens || s.Tokens <= 0:
			return engine.Never
		case int64(s.Per) > math.MaxInt64/count:
			return math.MaxInt64
		}
		return time.Duration(count * int64(s.Per))
	}
}
