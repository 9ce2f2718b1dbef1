package compare

import (
	"strings"
	"sync"

	"go.uber.org/ratelimit"

	"github.com/penstock-go/penstock/bench"
)

// uberRate is the rate of each limiter: a permit a nanosecond, which no key is
// asked for, so that Take never sleeps.
const uberRate = 1_000_000_000

// UberSyncMap is go.uber.org/ratelimit, one for each key in a sync.Map. It cannot
// refuse: Take sleeps until the permit is there. So it runs only the rows in which
// every call is admitted, under a limit that is never met: what is measured is the
// call that need not sleep.
type UberSyncMap struct {
	limiters sync.Map // string -> ratelimit.Limiter
}

// UberSubject is go.uber.org/ratelimit in a sync.Map.
func UberSubject() bench.Subject {
	const blocks = "it cannot refuse, it sleeps until a permit is there"
	return bench.Subject{Name: "uber-syncmap", Clock: "exact",
		New:   func(int, bench.Load) bench.Limiter { return &UberSyncMap{} },
		Lacks: map[string]string{"Deny": blocks, "ZipfDeny": blocks}}
}

func (u *UberSyncMap) get(key string) ratelimit.Limiter {
	found, ok := u.limiters.Load(key)
	if !ok {
		found, _ = u.limiters.LoadOrStore(strings.Clone(key), ratelimit.New(uberRate))
	}
	limiter, ok := found.(ratelimit.Limiter)
	if !ok {
		panic("compare: the map holds limiters only")
	}
	return limiter
}

// Allow takes one permit of key. Its answer is that the limiter gave the time of a
// permit.
func (u *UberSyncMap) Allow(key string) bool { return !u.get(key).Take().IsZero() }

// Fill makes the first decision for the keys from..to-1.
func (u *UberSyncMap) Fill(k *bench.Keys, from, to uint64) {
	for i := from; i < to; i++ {
		u.Allow(k.At(i))
	}
}

// Run decides n times about random keys.
func (u *UberSyncMap) Run(k *bench.Keys, n int) (admitted int) {
	for range n {
		if u.Allow(k.Next()) {
			admitted++
		}
	}
	return admitted
}

// Len counts the keys, in time proportional to their number.
func (u *UberSyncMap) Len() int { return lenOf(&u.limiters) }

// Close does nothing.
func (u *UberSyncMap) Close() {}
