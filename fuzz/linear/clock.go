package linear

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// mostReadings is how many a history may need: a call makes a few, and each lost race two more.
const mostReadings = 1 << 12

// clock is real time; it notes what it told.
type clock struct {
	origin   time.Time
	count    atomic.Int64
	readings [mostReadings]atomic.Int64 // each one more than the reading: 0 is none
}

// yieldShare: one reading in so many gives up the processor.
const yieldShare = 6

// Now returns the time since the clock was made.
func (c *clock) Now() time.Duration {
	now := time.Since(c.origin)
	i := c.count.Add(1) - 1
	if i < mostReadings {
		c.readings[i].Store(int64(now) + 1)
	}
	if (uint64(i)*0x9e3779b97f4a7c15)>>32%yieldShare == 0 {
		runtime.Gosched()
	}
	return now
}

// clear forgets all readings; nobody may be reading.
func (c *clock) clear() {
	c.count.Store(0)
	for i := range c.readings {
		if c.readings[i].Swap(0) == 0 {
			return
		}
	}
}

// told returns all readings, in order, and whether none was lost.
func (c *clock) told() (times []int64, all bool) {
	n := c.count.Load()
	for i := range min(n, mostReadings) {
		times = append(times, c.readings[i].Load()-1)
	}
	slices.Sort(times)
	return slices.Compact(times), n <= mostReadings
}
