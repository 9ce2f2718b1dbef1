package atomicstate_test

import (
	"fmt"
	"time"

	"github.com/penstock-go/penstock/atomicstate"
)

// These are the worked examples of docs/limit-changes.md.

const second = int64(time.Second)

// used says what a word has used, in permits, and what its law says of one permit more.
func used(law atomicstate.Law, word uint64, now int64) string {
	u, s := law.Usage(word, now), law.Inspect(word, now, 1)
	return fmt.Sprintf("used %.4g, remaining %d, next in %v",
		float64(u.Units)/float64(u.PerPermit), s.Remaining, time.Duration(s.RetryNanos))
}

// Between buckets usage is a fraction, and moves as one.
func ExampleConvert() {
	fast := must(atomicstate.NewBucket(10, time.Second, 20))
	slow := must(atomicstate.NewBucket(1, time.Minute, 5))
	now := second / 4
	word, _ := fast.Take(fast.Fresh(0), 0, 7)
	fmt.Println(used(fast, word, now))
	word = atomicstate.Convert(fast, word, slow, now)
	fmt.Println(used(slow, word, now))
	fmt.Println(used(fast, atomicstate.Convert(slow, word, fast, now), now))
	// Output:
	// used 4.5, remaining 15, next in 0s
	// used 4.5, remaining 0, next in 30s
	// used 4.5, remaining 15, next in 0s
}

// A window counts whole permits, so a fraction is rounded up, and stays so on the way back.
func ExampleConvert_bucketToWindow() {
	bucket := must(atomicstate.NewBucket(10, time.Second, 20))
	fixed := must(atomicstate.NewFixedWindow(20, time.Minute))
	now := second / 4
	word, _ := bucket.Take(bucket.Fresh(0), 0, 7)
	fmt.Println(used(bucket, word, now))
	word = atomicstate.Convert(bucket, word, fixed, now)
	fmt.Println(used(fixed, word, now))
	fmt.Println(used(bucket, atomicstate.Convert(fixed, word, bucket, now), now))
	// Output:
	// used 4.5, remaining 15, next in 0s
	// used 5, remaining 15, next in 0s
	// used 5, remaining 15, next in 0s
}

// What exceeds the new capacity stays owed: it has to be earned back first.
func ExampleConvert_beyondCapacity() {
	large := must(atomicstate.NewFixedWindow(10, time.Minute))
	small := must(atomicstate.NewBucket(1, time.Second, 3))
	word, _ := large.Take(large.Fresh(0), 0, 8)
	fmt.Println(used(large, word, 0))
	word = atomicstate.Convert(large, word, small, 0)
	fmt.Println(used(small, word, 0))
	fmt.Println(used(small, word, 6*second))
	fmt.Println(used(large, atomicstate.Convert(small, word, large, 0), 0))
	// Output:
	// used 8, remaining 2, next in 0s
	// used 8, remaining 0, next in 6s
	// used 2, remaining 1, next in 0s
	// used 8, remaining 2, next in 0s
}

// Between sliding windows of the same length both counts are kept; to another length only what
// they weigh together, rounded up, and from then on it counts as new.
func ExampleConvert_slidingWindows() {
	ten := must(atomicstate.NewSlidingWindow(10, 4*time.Second))
	four := must(atomicstate.NewSlidingWindow(4, 4*time.Second))
	long := must(atomicstate.NewSlidingWindow(10, time.Minute))
	now := 5 * second // a quarter of the second window has passed
	word, _ := ten.Take(ten.Fresh(0), 3*second, 6)
	word, _ = ten.Take(word, now, 1)
	fmt.Println(used(ten, word, now)) // 6 * 3/4 + 1, rounded up
	there := atomicstate.Convert(ten, word, four, now)
	fmt.Println(used(four, there, now))
	fmt.Println("the same word as before:", atomicstate.Convert(four, there, ten, now) == word)
	fmt.Println(used(long, atomicstate.Convert(ten, word, long, now), now))
	// Output:
	// used 6, remaining 4, next in 0s
	// used 6, remaining 0, next in 1.666666667s
	// the same word as before: true
	// used 6, remaining 4, next in 0s
}

// A queue's backlog is its debt. Who was given a turn keeps it; new calls queue behind the
// backlog at the new rate.
func ExampleConvert_queue() {
	slow := must(atomicstate.NewLeakyQueue(1, time.Second, 5))
	fast := must(atomicstate.NewLeakyQueue(10, time.Second, 5))
	word, _ := slow.Take(slow.Fresh(0), 0, 1)
	word, _ = slow.Take(word, 0, 1)
	word, _ = slow.Take(word, 0, 1)
	fmt.Println("the third was told", time.Duration(slow.Delay(word, 0, 1)))
	word, _ = fast.Take(atomicstate.Convert(slow, word, fast, 0), 0, 1)
	fmt.Println("the fourth is told", time.Duration(fast.Delay(word, 0, 1)))
	// Output:
	// the third was told 2s
	// the fourth is told 300ms
}

// A word has an end, far beyond the limits in use: the counts of a sliding window of a minute hold
// 2^27-1 permits. What is beyond that is lost, and does not come back with the larger limit.
func ExampleConvert_beyondTheWord() {
	large := must(atomicstate.NewFixedWindow(1_000_000_000, time.Minute))
	small := must(atomicstate.NewSlidingWindow(3, time.Minute))
	word, _ := large.Take(large.Fresh(0), 0, 900)
	word = atomicstate.Convert(large, word, small, 0)
	fmt.Println(used(small, word, 0))
	word, _ = large.Take(large.Fresh(0), 0, 900_000_000)
	word = atomicstate.Convert(large, word, small, 0)
	fmt.Println(used(small, word, 0))
	// Output:
	// used 900, remaining 0, next in 1m59.866666667s
	// used 1.342e+08, remaining 0, next in 1m59.999999106s
}
