package atomicstate_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/atomicstate"
)

// TestWordsOfNumbers: words made of the numbers that another word says, for stores that keep the
// numbers, decide as that word does.
func TestWordsOfNumbers(t *testing.T) {
	bucket, err := atomicstate.NewBucket(10, 13*time.Second, 20)
	require.NoError(t, err)
	fixed, err := atomicstate.NewFixedWindow(20, time.Second)
	require.NoError(t, err)
	sliding, err := atomicstate.NewSlidingWindow(20, time.Second)
	require.NoError(t, err)
	again := map[atomicstate.Law]func(word uint64, now int64) uint64{
		bucket: func(word uint64, now int64) uint64 { return bucket.Owing(bucket.Debt(word, now), now) },
		fixed:  func(word uint64, now int64) uint64 { return fixed.Word(fixed.Counted(word, now)) },
		sliding: func(word uint64, now int64) uint64 {
			index, prev, curr := sliding.Counted(word, now)
			return sliding.Word(index, prev, curr)
		},
	}
	for law, remake := range again {
		rnd := rand.New(rand.NewPCG(1, 1))
		now := int64(1_782_864_000) * int64(time.Second)
		word := law.Fresh(now)
		for range 2000 {
			now += rnd.Int64N(int64(time.Second)) - int64(time.Second)/10
			other, n := remake(word, now), 1+rnd.Int64N(5)
			require.Equal(t, law.Inspect(word, now, n), law.Inspect(other, now, n))
			next, ok := law.Take(word, now, n)
			same, okToo := law.Take(other, now, n)
			require.Equal(t, ok, okToo)
			if word = next; ok {
				require.Equal(t, next, same)
			}
		}
	}
}

// TestWordsOfHugeNumbers are cut at what a word can hold.
func TestWordsOfHugeNumbers(t *testing.T) {
	bucket, err := atomicstate.NewBucket(1, time.Second, 5)
	require.NoError(t, err)
	require.Equal(t, atomicstate.MaxDebt, bucket.Debt(bucket.Owing(math.MaxInt64, 7), 7))
	require.Zero(t, bucket.Debt(bucket.Owing(-1, 7), 7))
	fixed, err := atomicstate.NewFixedWindow(5, time.Second)
	require.NoError(t, err)
	index, count := fixed.Counted(fixed.Word(3, math.MaxInt64), 3*int64(time.Second))
	require.Equal(t, int64(3), index)
	require.Equal(t, int64(1)<<fixed.CountBits()-1, count)
	sliding, err := atomicstate.NewSlidingWindow(5, time.Second)
	require.NoError(t, err)
	index, prev, curr := sliding.Counted(sliding.Word(3, math.MaxInt64, -1), 3*int64(time.Second))
	require.Equal(t, int64(3), index)
	require.Equal(t, int64(1)<<sliding.CountBits()-1, prev)
	require.Zero(t, curr)
}

// TestWithin: in fewer units a rate is the same or slower, by less than a millionth, or refused.
func TestWithin(t *testing.T) {
	rnd, kept, slowed, refused := rand.New(rand.NewPCG(2, 2)), 0, 0, 0
	for range 2000 {
		bucket, err := atomicstate.NewBucket(1+rnd.Int64N(1<<20), time.Duration(1+rnd.Int64N(1<<45)), 1+rnd.Int64N(1<<12))
		if err != nil {
			continue
		}
		most := int64(1) << (30 + rnd.IntN(30))
		within, err := bucket.Within(most)
		if err != nil {
			require.ErrorIs(t, err, atomicstate.ErrTooLarge)
			refused++
			continue
		}
		tokens, per := within.Rate()
		require.LessOrEqual(t, within.Capacity()*int64(per), most)
		require.Less(t, within.RelativeError(), 1e-6)
		if wide, widePer := bucket.Rate(); tokens == wide && per == widePer {
			kept++
		} else {
			require.Greater(t, within.RelativeError(), bucket.RelativeError())
			slowed++
		}
	}
	require.Greater(t, min(kept, slowed, refused), 50, "%d kept, %d slowed, %d refused", kept, slowed, refused)
	bucket, err := atomicstate.NewBucket(10, time.Second, 20)
	require.NoError(t, err)
	for most, ok := range map[int64]bool{20 * 100_000_000: true, 20*100_000_000 - 1: false, 0: false, math.MaxInt64: true} {
		_, err = bucket.Within(most)
		require.Equal(t, ok, err == nil, "%d: %v", most, err)
	}
}
