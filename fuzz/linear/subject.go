package linear

import (
	"math/rand/v2"
	"time"

	"github.com/penstock-go/penstock/engine"
)

// subject is a limit under test and its sequential model.
type subject struct {
	name  string
	limit engine.Limit
	kinds []kind // of calls, each as often as it is here
}

// everyKind is the mix of calls, and withoutReserve the same where reservations are left out.
var (
	withoutReserve = []kind{take, take, take, take, take, peek, peek, charge, charge, refund, refund, reset}
	everyKind      = append([]kind{reserve, reserve, cancel, cancel}, withoutReserve...)
)

// subjects returns every algorithm, with limits that a few calls exhaust and that some units of time
// refill: of microseconds within a history, of hours not.
func subjects(unit time.Duration) []subject {
	uneven := engine.Rate{Tokens: 3, Per: 7 * unit}
	return []subject{
		{"token bucket", engine.TokenBucket(uneven, 6), everyKind},
		{"token bucket, slow", engine.TokenBucket(engine.PerSecond(10), 40), everyKind},
		{"GCRA", engine.GCRA(uneven, 3), everyKind},
		{"leaky bucket", engine.LeakyBucket(uneven, 9), everyKind},
		{"leaky queue", engine.LeakyQueue(uneven, 8), everyKind},
		{"fixed window", engine.FixedWindow(8, 10*unit), everyKind},
		{"sliding window", engine.SlidingWindow(8, 10*unit), everyKind},
		{"sliding log", engine.SlidingLog(8, 10*unit), withoutReserve},
	}
}

// next draws a goroutine's next call.
func (s subject) next(rnd *rand.Rand, owner int, h *hand) call {
	c := call{kind: s.kinds[rnd.IntN(len(s.kinds))], n: 1 + rnd.Int64N(3), owner: owner}
	switch {
	case c.kind == refund && (h.receipt == nil || h.left == 0), c.kind == cancel && h.reservation == nil:
		c.kind = take
	case c.kind == refund:
		c.n = 1 + rnd.Int64N(h.left)
	case c.kind == reserve && h.reservation != nil:
		c.kind = cancel
	}
	return c
}
